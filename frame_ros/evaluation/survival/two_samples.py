# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Comparisons of two time-to-success CDFs: throughput against a human, who is faster, the largest
distance and its place.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from frame_ros.evaluation.survival.kaplan_meier import ROUNDING, KaplanMeier, curve_of
from frame_ros.evaluation.survival.samples import TAU, as_cell, checked_tau, objects_of


class HumanRelativeThroughput(NamedTuple):
    """RMST of the human over that of the policy; 1 is as fast as the human.

    Attributes:
        per_object: object -> ratio, over those that both have.
        macro: their mean with equal weights; NaN if they share no object.
        only_policy, only_human: objects of one of them, which are not compared.
    """

    per_object: dict[str, float]
    macro: float
    only_policy: tuple[str, ...]
    only_human: tuple[str, ...]


def human_relative_throughput(
    policy: Mapping[str, Any], human: Mapping[str, Any], tau: float = TAU
) -> HumanRelativeThroughput:
    """HRT = RMST_human / RMST_policy per object, and its mean. PhAIL, section 3.2.

    Args:
        policy, human: object -> (times, events) or Cell.
        tau: s, the integration cap.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau is not positive and finite.
    """
    objects = objects_of(policy, human)
    ratios = {
        name: float(
            ratio_of(
                _curve(human[name]).restricted_mean(tau), _curve(policy[name]).restricted_mean(tau)
            )
        )
        for name in objects.shared
    }
    macro = float(np.mean(list(ratios.values()))) if ratios else math.nan
    return HumanRelativeThroughput(ratios, macro, objects.only_first, objects.only_second)


def ratio_of(human: Any, policy: Any) -> Any:
    """Returns human / policy; NaN for 0 / 0."""
    with np.errstate(divide='ignore', invalid='ignore'):
        return np.divide(human, policy)


def probability_faster(a: Any, b: Any, tau: float = TAU) -> float:
    """P(T_a < T_b), ties and both beyond tau counted half: the area under the P-P plot of a over b.
    PhAIL, section 3.2.

    Args:
        a, b: (times, events) or Cell.
        tau: s; may be infinite.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau is not positive.
    """
    tau = checked_tau(tau, may_be_infinite=True)
    first, second = _curve(a), _curve(b)
    times = first.times[first.times <= tau]
    falls = -np.diff(first.survival[: len(times)], prepend=1.0)
    mean = 0.5 * (second.survival_at(times, is_before=True) + second.survival_at(times))
    return float(falls @ mean + 0.5 * first.survival_at(tau) * second.survival_at(tau))


class Supremum(NamedTuple):
    """The largest distance of two CDFs.

    Attributes:
        distance: sup |F_a - F_b|, in [0, 1].
        time: s, the first at which it is reached; NaN if the CDFs are equal.
        sign: 1 if F_a is above there, -1 if F_b is, 0 if they are equal. It orders no policies:
            signs of three can form a cycle (PhAIL, appendix I).
    """

    distance: float
    time: float
    sign: int


def ks_supremum(a: Any, b: Any, tau: float = TAU) -> Supremum:
    """Kolmogorov-Smirnov distance of two Kaplan-Meier CDFs over [0, tau], its place and sign.
    PhAIL, section 3.3 and appendix I.

    Args:
        a, b: (times, events) or Cell.
        tau: s; may be infinite: all finite times.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau is not positive.
    """
    tau = checked_tau(tau, may_be_infinite=True)
    return supremum_of(_curve(a), _curve(b), tau)


def supremum_of(first: KaplanMeier, second: KaplanMeier, tau: float) -> Supremum:
    """Returns the largest distance of two estimates over [0, tau]."""
    times = np.union1d(first.times, second.times)
    times = times[times <= tau]
    differences = second.survival_at(times) - first.survival_at(times)
    sizes = np.abs(differences)
    if not len(times) or sizes.max() <= ROUNDING:
        return Supremum(0.0, math.nan, 0)
    place = int(np.argmax(sizes >= sizes.max() - ROUNDING))
    largest = float(differences[place])
    return Supremum(abs(largest), float(times[place]), 1 if largest > 0.0 else -1)


def ks_distance(a: Any, b: Any, tau: float = TAU) -> float:
    """sup over [0, tau] of |F_a - F_b|. PhAIL, section 3.3.

    Args:
        a, b: (times, events) or Cell.
        tau: s; may be infinite: all finite times.

    Raises:
        ShapeError, ValueRangeError: as `kaplan_meier`, or tau is not positive.
    """
    return ks_supremum(a, b, tau).distance


def _curve(sample: Any) -> KaplanMeier:
    return curve_of(as_cell(sample))
