# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The demo on franky-sim's FR3: what the real arm's protocol carries, up to the report."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from own_policy_page import save_policy
from patience import PATIENCE

pytest.importorskip('franky')
pytest.importorskip('franky_sim')

ROOT = Path(__file__).resolve().parent.parent
DEMO = [sys.executable, '-u', str(ROOT / 'scripts' / 'frame-ros'), 'demo', '--robot', 'fr3-fci']
JOINT, AMPLITUDE = 'fr3_joint7', 0.2


@pytest.fixture(scope='module')
def demo(ros_in_module, tmp_path_factory):
    """One short run with a policy that swings the last joint: its folder and what it printed."""
    folder = tmp_path_factory.mktemp('demo_fci')
    options = ['--policy', f'{save_policy(folder)}:Wave', '--option', f'joint={JOINT}']
    options += ['--option', f'amplitude={AMPLITUDE}', '--option', 'period=2.0']
    options += ['--episodes', '1', '--timeout', '6', '--directory', str(folder / 'run')]
    done = subprocess.run(
        [*DEMO, *options], capture_output=True, text=True, check=False, timeout=4 * PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / 'run', done.stdout


@pytest.fixture(scope='module')
def bag(demo):
    from frame_ros.bags.reader import Bag

    (sidecar,) = demo[0].glob('*/episode.json')
    return Bag(sidecar.parent)


def of_joint(messages):
    """Stamps (s) and positions (rad) of the joint that swings."""
    found = [(m.header.stamp, m.position[list(m.name).index(JOINT)]) for _, m in messages]
    return np.array([(at.sec + at.nanosec * 1e-9, position) for at, position in found]).T


def test_the_arm_moves_as_the_gate_commands(bag):
    """Measured positions cover what was commanded, and lag the command by less than a second."""
    times, positions = of_joint(bag.messages('/joint_states'))
    command_times, commands = of_joint(bag.messages('/joint_commands'))
    assert np.ptp(commands) > AMPLITUDE
    assert np.ptp(positions) > 0.5 * AMPLITUDE
    lags = np.arange(0.0, 1.0, 0.05)
    errors = [np.abs(np.interp(command_times + lag, times, positions) - commands) for lag in lags]
    assert min(np.median(error) for error in errors) < 0.15 * np.ptp(commands)


def test_every_state_is_of_the_arm_and_has_torques(bag):
    states = [m for _, m in bag.messages('/joint_states')]
    assert len(states) > 100
    assert np.isfinite([s.effort[:7] for s in states]).all()
    assert np.abs([s.effort[:7] for s in states]).max() > 10.0  # it bears its weight


def test_nothing_that_the_arm_does_not_sense_is_recorded_as_sensed(bag, demo):
    """Neither contacts nor estimates of them: franky-sim has none that mean anything."""
    topics = set(bag.topics)
    assert not {name for name in topics if 'contact' in name or 'external' in name}
    assert '/ground_truth/object_pose' in topics
    (sidecar,) = demo[0].glob('*/episode.json')
    facts = json.loads(sidecar.read_text())['metadata']
    assert facts['robot'] == 'fr3' and 'franky-sim' in facts['world']


def test_the_report_says_that_no_collision_could_be_sensed(demo):
    directory, text = demo
    assert 'the simulated FR3 of franky-sim' in text
    page = (directory / 'report.html').read_text()
    (sidecar,) = directory.glob('*/episode.json')
    assert sidecar.parent.name in page
    assert 'Collisions were not sensed' in page
