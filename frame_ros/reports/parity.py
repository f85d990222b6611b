# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Live against bag: what the metrics node published, beside what the raw topics of the same bag
yield.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.data import Episode, Stream
from frame_ros.episodes.processing import recompute_as_live

BAR = 1e-9
NOT_COMPARED = frozenset({'stamp', 'episode_id'})


@dataclass(frozen=True)
class ParityRow:
    """One field of one metric message, live against recomputed.

    compared: samples of equal stamp that count. different: those further apart than the bar.
    max_difference: largest relative difference of the compared, |a - b| / max(|a|, |b|); infinite
    where only one side has a value; NaN when nothing was compared. unmatched_live,
    unmatched_offline: samples without a counterpart of the same stamp. excluded: samples that
    differ, but only since the live node had given up waiting for a stream without saying which.
    """

    kind: str
    field: str
    compared: int
    different: int
    max_difference: float
    unmatched_live: int
    unmatched_offline: int
    excluded: int

    @property
    def holds(self) -> bool:
        """Whether something was compared, and all of it agrees."""
        return self.compared > 0 and self.different == 0


@dataclass(frozen=True)
class ParityVerdict:
    """All rows in one: `holds` is None when nothing was recorded live, so that there is nothing to
    compare.
    """

    holds: bool | None
    compared: int
    different: int
    max_difference: float
    unmatched_live: int
    unmatched_offline: int
    excluded: int
    text: str


def relative_difference(a: NDArray, b: NDArray) -> NDArray[np.float64]:
    """Returns |a - b| / max(|a|, |b|) per element; 0 where both are NaN or equal, infinite where
    only one is NaN.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(invalid='ignore', divide='ignore'):
        difference = np.abs(a - b) / np.maximum(np.abs(a), np.abs(b))
    difference[(a == b) | (np.isnan(a) & np.isnan(b))] = 0.0
    difference[np.isnan(difference)] = np.inf
    return difference


def compare_live(episode: Episode, bar: float = BAR) -> list[ParityRow]:
    """Compares every number of the recorded metric topics with the recomputed one of the same
    stamp.

    Where the live node had to do without a lagging stream, and says so, the same is left out when
    recomputing. bar: the largest relative difference that counts as equal. Returns one row per kind
    and field, in the order of the message; no rows for a kind that was not recorded or not
    recomputed.
    """
    if not episode.live:
        return []
    metrics = recompute_as_live(episode)
    held = _held_stamps(episode, metrics.get('quality', {}))
    rows: list[ParityRow] = []
    for kind, live in episode.live.items():
        offline, inside = metrics.get(kind), _of_episode(live, episode.episode_id)
        if offline and 'stamp' in offline and inside.any():
            rows.extend(_compare_kind(kind, live, inside, offline, held, bar))
    return rows


def lagging_steps(episode: Episode) -> int:
    """Steps at which the live node had to do without a stream that had not passed them in time."""
    live = episode.live.get('quality')
    if live is None or 'lagging' not in live.values:
        return 0
    inside = _of_episode(live, episode.episode_id)
    return int(np.count_nonzero(live.values['lagging'][inside]))


def parity_verdict(rows: Iterable[ParityRow]) -> ParityVerdict:
    """Sums up rows of one or several episodes, in words too."""
    rows = list(rows)
    compared, different = sum(r.compared for r in rows), sum(r.different for r in rows)
    worst = max((r.max_difference for r in rows if r.compared), default=float('nan'))
    live, offline = max_by_kind(rows, 'unmatched_live'), max_by_kind(rows, 'unmatched_offline')
    excluded = sum(r.excluded for r in rows)
    holds = None if not rows else compared > 0 and different == 0
    if holds is None:
        text = 'no live metrics were recorded: nothing to compare'
    elif not compared:
        text = 'live metrics were recorded, but no sample has the stamp of a recomputed one'
    elif holds:
        text = f'live and bag agree: {compared:,} values, largest relative difference {worst:.1e}'
    else:
        text = (
            f'live and bag DISAGREE in {different:,} of {compared:,} values '
            f'(largest relative difference {worst:.1e})'
        )
    return ParityVerdict(holds, compared, different, worst, live, offline, excluded, text)


def max_by_kind(rows: Iterable[ParityRow], name: str) -> int:
    """Adds up a count that is the same for all fields of a kind, once per kind and episode."""
    total, last = 0, None
    for row in rows:
        if row.kind != last:
            total, last = total + getattr(row, name), row.kind
    return total


def _of_episode(live: Stream, episode_id: str) -> NDArray[np.bool_]:
    """(T,) whether a live sample belongs to the episode; all do where the topic does not say."""
    if 'episode_id' not in live.values:
        return np.ones(len(live), dtype=bool)
    return np.asarray(live.values['episode_id'] == episode_id, dtype=bool)


def _compare_kind(
    kind: str,
    live: Stream,
    inside: NDArray[np.bool_],
    offline: dict[str, NDArray],
    held: set[int],
    bar: float,
) -> list[ParityRow]:
    """Rows of one message type. Of samples with the same stamp on one side the first is taken."""
    live_stamps, live_first = np.unique(live.stamps[inside], return_index=True)
    offline_stamps, offline_first = np.unique(offline['stamp'], return_index=True)
    common, i, j = np.intersect1d(
        live_stamps, offline_stamps, assume_unique=True, return_indices=True
    )
    is_held = np.array([int(stamp) in held for stamp in common], dtype=bool)
    lone = len(live_stamps) - len(common), len(offline_stamps) - len(common)
    rows = []
    for name, values in live.values.items():
        if (
            name in NOT_COMPARED
            or name not in offline
            or np.asarray(values).dtype.kind not in 'biuf'
        ):
            continue
        a, b = (
            np.asarray(values)[inside][live_first[i]],
            np.asarray(offline[name])[offline_first[j]],
        )
        difference = relative_difference(a, b)
        rows.append(_row(kind, name, difference, is_held & (difference > bar), bar, lone))
    return rows


def _row(
    kind: str,
    name: str,
    difference: NDArray[np.float64],
    excused: NDArray[np.bool_],
    bar: float,
    lone: tuple[int, int],
) -> ParityRow:
    counted = difference[~excused]
    worst = float(counted.max()) if len(counted) else float('nan')
    different = int(np.count_nonzero(counted > bar))
    return ParityRow(
        kind, name, len(counted), different, worst, *lone, int(np.count_nonzero(excused))
    )


def _held_stamps(episode: Episode, offline: dict[str, NDArray]) -> set[int]:
    """Stamps of the steps by which the live node had emitted more steps after a hold than the bag
    yields.
    """
    live = episode.live.get('quality')
    if live is None or 'hold_expired' not in live.values:
        return set()
    counts = dict(zip(map(int, offline.get('stamp', ())), offline.get('hold_expired', ())))
    inside = _of_episode(live, episode.episode_id)
    return {
        int(stamp)
        for stamp, count in zip(live.stamps[inside], live.values['hold_expired'][inside])
        if count > counts.get(int(stamp), 0)
    }
