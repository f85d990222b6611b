# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""When a core of this machine stood still: nothing there ran that should, as an interrupt, a part
of the kernel that cannot be interrupted, or the host of a virtual machine kept it.

A process on each core, of a higher priority than what is measured, wakes every PERIOD and notes
where it woke late.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from frame_ros.core.thread_priority import raise_priority

PERIOD, LATE = 0.00025, 0.0001  # s: between wakes, and from which one counts as late
PRIORITY = 49  # above those of libfranka's thread (47) and of the simulated arm (48)


class Stall(NamedTuple):
    """A core that stood still, from `begin` to `end`, s of time.monotonic()."""

    core: int
    begin: float
    end: float


class CoreStalls:
    """Watches all cores inside a `with` block.

    Attributes:
        found: the stalls, after the block; none where this user may give no priorities.
    """

    def __init__(self) -> None:
        self.found: list[Stall] = []
        self._watchers: list[subprocess.Popen] = []

    def __enter__(self) -> CoreStalls:
        for core in sorted(os.sched_getaffinity(0)):
            command = [sys.executable, str(Path(__file__).resolve()), str(core)]
            watcher = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            self._watchers.append(watcher)
        for watcher in self._watchers:
            assert watcher.stdout is not None
            watcher.stdout.readline()  # it watches
        return self

    def __exit__(self, *_: object) -> None:
        for watcher in self._watchers:
            watcher.send_signal(signal.SIGINT)
        for watcher in self._watchers:
            text, _ = watcher.communicate()
            self.found += [Stall(*each) for each in json.loads(text or '[]')]


def main() -> None:
    """Watches one core until SIGINT, then prints the stalls. Argument: the core."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    core, parent = int(sys.argv[1]), os.getppid()
    os.sched_setaffinity(0, {core})
    found: list[Stall] = []
    try:
        is_raised = raise_priority(PRIORITY)
        print('watching' if is_raised else 'may not', flush=True)
        if not is_raised:
            return
        gc.disable()
        slept = time.monotonic()
        while os.getppid() == parent:  # it ends with who started it, however that ends
            time.sleep(PERIOD)
            woke = time.monotonic()
            if woke - slept > PERIOD + LATE:
                found.append(Stall(core, slept + PERIOD, woke))
            slept = time.monotonic()
    except KeyboardInterrupt:
        pass
    finally:
        print(json.dumps(found), flush=True)


if __name__ == '__main__':
    main()
