# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The logrank test of two samples: plain, stratified by object, or pooled over objects.

It takes operations as independent, which those of one episode are not; PhAIL reports it as a check
of the macro-averaged KS test, not as the verdict (section 3.3).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.samples import as_cell, objects_of

STRATIFIED, POOLED = 'stratified', 'pooled'


class LogRank(NamedTuple):
    """A two-sided logrank test.

    Attributes:
        statistic: standard normal if the hazards are equal; positive if the first succeeds more
            often than expected.
        p: 1 where nothing can differ: no time at which something was done and both were at risk.
            NaN, as the statistic, if they share no object.
        observed, expected: successes of the first sample.
        variance: of observed - expected.
        strata: objects that were compared; ('',) for a plain test.
        only_first, only_second: objects of one of them, which are not compared.
    """

    statistic: float
    p: float
    observed: float
    expected: float
    variance: float
    strata: tuple[str, ...] = ('',)
    only_first: tuple[str, ...] = ()
    only_second: tuple[str, ...] = ()


def logrank(a: Any, b: Any, variant: str = STRATIFIED) -> LogRank:
    """Logrank test. Mantel 1966; PhAIL, section 3.3. Hard failures stay at risk at all finite times
    and are no successes.

    Args:
        a, b: (times, events) or Cell each; or object -> of these, over the objects that both have.
        variant: of tests by object. 'stratified': counts and variances of the objects are added;
            'pooled': operations of all objects are one sample.

    Raises:
        ShapeError: another shape, or only one of them is by object.
        ValueRangeError: as `kaplan_meier`, or an unknown variant.
    """
    if variant not in (STRATIFIED, POOLED):
        raise ValueRangeError(f'the variant is {variant!r}; expected: {STRATIFIED}, {POOLED}')
    if isinstance(a, Mapping) != isinstance(b, Mapping):
        raise ShapeError('one sample is by object and the other is not; both are expected to be')
    if not isinstance(a, Mapping):
        return _test([(as_cell(a), as_cell(b))])
    objects = objects_of(a, b)
    pairs = [(as_cell(a[name], name), as_cell(b[name], name)) for name in objects.shared]
    if variant == POOLED and pairs:
        pairs = [(_joined([pair[0] for pair in pairs]), _joined([pair[1] for pair in pairs]))]
    found = _test(pairs) if pairs else LogRank(math.nan, math.nan, 0.0, 0.0, 0.0)
    return found._replace(
        strata=objects.shared, only_first=objects.only_first, only_second=objects.only_second
    )


def _joined(cells: list[Cell]) -> Cell:
    times = np.concatenate([each.times for each in cells])
    return Cell(times, np.concatenate([each.events for each in cells]), np.arange(len(times)))


def _test(pairs: list[tuple[Cell, Cell]]) -> LogRank:
    observed, expected, variance = np.sum([_counts(*pair) for pair in pairs], axis=0)
    if variance <= 0.0:
        return LogRank(0.0, 1.0, float(observed), float(expected), 0.0)
    statistic = float((observed - expected) / math.sqrt(variance))
    p = math.erfc(abs(statistic) / math.sqrt(2.0))
    return LogRank(statistic, p, float(observed), float(expected), float(variance))


def _counts(a: Cell, b: Cell) -> tuple[float, float, float]:
    """Returns successes of a, those expected and their hypergeometric variance."""
    times = np.concatenate([a.times, b.times])
    is_success = np.concatenate([a.events, b.events]) & np.isfinite(times)
    distinct, done = np.unique(times[is_success], return_counts=True)
    at_risk = len(times) - np.searchsorted(np.sort(times), distinct, 'left')
    at_risk_a = len(a.times) - np.searchsorted(np.sort(a.times), distinct, 'left')
    share = at_risk_a / at_risk
    # One at risk: the variance is 0.
    rest = (at_risk - done) / np.maximum(at_risk - 1, 1)
    successes = int((a.events & np.isfinite(a.times)).sum())
    return successes, float((done * share).sum()), float((done * share * (1 - share) * rest).sum())
