# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Whatever happens, in every state and every transition, what the gate sends keeps to its limits.

`python test/gate/test_gate_invariants.py --minutes 20` tries for longer.
"""

import argparse
import random
import subprocess
import sys
import time
from pathlib import Path

from gate_machine import GateMachine
from gate_world import TOTALS
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

QUIET = list(HealthCheck)


def try_examples(count, steps, is_random=False):
    """Runs sequences of `steps` happenings; raises AssertionError with one that fails."""
    phases = (Phase.generate,)  # to shrink what fails takes longer than anybody waits
    run_state_machine_as_test(
        GateMachine,
        settings=settings(
            max_examples=count, stateful_step_count=steps, deadline=None, phases=phases,
            suppress_health_check=QUIET, database=None, derandomize=not is_random,
        ),
    )  # fmt: skip


def test_nothing_that_happens_makes_the_gate_break_a_limit():
    """In a process of its own: the examples depend on which modules are imported."""
    command = [sys.executable, __file__, '--examples', '70']
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parent)
    assert done.returncode == 0, done.stdout + done.stderr
    counts = dict(line.rsplit(' ', 1) for line in done.stdout.splitlines()[-1].split(', '))
    assert int(counts['passed']) > 500 and int(counts['gate: passed']) > 50
    assert int(counts['gate: stops']) > 10
    for rare in (
        'resets', 'resets elsewhere', 'resets while it brakes', 'clocks set back',
        'limits set in motion', 'acceleration lowered in motion',
    ):  # fmt: skip
        assert int(counts[rare]) > 0, rare


def main():
    """Tries for a while, and prints what was tried."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument('--minutes', type=float, default=20.0)
    parser.add_argument('--examples', type=int, help='so many, always the same, instead')
    options = parser.parse_args()
    began, violations, is_over = time.monotonic(), 0, False
    while not is_over and not violations:
        random.seed()
        try:
            if options.examples:
                try_examples(options.examples, 30)
            else:
                try_examples(100, 50, is_random=True)
        except AssertionError as error:
            violations += 1
            print(f'violation: {error}')
            print('\n'.join(getattr(error, '__notes__', [])))
        is_over = bool(options.examples) or time.monotonic() - began > 60.0 * options.minutes
    print(
        f'{(time.monotonic() - began) / 60.0:.1f} min: {TOTALS.examples} examples, '
        f'{TOTALS.steps} happenings, {TOTALS.commands} commands, {TOTALS.outputs} outputs, '
        f'{violations} violations'
    )
    print(', '.join(f'{name} {count}' for name, count in sorted(TOTALS.counts.items())))
    raise SystemExit(1 if violations else 0)


if __name__ == '__main__':
    main()
