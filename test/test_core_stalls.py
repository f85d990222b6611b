# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Lost cycles of a Franka arm that are the machine's, and cores that stand still."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from benchmark_parts import import_parts

from frame_ros.scenes.core_watch import LostAnswers

ONE = LostAnswers(1, 10.0, 10.0016, waited=0.0, ran=0.0, core=1)
# Keeps a core five times, above all that has no higher priority; 3: it may not.
HOG = """
import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
try:
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(60))
except OSError:
    sys.exit(3)
for _ in range(5):
    end = time.monotonic() + 0.01
    while time.monotonic() < end:
        pass
    time.sleep(0.05)
"""


@pytest.fixture
def stalls(monkeypatch):
    return import_parts(monkeypatch, 'core_stalls')[0]


@pytest.fixture
def cycles(monkeypatch, stalls):
    return import_parts(monkeypatch, 'lost_cycles')[0]


@pytest.mark.parametrize(
    ('lost', 'found', 'wanted'),
    [
        (ONE, [], (0, 0)),
        (ONE._replace(waited=0.0008), [], (1, 0)),
        (ONE._replace(waited=0.0004), [], (0, 0)),
        (ONE, [(1, 9.9, 10.0007)], (0, 1)),
        (ONE, [(1, 10.0002, 10.0006)], (0, 0)),  # less than half of the millisecond
        (ONE, [(0, 9.9, 10.1)], (0, 0)),  # another core
        (ONE, [(1, 10.002, 10.1)], (0, 0)),  # later
        # What it ran it had a core for; what it waited was in the same time.
        (ONE._replace(ran=0.0005), [(1, 9.9, 10.0007)], (0, 0)),
        (ONE._replace(waited=0.0007), [(1, 9.9, 10.1)], (1, 0)),
        (ONE._replace(number=3, ended=10.004), [(1, 10.0, 10.0021)], (0, 2)),
        (ONE._replace(number=3, ended=10.004, waited=0.001), [(1, 9.9, 11.0)], (1, 2)),
    ],
)
def test_a_lost_cycle_is_the_machines_by_more_than_half(cycles, lost, found, wanted):
    assert cycles.without_core(lost, [cycles.Stall(*each) for each in found]) == wanted


def test_a_core_that_is_kept_is_noted_with_its_time(stalls):
    core, began = max(os.sched_getaffinity(0)), time.monotonic()
    with stalls.CoreStalls() as watch:
        hog = subprocess.run([sys.executable, '-c', HOG, str(core)], check=False)
    if hog.returncode == 3:
        pytest.skip('this user may give no priorities')
    # However busy the machine is, the hog keeps the core for 10 ms at a time.
    kept = [each for each in watch.found if each.core == core and each.end - each.begin > 0.008]
    assert len(kept) >= 3
    assert all(began < each.begin < each.end < time.monotonic() for each in kept)


def test_the_watch_ends_where_interrupts_are_ignored_as_by_a_job_in_the_background(stalls):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stalls.CoreStalls() as watch:
            watchers = list(watch._watchers)
            ending = threading.Timer(60.0, lambda: [each.kill() for each in watchers])
            ending.start()
        ending.cancel()
    finally:
        signal.signal(signal.SIGINT, before)
    assert [each.returncode for each in watchers] == [0] * len(watchers)
