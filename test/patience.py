# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Waits of a test for what must come at all."""

import time

PATIENCE = 120.0  # s; only a failure takes so long


def spin_until(executor, condition, action=None, every=0.05):
    """Spins until the condition holds, repeating the action every so many seconds."""
    end, again = time.monotonic() + PATIENCE, 0.0
    while not condition():
        assert time.monotonic() < end, 'it did not happen'
        if action and time.monotonic() > again:
            action()
            again = time.monotonic() + every
        executor.spin_once(timeout_sec=0.02)
