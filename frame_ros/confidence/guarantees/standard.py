# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The guarantees that a calibration file holds: of each score alone, and of some together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from frame_ros.confidence.guarantees.alarm_rate import EPISODE, FalseAlarmRate
from frame_ros.confidence.guarantees.fit import attempt_guarantee
from frame_ros.confidence.guarantees.guarantee import BONFERRONI, FORMS, SHARINGS, WORST, Guarantee
from frame_ros.confidence.guarantees.risk_episode import RiskEpisode


def standard_guarantees(
    episodes: Sequence[RiskEpisode],
    scores: Iterable[str],
    rates: Iterable[FalseAlarmRate],
    together: Sequence[str] = (),
    seed: int = 0,
) -> tuple[Guarantee, ...]:
    """Fits every form of threshold for every rate.

    Args:
        episodes: successful ones.
        scores: each of which has thresholds of its own.
        rates: each of which they keep.
        together: scores that also share each rate in every way that is valid for it; fewer than
            two: none.
        seed: of the draw of the episodes that give shapes.

    Returns:
        Guarantees in which what cannot be fitted stands with its reason.
    """
    names = list(scores)
    found = []
    for rate in rates:
        for form in FORMS:
            asked: list[tuple[tuple[str, ...], str]] = [((name,), BONFERRONI) for name in names]
            if len(together) > 1:
                ways = SHARINGS if rate.per == EPISODE else (WORST,)
                asked += [(tuple(together), way) for way in ways]
            found += [
                attempt_guarantee(episodes, those, rate, form, way, seed=seed)
                for those, way in asked
            ]
    return tuple(found)
