# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Live against bag: metrics as published by the node, compared with what the raw topics of the same
bag yield.

Up to the first step at which a stream came too late to be used live, live values are compared with
those the report shows. From there on sums and means differ by design; they are compared with what
the bag yields when the same is left out, and it is reported how far off the live values ended.

Where the bag lacks messages that the live node had, or the live node lost messages that the bag has
(`bag_losses`), the values that rest on them are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.findings import Note
from frame_ros.bags.received_counts import ReceivedCounts, received_counts
from frame_ros.bags.streams.form import Stream
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import start_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.live_inputs import NEVER, live_of_episode, unseen_steps
from frame_ros.episodes.metric_pipeline.options import recorded_definitions
from frame_ros.episodes.processing import recompute_as_live
from frame_ros.metrics.constants import VERSION
from frame_ros.metrics.message_fields import FIELDS, LISTS
from frame_ros.metrics.registry import changed_since
from frame_ros.reports.parity.bag_losses import (
    Loss,
    certain_losses,
    counted_losses,
    is_judged,
    live_losses,
    roles_of,
    suspected_losses,
    unrefuted,
)
from frame_ros.reports.parity.live_node import (
    beginning_texts,
    live_namespace,
    missed_beginning,
    quality_column,
    restart_of,
    restart_problems,
)

BAR = 1e-9
NOT_COMPARED = frozenset({'stamp', 'episode_id'})
# Not those of the live run, where references were given at reading.
OF_REFERENCES = frozenset({'ate', 'rte', 'ate_reference', 'rte_reference'})
# Kinds whose values depend on streams that can lag.
JOINED = frozenset({'quality', 'safety', 'confidence'})
NAN = float('nan')


@dataclass(frozen=True)
class ParityRow:
    """One field of one metric message, live against recomputed; differences are relative, |a - b| /
    max(|a|, |b|), infinite where only one side has a value, NaN when nothing was compared.

    compared: samples of equal stamp before anything lagged. different: those further from the
    values shown than the bar. max_difference: the largest difference of the compared.
    compared_as_live, different_as_live, max_difference_as_live: the same from the first lagging
    step on, with the bag recomputed without what lagged. final_difference: of the last live value
    to the one shown at that step; NaN where nothing lagged. unmatched_live, unmatched_offline:
    samples without a counterpart of the same stamp. excluded: samples that differ, but only since a
    lagging step that was not recorded. unjudged: samples that rest on messages that only one side
    had.
    """

    kind: str
    field: str
    compared: int
    different: int
    max_difference: float
    compared_as_live: int = 0
    different_as_live: int = 0
    max_difference_as_live: float = NAN
    final_difference: float = NAN
    unmatched_live: int = 0
    unmatched_offline: int = 0
    excluded: int = 0
    unjudged: int = 0

    @property
    def holds(self) -> bool:
        """True if something was compared, and all of it agrees."""
        is_compared = self.compared + self.compared_as_live > 0
        return is_compared and self.differences == 0

    @property
    def differences(self) -> int:
        """Samples that differ, of all that were compared."""
        return self.different + self.different_as_live


@dataclass(frozen=True)
class EpisodeParity:
    """The rows of one episode; iterating gives them.

    steps: recorded live steps. lagging_steps: those at which a stream came too late. problems:
    fields that could not be compared, in words. losses: what the bag lacks, and what the live node
    lost.
    late_inputs: what the live node received, or took part in, from some moment of the episode on
    only, in words.
    """

    rows: list[ParityRow] = field(default_factory=list)
    steps: int = 0
    lagging_steps: int = 0
    problems: list[str] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    late_inputs: list[str] = field(default_factory=list)

    def __iter__(self) -> Iterator[ParityRow]:
        return iter(self.rows)

    def by_kind(self, name: str) -> int:
        """Adds up a count that is the same for all fields of a kind, once per kind."""
        return sum({row.kind: int(getattr(row, name)) for row in self.rows}.values())


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


