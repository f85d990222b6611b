# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The benchmark against franka-sim: what it says of an arm, by one that does nothing but report."""

import argparse
import json
import math
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from benchmark_parts import import_parts

from frame_ros.robots import load_robot

pytest.importorskip('franky_sim')
# Answers reports as parts/franka_sim/server.py does, with what its first argument says.
FAKE = """
import json, os, sys
import numpy as np
assert os.path.exists(os.environ['FR3_MJCF']) and sys.argv[2] == '127.0.0.2'
found = json.loads(sys.argv[1])
states = np.array(found.pop('states'))
print('ready', flush=True)
for line in sys.stdin:
    np.save(line.split()[1], states)
    print(json.dumps(found), flush=True)
"""
HOME = np.array((0.0, 0.0, 0.0, -1.57, 0.0, 1.57, 0.785))
START = 100.0


@pytest.fixture
def parts(monkeypatch):
    bars, arm, rows = import_parts(monkeypatch, 'bars', 'franka_sim.arm', 'franka_sim.rows')
    return SimpleNamespace(bars=bars, arm=arm, rows=rows)


def told(parts, **values):
    """A report of an arm at rest, but for what is given."""
    times = START + np.arange(0.0, 10.0, 0.001)
    defaults = {
        'times': times, 'joints': np.tile(HOME, (len(times), 1)),
        'velocities': np.zeros((len(times), 7)), 'now': START + 10.0, 'simulated': 30.0,
        'cycles': 9000, 'lost': [], 'stops': [],
    }  # fmt: skip
    return parts.arm.Report(**(defaults | values))


def before(parts):
    """A report of the arm as the goals begin."""
    return told(parts, now=START, simulated=20.0, cycles=0)


def following(parts, row, lag, off=0.0):
    """A report of an arm that follows a stream of joint goals, `lag` s late and `off` rad off."""
    path = row.path(HOME)
    times = START + np.arange(0.0, 10.0, 0.001)
    joints = np.array([path.at(max(0.0, t - START - lag)) for t in times])
    joints[:, 2] += off
    return path, told(parts, times=times, joints=joints)


def row_named(parts, name, control='', dynamics=None):
    return next(
        row for row in parts.rows.ROWS
        if row.name.startswith(name) and control in row.control
        and dynamics in (None, row.dynamics)
    )  # fmt: skip


@pytest.mark.parametrize(('lag', 'off'), [(0.0, 0.0), (0.06, 0.0), (0.13, 0.01)])
def test_lag_and_what_is_off_behind_it_are_found(parts, lag, off):
    row = row_named(parts, 'stream')
    path, report = following(parts, row, lag, off)
    found = parts.rows.figures(row, path, report, before(parts), START)
    # Of an offset of one joint a part can be taken for a lag of it.
    assert found.lag == pytest.approx(lag, abs=0.05 if off else 0.003)
    assert found.median == pytest.approx(1e3 * off, abs=0.5 + 200 * off)
    assert found.stops == () and found.seconds == pytest.approx(10.0)


def test_poses_are_judged_by_the_end_effector(parts):
    row = row_named(parts, 'circle, 0.1')
    path = row.path(HOME)
    assert path.at(0.0)[:3] == pytest.approx(load_robot('fr3', 'tcp').forward(HOME)[0])
    way = np.array([path.at(t)[:3] for t in np.arange(2.0, 8.0, 0.001)])
    assert np.linalg.norm(np.diff(way, axis=0), axis=1) == pytest.approx(1e-4, rel=1e-3)
    found = parts.rows.figures(row, path, told(parts), before(parts), START)  # it stands
    assert found.median > 40.0 and found.largest <= 160.0 + 1e-6
    _, text = shown(parts, row, [found])
    assert 'off in the median, mm' in text and 'MISSED' in text


def test_goals_at_which_the_arm_rests_are_judged_before_the_next_comes(parts):
    row = row_named(parts, 'goals now')
    path = row.path(HOME)
    times = START + np.arange(0.0, 10.0, 0.001)
    joints = np.array([path.at(t - START) for t in times])
    joints[:, 4] += 0.003
    moving = (times - START) % 2.0 < 1.0  # what it does on the way counts for nothing
    joints[moving] += 0.5
    found = parts.rows.figures(row, path, told(parts, joints=joints), before(parts), START)
    assert math.isnan(found.lag)
    assert (found.median, found.largest) == pytest.approx((3.0, 3.0))


