# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The thresholds to watch for a rate of false alarms, among the guarantees of a calibration."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from frame_ros.confidence.guarantees.alarm_rate import EPISODE, FalseAlarmRate
from frame_ros.confidence.guarantees.guarantee import BONFERRONI, AlarmThreshold, Guarantee
from frame_ros.core.errors import CalibrationError

# Rounding of a division must not hide a threshold of that very rate.
_TOLERANCE = 1e-9

# What the thresholds of scores have together, and the thresholds.
Choice = tuple[float, Mapping[str, AlarmThreshold]]


def choose_thresholds(
    guarantees: Sequence[Guarantee], scores: Sequence[str], form: str, rate: FalseAlarmRate
) -> Mapping[str, AlarmThreshold]:
    """Returns score -> threshold, which together keep the rate while just these are watched.

    Either all from one guarantee, or of each score its own one with its part of the rate,
    whichever comes closer to the rate.

    Raises:
        CalibrationError: there are none; the message says what there is, and why.
    """
    known = [each for each in guarantees if each.form == form and _is_kept(each.rate, rate)]
    choices = [*_of_one(known, scores), *_of_each(known, scores, rate)]
    fitting = [each for each in choices if each[0] <= rate.value * (1.0 + _TOLERANCE)]
    if not fitting:
        raise CalibrationError(_lack(guarantees, scores, form, rate))
    return max(fitting, key=lambda each: each[0])[1]


def _is_kept(found: FalseAlarmRate, wanted: FalseAlarmRate) -> bool:
    """Returns whether what keeps one rate may keep the other, if its value is small enough."""
    return found.per == wanted.per and (found.confidence or 0.0) >= (wanted.confidence or 0.0)


def _own_rate(guarantee: Guarantee, score: str) -> float:
    return guarantee.rate.value * guarantee.thresholds[score].share


def _of_one(guarantees: Iterable[Guarantee], scores: Sequence[str]) -> Iterator[Choice]:
    for each in guarantees:
        if set(scores) <= set(each.thresholds):
            parts = [_own_rate(each, score) for score in scores]
            joint = sum(parts) if each.sharing == BONFERRONI else each.rate.value
            yield joint, {score: each.thresholds[score] for score in scores}


def _of_each(
    guarantees: Iterable[Guarantee], scores: Sequence[str], rate: FalseAlarmRate
) -> Iterator[Choice]:
    """By Boole's inequality the false alarms of several scores add up at most."""
    if rate.per != EPISODE:
        return
    largest = rate.value / len(scores) * (1.0 + _TOLERANCE)
    own = [each for each in guarantees if each.sharing == BONFERRONI or len(each.thresholds) == 1]
    found = {}
    for score in scores:
        rates = [(_own_rate(each, score), each) for each in own if score in each.thresholds]
        if not (fitting := [pair for pair in rates if pair[0] <= largest]):
            return
        found[score] = max(fitting, key=lambda pair: pair[0])
    joint = sum(value for value, _ in found.values())
    yield joint, {score: each.thresholds[score] for score, (_, each) in found.items()}


def _lack(
    guarantees: Sequence[Guarantee], scores: Sequence[str], form: str, rate: FalseAlarmRate
) -> str:
    there = []
    for each in guarantees:
        if each.form == form:
            there += [f'{name} for {each.rate.shared(threshold.share)}'
                      for name, threshold in each.thresholds.items()
                      if name in scores and each.sharing == BONFERRONI]  # fmt: skip
            if each.sharing != BONFERRONI and each.thresholds:
                there.append(f'{", ".join(each.thresholds)} together for {each.rate}')
            there += [f'{name} has none, because {why}'
                      for name, why in each.refused.items() if name in scores]  # fmt: skip
    together = ' together' if len(scores) > 1 else ''
    found = '; '.join(dict.fromkeys(there)) or f'none of them, {_those_of(guarantees, form)}'
    return (
        f'the calibration has no {form} threshold of {", ".join(scores)}{together} for {rate}; it '
        f'has: {found}'
    )


def _those_of(guarantees: Iterable[Guarantee], form: str) -> str:
    names = dict.fromkeys(
        name for each in guarantees if each.form == form for name in each.thresholds
    )
    return f'but those of {", ".join(names)}' if names else 'and of no other score'
