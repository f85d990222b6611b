# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cycles of a Franka arm that the machine lost, by what libfranka's thread and its core did."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from parts.core_stalls import Stall

from frame_ros.scenes.core_watch import LostAnswers

CYCLE = 0.001  # s


def without_core(lost: LostAnswers, stalls: Sequence[Stall]) -> tuple[int, int]:
    """Cycles of those lost in a row for more than half of which libfranka's thread waited for a
    core, and how many more where the core stood still meanwhile.
    """
    waited = min(lost.number, round(lost.waited / CYCLE))
    still = sum(
        max(0.0, min(stall.end, lost.ended) - max(stall.begin, lost.asked))
        for stall in stalls
        if stall.core == lost.core
    )
    # What it ran it had a core for, and what it waited counts already.
    still = max(still - lost.ran - lost.waited, 0.0)
    return waited, min(lost.number - waited, round(still / CYCLE))


def control_thread(process: int) -> int:
    """The busiest of the threads with the highest real-time priority; 0 if none has one."""
    threads = []
    for task in Path(f'/proc/{process}/task').iterdir():
        thread = int(task.name)
        ran = int((task / 'schedstat').read_text().split()[0])
        threads.append((os.sched_getparam(thread).sched_priority, ran, thread))
    priority, _, thread = max(threads)
    return thread if priority else 0
