# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Splits of the episodes of one policy: to fit, to calibrate thresholds, to judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Split:
    """Numbers of episodes, none in two of them.

    Attributes:
        fit: successes.
        calibrate: successes.
        failures: to fit on.
        test: successes and failures that are judged.
    """

    fit: tuple[int, ...]
    calibrate: tuple[int, ...]
    failures: tuple[int, ...]
    test: tuple[int, ...]


def splits(
    are_successes: Sequence[bool], folds: int, repeats: int, seed: int = 0
) -> Iterator[Split]:
    """Yields `folds` splits, `repeats` times; in each of these every episode is judged once. Half
    of the other successes fit, half calibrate.
    """
    rng = np.random.default_rng(seed)
    good = np.asarray(are_successes, bool)
    for _ in range(repeats):
        fold = np.empty(len(good), int)
        for outcome in (True, False):
            members = np.flatnonzero(good == outcome)
            fold[members] = rng.permutation(np.arange(len(members)) % folds)
        for number in range(folds):
            rest = rng.permutation(np.flatnonzero(good & (fold != number)))
            half = len(rest) // 2
            yield Split(
                tuple(rest[:half].tolist()),
                tuple(rest[half:].tolist()),
                tuple(np.flatnonzero(~good & (fold != number)).tolist()),
                tuple(np.flatnonzero(fold == number).tolist()),
            )