def compare_live(episode: Episode, bar: float = BAR) -> EpisodeParity:
    """Compares every number of the recorded metric topics with the recomputed one of the same
    stamp.

    bar: the largest relative difference that counts as equal. Returns one row per kind and field,
    in the order of the message; no rows for a kind that was not recorded or not recomputed. Gaps in
    the stamps of a stream count as losses only where they explain every difference of what rests on
    it.
    """
    if not episode.live:
        return EpisodeParity()
    whole, live = episode, live_of_episode(episode)
    restart = restart_of(episode)
    if restart is not None:
        live = {kind: found.select(found.stamps <= restart) for kind, found in live.items()}
        # What was said of the inputs is of the node that was there last.
        episode = replace(episode, heard_since={})
    comparison = _Comparison(episode, live, bar)
    counts = _counts_of(episode)
    losses = counted_losses(episode, counts)
    for role, loss in unrefuted(certain_losses(episode, live), episode, counts).items():
        missing = max(loss.missing, losses[role].missing if role in losses else 0)
        is_counted = loss.is_counted or role in losses or loss.topic in counts
        losses[role] = replace(loss, missing=missing, is_counted=is_counted)
    lost_live = live_losses(episode, counts)
    beginning: list[Loss] = []
    if not any(loss.role == 'action' for loss in lost_live):
        beginning = comparison.missed_beginning()
        lost_live += beginning
    rows = comparison.rows([*losses.values(), *lost_live])
    for role, loss in suspected_losses(episode).items():
        is_open = role not in losses and loss.topic not in counts
        if is_open and any(_rests_on(row, role) and row.differences for row in rows):
            others = comparison.rows([*losses.values(), loss, *lost_live])
            # Only what leaves nothing unexplained of the stream explains.
            if not any(_rests_on(row, role) and row.differences for row in others):
                losses, rows = {**losses, role: loss}, others
    problems = [problem for kind in episode.live for problem in field_problems(episode, kind)]
    problems += definition_problems(episode)
    problems += restart_problems(whole)
    steps = len(live['quality']) if 'quality' in live else 0
    found = [*losses.values(), *lost_live]
    late = [*beginning_texts(episode, beginning), *late_inputs(episode)]
    return EpisodeParity(rows, steps, lagging_steps(live), problems, found, late)


def _counts_of(episode: Episode) -> dict[str, ReceivedCounts]:
    """Topic -> what the metrics node that published the live topics had taken of it."""
    bag = episode.open_bag()
    return received_counts(bag, live_namespace(episode)) if bag is not None else {}


def _rests_on(row: ParityRow, role: str) -> bool:
    return role in roles_of(row.kind, row.field)


class _Comparison:
    """Live and recomputed samples of an episode, matched once."""

    def __init__(self, episode: Episode, live: Mapping[str, Stream], bar: float) -> None:
        self._live, self._bar = live, bar
        self._left_out = NOT_COMPARED | changed_since(live_definitions(episode) or VERSION)
        self._left_out |= OF_REFERENCES if episode.references else frozenset()
        unseen = min(unseen_steps(episode), default=None)
        first = 0 if episode.heard_since else _earlier(_first_lagging(live), unseen)
        as_live = recompute_as_live(episode) if first is not None else episode.metrics
        held = _held_stamps(live, as_live.get('quality', {}))
        self._episode, self._as_live = episode, as_live
        self._samples: dict[str, _Samples] = {}
        for kind, stream in live.items():
            shown = episode.metrics.get(kind)
            if shown and 'stamp' in shown and len(stream):
                lag = first if kind in JOINED or episode.heard_since else None
                self._samples[kind] = _Samples.match(stream, shown, as_live[kind], held, lag)

    def missed_beginning(self) -> list[Loss]:
        """Returns what the live node left out of the beginning of the episode."""
        return missed_beginning(self._episode, self._live, self._as_live)

    def rows(self, losses: Sequence[Loss]) -> list[ParityRow]:
        """One row per kind and numeric field; losses: what only one side had."""
        return [
            _parity_row(kind, name, samples, np.asarray(values), self._bar, losses)
            for kind, samples in self._samples.items()
            for name, values in self._live[kind].values.items()
            if np.asarray(values).dtype.kind in 'biuf'
            and name in samples.shown
            and name not in self._left_out
        ]


