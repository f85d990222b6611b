# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of live with bag summed up over episodes, in numbers and in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from frame_ros.core.plain_text import counted
from frame_ros.metrics import REGISTRY
from frame_ros.reports.model.numbers import readable
from frame_ros.reports.parity.bag_losses import Loss
from frame_ros.reports.parity.comparison import BAR, EpisodeParity, ParityRow

NAN = float('nan')


@dataclass(frozen=True)
class ParityVerdict:
    """All rows in one; see ParityRow. `holds` is None when there is nothing to compare: nothing was
    recorded live, or all of it rests on messages that only one side had.

    losses, live_losses: what the bag lacks, and what the live node lost, over all episodes, in
    words, per topic; '' if there is none.

    steps, lagging_steps: over all episodes. final_field, final_name: the metric whose last live
    value was furthest from the one shown, over the episodes in which something lagged; '' if none
    was. final_difference: how far, relative. final_unavailable: metrics without a live value at the
    last step that have one in the report, the most of any episode.
    """

    holds: bool | None
    compared: int
    different: int
    max_difference: float
    compared_as_live: int
    different_as_live: int
    max_difference_as_live: float
    steps: int
    lagging_steps: int
    final_field: str
    final_name: str
    final_difference: float
    final_unavailable: int
    unmatched_live: int
    unmatched_offline: int
    excluded: int
    unjudged: int
    losses: str
    live_losses: str

    @property
    def text(self) -> str:
        """All of it in words."""
        return _text(self, [self.losses, self.live_losses])

    @property
    def bag_text(self) -> str:
        """Losses of the bag and how live and bag compare, without what the live node lost."""
        return _text(self, [self.losses])

    @property
    def final_text(self) -> str:
        """Difference of the last live values: 'the live path length ended 3 % off'."""
        parts = []
        if self.final_name:
            parts.append(
                f'the live {self.final_name} ended {readable(100 * self.final_difference, 2)} % off'
            )
        if self.final_unavailable:
            verb = 'was' if self.final_unavailable == 1 else 'were'
            parts.append(
                f'{counted(self.final_unavailable, "live metric")} {verb} unavailable at the end'
            )
        return ' and '.join(parts) or 'the live values ended as those shown'


def difference_text(worst: float) -> str:
    """The largest relative difference in words: none, a number, or a value that one side lacks."""
    if worst == math.inf:
        return 'some have a value on one side only'
    if worst == 0:
        return 'no difference at all'
    return f'largest relative difference {readable(worst, 2)}'


def parity_verdict(parities: Iterable[EpisodeParity]) -> ParityVerdict:
    """Sums up one or several episodes, in words too."""
    parities = list(parities)
    rows = [row for parity in parities for row in parity]
    different, unjudged = sum(r.differences for r in rows), sum(r.unjudged for r in rows)
    compared = sum(r.compared + r.compared_as_live for r in rows)
    return ParityVerdict(
        compared > 0 and different == 0 if compared or (rows and not unjudged) else None,
        sum(r.compared for r in rows),
        sum(r.different for r in rows),
        _largest_known(r.max_difference for r in rows),
        sum(r.compared_as_live for r in rows),
        sum(r.different_as_live for r in rows),
        _largest_known(r.max_difference_as_live for r in rows),
        sum(p.steps for p in parities),
        sum(p.lagging_steps for p in parities),
        *_final_values(parities),
        sum(p.by_kind('unmatched_live') for p in parities),
        sum(p.by_kind('unmatched_offline') for p in parities),
        sum(r.excluded for r in rows),
        unjudged,
        losses_text(loss for parity in parities for loss in parity.losses if not loss.is_live),
        live_losses_text(loss for parity in parities for loss in parity.losses if loss.is_live),
    )


def _largest_known(values: Iterable[float]) -> float:
    return max((value for value in values if not math.isnan(value)), default=NAN)


def _final_values(parities: Sequence[EpisodeParity]) -> tuple[str, str, float, int]:
    """final_field, final_name, final_difference, final_unavailable of ParityVerdict."""
    names = _final_names()
    lagged = [[r for r in p if (r.kind, r.field) in names] for p in parities if p.lagging_steps]
    known = [r for rows in lagged for r in rows if BAR < r.final_difference < math.inf]
    unavailable = max((sum(map(_is_unavailable, rows)) for rows in lagged), default=0)
    if not known:
        return '', '', NAN, unavailable
    worst = max(known, key=lambda row: row.final_difference)
    name = names[worst.kind, worst.field]
    return f'{worst.kind}.{worst.field}', name, worst.final_difference, unavailable


