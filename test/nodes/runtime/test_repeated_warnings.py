# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Warnings that repeat are thinned out, and nodes say who they are when they end."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from patience import PATIENCE

from frame_ros.core.repeated_warnings import (
    FIRST_PAUSE,
    LAST_PAUSE,
    MOST_SUBJECTS,
    START_UP,
    RepeatedWarnings,
)

NODES = Path(__file__).resolve().parents[3] / 'frame_ros' / 'nodes'


class Log:
    """Messages that were logged, with their times."""

    def __init__(self):
        self.now, self.lines = 0.0, []

    def warning(self, text):
        self.lines.append((self.now, text))

    info = error = warning


def said(period, duration):
    """Lines of a warning that comes once a `period` (s) for a `duration` (s)."""
    log = Log()
    warnings = RepeatedWarnings(log, lambda: log.now)
    for index in range(int(duration / period)):
        log.now = index * period
        warnings.warn('silence', 'nothing arrives')
    return log.lines


def test_what_stands_is_said_once_and_again_where_it_changes():
    log = Log()
    warnings = RepeatedWarnings(log, lambda: log.now)
    standing, near = 'the motors are not identified', 'lift within 0.05 rad of a limit'
    for second in range(7200):
        log.now = float(second)
        # Numbers that change are no change; a joint that stays near its limit is none either.
        near_now = [near.replace('0.05', f'0.0{second % 9}')] if 60 <= second < 3000 else []
        warnings.inform_news('joint_effort', [standing, *near_now])
    assert [(at, text[:10]) for at, text in log.lines] == [(0.0, 'the motors'), (60.0, near[:10])]
    warnings.inform_news('joint_effort', ['a motor file of another arm'])
    assert log.lines[-1] == (7199.0, 'a motor file of another arm')


def test_what_comes_and_goes_is_thinned_out():
    log = Log()
    warnings = RepeatedWarnings(log, lambda: log.now)
    for second in range(3600):
        log.now = float(second)
        warnings.inform_news('joint_effort', ['near a limit'] if second % 2 else [])
    assert 3 < len(log.lines) < 16


@pytest.mark.parametrize('period', [0.1, 1.0, 5.0])
def test_a_warning_for_ever_comes_ever_more_seldom(period):
    lines = said(period, 3600.0)
    assert lines[0] == (0.0, 'nothing arrives')
    gaps = [later - sooner for (sooner, _), (later, _) in zip(lines, lines[1:], strict=False)]
    assert gaps[0] == pytest.approx(FIRST_PAUSE, abs=2 * period)
    assert all(later > 1.5 * sooner for sooner, later in zip(gaps[:6], gaps[1:7], strict=True))
    assert max(gaps) <= LAST_PAUSE + period
    assert len(lines) < 16  # not 720
    calls = int(3600.0 / period)
    left_out = sum(
        int(found[1]) for _, text in lines if (found := re.search(r'\((\d+) more', text))
    )
    assert calls - LAST_PAUSE / period - 1 <= left_out + len(lines) <= calls


def test_what_is_missing_while_a_node_starts_is_a_fact_and_a_warning_if_it_lasts():
    class Levels(Log):
        def info(self, text):
            self.lines.append(('info', text))

    log = Levels()
    warnings = RepeatedWarnings(log, lambda: log.now)
    for tenth in range(300):
        log.now = tenth / 10
        warnings.warn_once_started('wrench', 'no wrench yet')
    levels = [level for level, _ in log.lines]
    assert levels[:2] == ['info', 'info'] and 'info' not in levels[2:]
    assert levels[2] == pytest.approx(3 * FIRST_PAUSE, abs=0.2) and levels[2] > START_UP


def test_what_had_ended_is_news_again_and_kinds_are_apart():
    log = Log()
    warnings = RepeatedWarnings(log, lambda: log.now)
    for now in (0.0, 1.0, 6.0, 12.0):
        log.now = now
        warnings.warn('a', 'x')
        warnings.warn('b', 'y' if now == 12.0 else '')
    assert log.lines == [(0.0, 'x'), (6.0, 'x (1 more in the last 6 s)'), (12.0, 'y')]
    log.now = 100.0
    warnings.fail('a', 'x')
    assert log.lines[-1] == (100.0, 'x')


def test_another_problem_of_the_same_kind_is_logged_at_once():
    log = Log()
    warnings = RepeatedWarnings(log, lambda: log.now)
    for tenth in range(100):
        log.now = tenth / 10
        warnings.warn('command', f'refused ({tenth} so far): joint_1 is {tenth / 7:.3f} rad')
    log.now = 10.0
    before = len(log.lines)
    warnings.warn('command', 'refused (101 so far): joint_2 is -1.5 rad')
    warnings.warn('command', 'refused (102 so far): joint_1 is nan')
    assert [text for _, text in log.lines[before:]] == [
        'refused (101 so far): joint_2 is -1.5 rad',
        'refused (102 so far): joint_1 is nan',
    ]
    assert before == 2  # a count and a value that change are the same problem


def test_texts_that_never_repeat_do_not_flood():
    log = Log()
    warnings = RepeatedWarnings(log, lambda: log.now)
    for index in range(10_000):
        log.now = index / 100
        warnings.warn('command', f'no joint {"".join(chr(97 + int(d)) for d in str(index))}')
    assert len(log.lines) < 2 * MOST_SUBJECTS


def test_a_warning_once_never_comes_again():
    log = Log()
    warnings = RepeatedWarnings(log, lambda: log.now)
    for log.now in (0.0, 1.0, 1e5, 1e9):
        warnings.warn_once('topic', 'it is not recorded')
    assert log.lines == [(0.0, 'it is not recorded')]


def test_no_node_throttles_in_a_way_of_its_own():
    wrong = re.compile(r'throttle_duration_sec|WARNING_PERIOD\b.*self\._warned|self\._warned\b')
    assert [p.name for p in NODES.rglob('*.py') if wrong.search(p.read_text())] == []


@pytest.mark.parametrize(
    ('arguments', 'name'),
    [([], 'kinematics'), (['-r', '__ns:=/left', '-r', '__node:=eye'], 'left.eye')],
)
def test_an_error_at_start_up_names_the_node_and_its_namespace(ros_domain, arguments, name):
    pytest.importorskip('rclpy')
    command = [sys.executable, '-m', 'frame_ros.nodes.kinematics', '--ros-args', *arguments]
    ended = subprocess.run(
        [*command, '-p', 'tip:=nowhere'], capture_output=True, text=True, timeout=PATIENCE
    )
    assert ended.returncode == 1
    (line,) = (line for line in ended.stderr.splitlines() if 'nowhere' in line)
    assert re.match(rf'\[FATAL\] \[\d+\.\d+\] \[{re.escape(name)}\]: ', line)