def test_joints_that_reverse_are_not_judged_at_the_end_of_another(parts):
    row = row_named(parts, 'joint ends', dynamics=0.3)
    path = row.path(HOME)
    limits = np.array(list(load_robot('fr3').joint_limits.values()))[:7]
    assert path.at(5.9)[0] == limits[0, 0] and path.at(11.9)[2] == limits[2, 1]
    assert not path.is_judged(5.9)[[4, 6]].any() and path.is_judged(5.9).sum() == 5
    assert (path.at(0.5) != path.at(1.5))[[4, 6]].all()


def shown(parts, row, runs, short=False):
    """Exit status, and what is printed of the runs of a row."""
    lines = []
    bars = parts.bars.Bars(argparse.Namespace(short=short))
    bars._stream = SimpleNamespace(write=lines.append, flush=lambda: None)
    parts.rows.judge(bars, row, runs)
    return bars.exit_status(), parts.rows.summary(row, runs) + ''.join(lines)


def test_an_arm_that_stops_itself_ends_the_run_and_misses_the_bar(parts):
    row = row_named(parts, 'stream')
    path, report = following(parts, row, 0.06)
    stopped = told(
        parts, joints=report.joints,
        stops=[[90.0, 'of_before', ''], [START + 4.0, 'joint_reflex', 'joint 3']],
    )  # fmt: skip
    good, bad = (
        parts.rows.figures(row, path, each, before(parts), START) for each in (report, stopped)
    )
    assert bad.seconds == pytest.approx(4.0) and bad.stops == ('joint_reflex (joint 3)',)
    status, text = shown(parts, row, [good, good])
    assert status == 0 and 'stops: none' in text and 'runs of 2 that the arm stopped: 0' in text
    status, text = shown(parts, row, [good, bad])
    assert status == 1 and 'none; joint_reflex (joint 3)' in text and '1, at most 0: MISSED' in text
    assert shown(parts, row, [bad], short=True)[0] == 0


def test_an_arm_that_never_moved_is_no_arm_that_follows(parts):
    row = row_named(parts, 'stream')
    nothing = told(parts, times=np.empty(0), joints=np.empty((0, 7)), velocities=np.empty((0, 7)))
    found = parts.rows.figures(row, row.path(HOME), nothing, before(parts), START)
    assert math.isnan(found.median)
    assert shown(parts, row, [found])[0] == 1


def test_a_lost_cycle_is_the_drivers_if_it_had_its_millisecond(parts):
    lost = [
        (0.0011, None, None),  # it never answered
        (0.0011, 0.0013, 0.0004),  # too late
        (0.0011, 0.0013, 0.0008),  # as it had no core
        (0.0011, 0.0004, 0.0008),  # its answer lay there: the arm did not read it
        (0.0005, 0.0012, 0.0008),  # the arm sent the next state too early
    ]
    row = row_named(parts, 'stream')
    path, report = following(parts, row, 0.06)
    report = told(parts, joints=report.joints, lost=lost)
    found = parts.rows.figures(row, path, report, before(parts), START)
    assert (found.lost, found.by_client, found.without_core) == (5, 3, 1)


def test_reports_come_from_a_process_with_a_model_of_its_own(parts):
    states = np.arange(30.0).reshape(2, 15)
    values = {'now': 5.0, 'simulated': 4.0, 'cycles': 7, 'lost': [[0.001, None, None]], 'stops': []}
    command = [sys.executable, '-c', FAKE, json.dumps(values | {'states': states.tolist()})]
    with parts.arm.FrankaSimArm('127.0.0.2', command) as arm:
        report = arm.report()
        assert (report.times == states[:, 0]).all() and (report.joints == states[:, 1:8]).all()
        assert (report.velocities == states[:, 8:]).all() and report.lost_by_client() == 1
    ended = parts.arm.FrankaSimArm('127.0.0.2', [sys.executable, '-c', 'raise SystemExit(3)'])
    with pytest.raises(RuntimeError, match='franka-sim has ended'), ended:
        pass


def test_every_goal_can_be_reached_by_the_joints(parts):
    limits = np.array(list(load_robot('fr3').joint_limits.values()))[:7]
    for row in parts.rows.ROWS:
        path = row.path(HOME)
        for time in np.arange(0.0, 20.0, 0.1):
            goal = path.at(time)
            assert goal.shape == (7,) and np.isfinite(goal).all()
            if not row.is_pose:
                assert (goal >= limits[:, 0]).all() and (goal <= limits[:, 1]).all(), row.name