def late_inputs(episode: Episode) -> list[str]:
    """Says which streams the live node received only from some moment of the episode on."""
    start = start_of(episode)
    texts = []
    for role, since in episode.heard_since.items():
        stream = episode.streams[role]
        begin = int(stream.stamps.min()) if start is None else start
        when = f'from {(since - begin) / SECOND:.1f} s on' if since != NEVER else 'not at all'
        missed = int(np.count_nonzero((stream.stamps > 0) & (stream.stamps < since)))
        texts.append(
            f'the live metrics node received {stream.topic} {when}: {missed} of '
            f'{len(stream)} recorded messages had come before it was connected'
        )
    return texts


def lagging_steps(live: Mapping[str, Stream]) -> int:
    """Steps at which the live node had to do without a stream that had not passed them in time.

    live: see `live_of_episode`. Those whose messages were not recorded are known from the counter
    in later ones.
    """
    flags, counter = (quality_column(live, name) for name in ('lagging', 'hold_expired'))
    return max(int(np.count_nonzero(flags)), int(counter.max(initial=0)))


def field_problems(episode: Episode, kind: str) -> list[str]:
    """Says which fields of a live topic this version does not know, and which it misses."""
    live = episode.live[kind]
    if not len(live) or _is_reported(episode, live.topic):
        return []
    found = [name for name in live.values if name not in NOT_COMPARED]
    missing = [name for name in FIELDS[kind] if name not in live.values]
    known = (*FIELDS[kind], *LISTS.get(kind, ()))
    unknown = [name for name in found if name not in known]
    parts = [f'lacks {", ".join(missing)}'] * bool(missing)
    parts += [f'has the unknown {", ".join(unknown)}'] * bool(unknown)
    if not parts:
        return []
    text = f'{live.topic}: recorded with another version of the messages: it {" and ".join(parts)}'
    return [Note(f'{text}; these fields are not compared')]


def live_definitions(episode: Episode) -> int | None:
    """Returns the version of the definitions by which live values were computed; None where it is
    not known.
    """
    return recorded_definitions(episode.attributes.get('metrics_config', ''))


def definition_problems(episode: Episode) -> list[str]:
    """Says where live values mean something else than those of this report."""
    version = live_definitions(episode) or VERSION
    if version > VERSION:
        return [
            f'the live metrics follow version {version} of the definitions, newer than version '
            f'{VERSION} of this report: update frame_ros to compare them'
        ]
    if not (changed := changed_since(version)):
        return []
    return [
        Note(
            f'the live metrics follow version {version} of the definitions; this report computes '
            f'all values by version {VERSION}, in which {", ".join(sorted(changed))} mean '
            'something else: the live values of these are not compared'
        )
    ]


def _is_reported(episode: Episode, topic: str) -> bool:
    """Returns whether the reader of the bag has reported it already."""
    beginning = f'{topic}: recorded with another version'
    return any(str(problem).startswith(beginning) for problem in episode.problems)