def _is_unavailable(row: ParityRow) -> bool:
    return row.final_difference == math.inf


def _final_names() -> dict[tuple[str, str], str]:
    """(kind, field) -> name of the metrics whose value of an episode is that at its last step."""
    names = {}
    for entry in REGISTRY.values():
        for kind in entry.messages if not entry.of_moments else ():
            name = f'mean {entry.name}' if entry.has_three_forms else entry.name
            names[kind, entry.episode_field] = name
    return names


def losses_text(losses: Iterable[Loss]) -> str:
    """'the bag lacks 7 of 433 messages of ee_pose' over one or several episodes, per topic, apart
    from what no counts prove; '' if it lacks none.
    """
    found = list(losses)
    proven = [loss for loss in found if loss.is_counted]
    possible = [loss for loss in found if not loss.is_counted]
    parts = []
    if proven:
        parts.append(f'the bag lacks messages that the live node had: {_by_topic(proven)}')
    if possible:
        parts.append(
            'it is not known whether the bag lacks messages, as it has no counts of what the live '
            f'node had: {_by_topic(possible)} may be missing'
        )
    return '; '.join(parts)


def _by_topic(losses: Iterable[Loss]) -> str:
    counts: dict[tuple[str, bool], tuple[int, int]] = {}
    for loss in losses:
        key = loss.topic.lstrip('/'), loss.is_certain
        missing, whole = counts.get(key, (0, 0))
        counts[key] = missing + loss.missing, whole + loss.missing + loss.recorded
    return ', '.join(
        f'{missing:,} of {whole:,} of {topic}' + ('' if is_certain else ' (by gaps in its stamps)')
        for (topic, is_certain), (missing, whole) in counts.items()
    )


def live_losses_text(losses: Iterable[Loss]) -> str:
    """'the live metrics node lost 134 of 4,260 messages of ee_pose' over one or several episodes,
    per topic; '' if it lost none.
    """
    counts: dict[str, tuple[int, int]] = {}
    for loss in losses:
        lost, whole = counts.get(topic := loss.topic.lstrip('/'), (0, 0))
        counts[topic] = lost + loss.missing, whole + loss.recorded
    parts = [f'{n:,} of {whole:,} messages of {topic}' for topic, (n, whole) in counts.items()]
    return f'the live metrics node lost {" and ".join(parts)}' if parts else ''


def _text(parity: ParityVerdict, losses: Iterable[str]) -> str:
    """First what only one side had, then how live and bag compare."""
    parts = [text for text in losses if text]
    if parts and parity.unjudged:
        verb = 'rests' if parity.unjudged == 1 else 'rest'
        values = counted(parity.unjudged, 'live value')
        parts.append(f'{values} {verb} on these and cannot be compared')
    if not parity.unjudged or parity.compared + parity.compared_as_live:
        parts.append(_comparison_text(parity))
    return '; '.join(parts)


def _comparison_text(parity: ParityVerdict) -> str:
    compared = parity.compared + parity.compared_as_live
    if parity.holds is None:
        return 'no live metrics to compare with'
    if not compared:
        return 'live metrics were recorded, but no sample has the stamp of a recomputed one'
    if parity.holds:
        number, worst = parity.compared, parity.max_difference
        if not parity.lagging_steps:  # only streams that were connected late were left out
            worst = _largest_known((worst, parity.max_difference_as_live))
            number = compared
        text = f'live and bag agree in {counted(number, "value")}'
        if number:
            text += f' ({difference_text(worst)})'
    else:
        different = parity.different + parity.different_as_live
        worst = _largest_known((parity.max_difference, parity.max_difference_as_live))
        text = (
            f'live and bag DISAGREE in {different:,} of {counted(compared, "value")} '
            f'({difference_text(worst)})'
        )
    return text + _lagging_text(parity)


def _lagging_text(parity: ParityVerdict) -> str:
    """Describes what lagged, what was compared from there on, and how far off live ended; '' if
    nothing did.
    """
    if not parity.lagging_steps:
        return ''
    text = f'; at {parity.lagging_steps:,} of {counted(parity.steps, "step")} a stream came too '
    text += 'late to be used live'
    if not parity.compared_as_live:
        return f'{text}, and no value since could be compared'
    values = counted(parity.compared_as_live, 'value')
    if parity.different_as_live:
        found = f'{parity.different_as_live:,} of {values} differ from'
    else:
        found = f'{values} agree with'
    text += f' (from there on {found} the bag recomputed without it)'
    if parity.excluded:
        text += (
            f', {counted(parity.excluded, "difference")} behind steps that were not recorded '
            'cannot be judged'
        )
    return f'{text}, and {parity.final_text}'
