# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of whole episodes against their references: ATE and RTE as a reader wants them matched and
aligned, and DTW.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from frame_ros.core.errors import FrameRosError, ValueRangeError
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.processing import settings_of
from frame_ros.episodes.reference import Reference
from frame_ros.episodes.reference_loading import reference_of
from frame_ros.metrics import ReferenceErrors, dtw_distance, find_breaks, reference_errors
from frame_ros.metrics.error_options import ErrorOptions
from frame_ros.metrics.record import NO_REFERENCE

ONLY_OWN = 'the episode is its own only reference'


@dataclass(frozen=True)
class EpisodeErrors:
    """Errors of one episode, m; NaN where unavailable.

    ate, rte, dtw: the least over all references; nearest: the place among them of the one with the
    least ATE, -1 if there is none; origin: where that one comes from. match, align, rte_variant:
    how. reason: why there are none; rte_reason, dtw_reason: why there is no RTE, no DTW.
    is_own: whether the episode is among its own references, where it does not count.
    """

    ate: float = math.nan
    rte: float = math.nan
    dtw: float = math.nan
    nearest: int = -1
    origin: str = ''
    match: str = 'time'
    align: str = 'none'
    reason: str = ''
    dtw_reason: str = ''
    is_own: bool = False
    rte_variant: str = 'paper'
    rte_reason: str = ''


def episode_errors(episode: Episode, options: ErrorOptions) -> EpisodeErrors:
    """The errors of an episode against the references it was read with, else those recorded.

    Over the TCP positions at its control steps, as recorded: no low-pass filter.
    """
    settings = settings_of(episode)
    others = {i: r for i, r in enumerate(settings.references) if not _is_of(r, episode)}
    is_own = episode.is_own_reference or len(others) < len(settings.references)
    if not others:
        why = ONLY_OWN if is_own else NO_REFERENCE.text
        return EpisodeErrors(reason=why, dtw_reason=why, is_own=is_own)
    match = options.match or settings.reference_match
    try:
        driven = reference_of(episode)
        check_frames(driven, others.values())
        found = _errors(driven, list(others.values()), match, options, settings)
        rte, rte_reason = float(found.rte), ''
        if options.rte == 'evo':
            rte, rte_reason = _evo_rte(driven, list(others.values()), match, options, settings)
    except FrameRosError as error:
        return EpisodeErrors(reason=str(error), dtw_reason=str(error), is_own=is_own)
    nearest = list(others)[found.ate_reference]
    dtw, dtw_reason = _least_dtw(driven, list(others.values()))
    origin = settings.references[nearest].origin
    return EpisodeErrors(
        float(found.ate), rte, dtw, nearest, origin, match, options.align,
        dtw_reason=dtw_reason, is_own=is_own, rte_variant=options.rte, rte_reason=rte_reason,
    )  # fmt: skip


def _errors(
    driven: Reference,
    references: Sequence[Reference],
    match: str,
    options: ErrorOptions,
    settings: PipelineOptions,
    **poses: Any,
) -> ReferenceErrors:
    """poses: what `reference_errors` takes of a definition that compares poses."""
    positions, stamps = np.array(driven.positions), np.array(driven.stamps)
    pairs = [(np.array(r.stamps), np.array(r.positions)) for r in references]
    breaks = find_breaks(stamps, settings.gap)
    return reference_errors(
        positions, stamps, pairs, match, options.align, settings.rte_delta, breaks, **poses
    )


def _evo_rte(
    driven: Reference,
    references: Sequence[Reference],
    match: str,
    options: ErrorOptions,
    settings: PipelineOptions,
) -> tuple[float, str]:
    """The least RTE as evo defines it, m, over the references with orientations; why none."""
    known = [r for r in references if r.orientations]
    if not known or not driven.orientations:
        of_what = 'the references' if driven.orientations else 'the TCP poses'
        return math.nan, f'orientations of {of_what} are not known, which evo compares'
    poses: dict[str, Any] = {
        'rte_variant': 'evo',
        'orientations': np.array(driven.orientations),
        'reference_orientations': [np.array(r.orientations) for r in known],
    }
    return float(_errors(driven, known, match, options, settings, **poses).rte), ''


def check_frames(driven: Reference, references: Iterable[Reference]) -> None:
    """Raises ValueRangeError if a reference is in another frame than the trajectory."""
    frames = {r.frame for r in references if r.frame} - {driven.frame}
    if frames and driven.frame:
        others = ', '.join(map(repr, sorted(frames)))
        raise ValueRangeError(
            f'references are in {others}; that of the TCP poses, {driven.frame!r}, is expected'
        )


def _is_of(reference: Reference, episode: Episode) -> bool:
    """Returns whether the reference was made from this very episode."""
    is_named = reference.origin.startswith(f'{episode.episode_id or "nameless"} (')
    return is_named and is_from_bag(reference, episode.path)


def is_from_bag(reference: Reference, bag: Path) -> bool:
    """Returns whether the reference was made from an episode of this bag."""
    _, _, path = reference.origin.rstrip(')').partition(' (')
    return bool(path) and Path(path).resolve() == bag.resolve()


def _least_dtw(driven: Reference, others: Sequence[Reference]) -> tuple[float, str]:
    """The least DTW distance over the references, and why there is none."""
    positions = np.array(driven.positions)
    try:
        return min(dtw_distance(positions, np.array(r.positions)) for r in others), ''
    except FrameRosError as error:
        return math.nan, str(error)