@dataclass(frozen=True)
class _Samples:
    """Samples of equal stamp of one kind: places in live and recomputed arrays, (C,) each.

    stamps: (C,) ns. is_strict: (C,) before the first lagging step. is_held: (C,) behind a lagging
    step that was not recorded. late: (K,) places in what is recomputed without what lagged, whose
    samples can be fewer; is_late_known: (C,) where it has one, K times. lone: samples without a
    counterpart, live and recomputed.
    """

    stamps: NDArray[np.int64]
    live: NDArray[np.intp]
    offline: NDArray[np.intp]
    is_strict: NDArray[np.bool_]
    is_held: NDArray[np.bool_]
    late: NDArray[np.intp]
    is_late_known: NDArray[np.bool_]
    lone: tuple[int, int]
    shown: dict[str, NDArray]
    as_live: dict[str, NDArray]

    @classmethod
    def match(
        cls,
        live: Stream,
        shown: dict[str, NDArray],
        as_live: dict[str, NDArray],
        held: NDArray[np.int64],
        first: int | None,
    ) -> _Samples:
        """Matches by stamp. held: (H,) stamps. first: the stamp of the first lagging step."""
        common, i, j = np.intersect1d(live.stamps, shown['stamp'], return_indices=True)
        is_strict = np.ones(len(common), bool) if first is None else common < first
        lone = len(live) - len(common), len(np.unique(shown['stamp'])) - len(common)
        known, first_place = np.unique(as_live['stamp'], return_index=True)
        is_known = np.isin(common, known)
        late = first_place[np.searchsorted(known, common[is_known])]
        is_held = np.isin(common, held)
        return cls(common, i, j, is_strict, is_held, late, is_known, lone, shown, as_live)

    def as_live_of(self, name: str) -> NDArray[np.float64]:
        """Recomputed values (C,) of a field without what lagged; NaN where there is no sample."""
        values = np.full(len(self.stamps), NAN)
        values[self.is_late_known] = self.as_live[name][self.late]
        return values


def _parity_row(
    kind: str, name: str, samples: _Samples, live: NDArray, bar: float, losses: Sequence[Loss]
) -> ParityRow:
    values = live[samples.live]
    to_shown = relative_difference(values, samples.shown[name][samples.offline])
    judged = is_judged(kind, name, samples.stamps, losses)
    strict, is_lagged = to_shown[samples.is_strict & judged], ~samples.is_strict & judged
    as_live: NDArray[np.float64] = np.empty(0)
    excluded, final = 0, NAN
    if is_lagged.any():
        forced = relative_difference(values, samples.as_live_of(name))
        is_excused = is_lagged & samples.is_held & (forced > bar)
        as_live, excluded = forced[is_lagged & ~is_excused], int(is_excused.sum())
        final = float(to_shown[-1]) if judged[-1] else NAN
    numbers = (
        *_differences(strict, bar),
        *_differences(as_live, bar),
        final,
        *samples.lone,
        excluded,
    )
    return ParityRow(kind, name, *numbers, int(np.count_nonzero(~judged)))


def _differences(difference: NDArray[np.float64], bar: float) -> tuple[int, int, float]:
    worst = float(difference.max()) if len(difference) else NAN
    return len(difference), int(np.count_nonzero(difference > bar)), worst


def _earlier(a: int | None, b: int | None) -> int | None:
    return min((each for each in (a, b) if each is not None), default=None)


def _first_lagging(live: Mapping[str, Stream]) -> int | None:
    """Stamp of the first live step at or before which something lagged; None if nothing did."""
    is_late = quality_column(live, 'lagging') != 0
    is_late |= quality_column(live, 'hold_expired') > 0
    return int(live['quality'].stamps[is_late].min()) if is_late.any() else None


def _held_stamps(live: Mapping[str, Stream], as_live: dict[str, NDArray]) -> NDArray[np.int64]:
    """Stamps of the steps by which the live node had counted more lagging steps than the bag
    names.
    """
    if 'quality' not in live:
        return np.zeros(0, np.int64)
    known = dict(zip(as_live.get('stamp', ()), as_live.get('hold_expired', ())))
    stamps = live['quality'].stamps
    counts = np.array([known.get(stamp, 0) for stamp in stamps], np.int64)
    return stamps[quality_column(live, 'hold_expired') > counts]
