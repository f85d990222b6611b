# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes by the policy that acted in them: what a comparison compares."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from frame_ros.episodes.episode import Episode
from frame_ros.reports.model.metric_table import MetricRow, SuccessCount, success_count
from frame_ros.reports.sections.interventions import is_helped_success

# Facts of an episode that tell one policy from another. quality: of the scripted policy.
FACTS = ('policy', 'checkpoint', 'quality')
NAMELESS = 'unnamed policy'


@dataclass(frozen=True)
class PolicyGroup:
    """The episodes of one policy. places: where they are in the order of the report.

    static: how many of them the end effector hardly moved in. helped: how many succeeded in which a
    person had taken over.
    """

    label: str
    places: tuple[int, ...]
    success: SuccessCount
    static: int
    helped: int = 0

    @property
    def episodes(self) -> int:
        """How many there are."""
        return len(self.places)

    def value(self, row: MetricRow) -> float | None:
        """The median of a metric over the group's episodes, static ones left out where the report
        leaves them out; the success rate for 'sr'. None without any value.
        """
        if row.id == 'sr':
            return self.success.rate
        left_out = row.is_left_out or [False] * len(row.values)
        found = [row.values[i] for i in self.places if not left_out[i]]
        known = [value for value in found if value is not None]
        return median(known) if known else None


def policy_groups(episodes: Sequence[Episode]) -> list[PolicyGroup]:
    """One group per policy, checkpoint and (scripted) quality, in the order of first appearance."""
    places: dict[tuple[str, ...], list[int]] = {}
    for i, episode in enumerate(episodes):
        key = tuple(str(episode.attributes.get(name) or '') for name in FACTS)
        places.setdefault(key, []).append(i)
    labels = dict(zip(places, _labels(list(places))))
    return [
        PolicyGroup(
            labels[key],
            tuple(found),
            success_count([episodes[i] for i in found]),
            sum(episodes[i].is_static for i in found),
            sum(is_helped_success(episodes[i]) for i in found),
        )
        for key, found in places.items()
    ]


def _labels(keys: Sequence[tuple[str, ...]]) -> list[str]:
    """Names that tell the groups apart: a checkpoint by its last folder, if that suffices."""
    for is_short in (True, False):
        labels = [_label(key, is_short) for key in keys]
        if len(set(labels)) == len(labels):
            break
    return labels


def _label(key: tuple[str, ...], is_short: bool) -> str:
    policy, checkpoint, quality = key
    name = checkpoint.rstrip('/').rpartition('/')[2] if is_short else checkpoint
    parts = [policy or NAMELESS, name, f'quality {quality}' if quality else '']
    return ', '.join(part for part in parts if part)
