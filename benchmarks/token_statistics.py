#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of the statistics of a large vocabulary's tokens, against one exponential over it.

Logits of 50 tokens and 257,152 classes (PaliGemma's), float32, on one thread. Processor time,
medians of repetitions that take all in turn, so that a busy machine slows them alike; a ratio is
the median of the repetitions' ratios. Bar: the statistics at most 2 times `np.exp(logits)`. The
ratio to `np.exp(logits, out=...)`, which needs no new memory for its result, is shown as well.

    OMP_NUM_THREADS=1 python benchmarks/token_statistics.py [--repetitions 15] [--json]
"""

import argparse
import json
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
from parts.bars import Bars, parse

from frame_ros.metrics.token_statistics import token_statistics

BAR = 2.0
TOKENS, CLASSES = 50, 257_152


def cases(tokens: int, classes: int) -> tuple[tuple[Callable[[], Any], ...], dict[str, Any]]:
    """numpy's exp with a new result and into an old one, and what is compared with it by name."""
    rng = np.random.default_rng(0)
    logits = rng.standard_normal((tokens, classes), np.float32) * 3
    chosen, out = logits.argmax(axis=1), np.empty_like(logits)
    half = logits.astype(np.float16)

    def by_step() -> None:
        for row, token in zip(logits, chosen):
            token_statistics(row[None], [int(token)])

    return (lambda: np.exp(logits), lambda: np.exp(logits, out=out)), {
        'all tokens at once': lambda: token_statistics(logits, chosen),
        'token by token, as they are generated': by_step,
        'with 3 temperatures': lambda: token_statistics(logits, chosen, (0.5, 1.5, 2.0)),
        'float16': lambda: token_statistics(half, chosen),
    }


def seconds(call: Callable[[], Any]) -> float:
    """Processor seconds of one call."""
    start = time.process_time()
    call()
    return time.process_time() - start


def measure(tokens: int, classes: int, repetitions: int) -> dict[str, dict[str, float]]:
    """Name -> medians: ms, and ratios to numpy's exp."""
    exponentials, others = cases(tokens, classes)
    rows: dict[str, list[tuple[float, ...]]] = {name: [] for name in others}
    for _ in range(repetitions + 1):
        for name, call in others.items():
            rows[name].append(tuple(seconds(each) for each in (call, *exponentials)))
    return {
        name: {
            'ms': 1e3 * median(own for own, _, _ in times[1:]),
            'exp_ms': 1e3 * median(exp for _, exp, _ in times[1:]),
            'ratio': median(own / exp for own, exp, _ in times[1:]),
            'ratio_in_place': median(own / exp for own, _, exp in times[1:]),
        }
        for name, times in rows.items()
    }


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--repetitions', type=int, default=15)
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    chosen = parse(parser, repetitions=1)
    results = measure(TOKENS, CLASSES, chosen.repetitions)
    if chosen.json:
        print(json.dumps({'bar': BAR, 'tokens': TOKENS, 'classes': CLASSES, **results}, indent=2))
    else:
        print(f'{TOKENS} x {CLASSES:,} logits; ratios to numpy exp (float32)')
    for name, row in [] if chosen.json else results.items():
        print(
            f'{name:40} {row["ms"]:8.1f} ms   exp {row["exp_ms"]:8.1f} ms   '
            f'ratio {row["ratio"]:5.2f}   in place {row["ratio_in_place"]:5.2f}'
        )
    first = next(iter(results.values()))['ratio']
    bars = Bars(chosen)
    bars.at_most('statistics of all tokens at once / numpy exp', first, BAR)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
