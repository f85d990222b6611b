# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes of bags and rollouts as calibration takes them."""

from __future__ import annotations

from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.contacts import contact_samples
from frame_ros.bags.streams.form import Stream
from frame_ros.confidence.fingerprint import SETUP_FIELDS, Fingerprint
from frame_ros.confidence.samples import TOLERANCE
from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.confidence.scores import SCORES
from frame_ros.core.events import Outcome
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import interventions_of
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.processing import settings_of
from frame_ros.episodes.recorded.robot import known_robot
from frame_ros.metrics.families.confidence import NO_CHOSEN_TOKENS
from frame_ros.robots.profiles import ROBOT_NAMES

# A trial that ran out of time did not succeed, as in the papers' benchmarks.
OUTCOMES = {Outcome.SUCCESS: True, Outcome.FAILURE: False, Outcome.TIMEOUT: False}
NO_OUTCOME = {
    Outcome.UNKNOWN: 'its outcome was not recorded',
    Outcome.STOPPED: 'it was stopped before it could succeed or fail',
}

# Options of the metrics that scores depend on.
SCORE_OPTIONS = tuple(
    dict.fromkeys(name for score in SCORES.values() for name in score.metric.options)
)


def score_episode(episode: Episode, name: str = '') -> ScoreEpisode:
    """Returns the scores of an episode's inferences, with its outcome.

    Scores are those that the metric pipeline computes, of the bag or of a rollout. An episode in
    which an operator drove has no outcome: it is not the policy's alone.

    Args:
        episode: with its metrics.
        name: among the episodes of a calibration; '' for its id.
    """
    begin, end = bounds_of(episode)
    found = episode.metrics.get('confidence', {})
    stamps = np.asarray(found.get('stamp', ()), np.int64)
    outcome, note = _outcome(episode)
    settings = settings_of(episode)
    inference = _at(episode.streams.get('inference'), stamps)
    return ScoreEpisode(
        name=name or episode.episode_id or episode.path.name,
        outcome=outcome,
        duration=(end - begin) / SECOND,
        times=np.maximum(stamps - begin, 0) / SECOND,
        scores={each: _finite(found.get(each), stamps) for each in SCORES},
        distance=_distances(episode, begin, stamps),
        contact=_contacts(episode, begin, stamps),
        dimensions=_probabilities(inference, 'dimension_confidence'),
        temperatures=_grid(inference),
        at_temperature=_probabilities(inference, 'at_temperature'),
        dimensions_at_temperature=_probabilities(inference, 'dimension_at_temperature'),
        **_features(inference),
        confidence_note=_confidence_note(inference),
        begin=begin,
        note=note,
        attributes={**episode.attributes},
        fingerprint=_fingerprint(episode, inference, settings),
        options={name: getattr(settings, name) for name in SCORE_OPTIONS},
    )


def _fingerprint(
    episode: Episode, inference: Stream | None, settings: PipelineOptions
) -> Fingerprint:
    """Returns the setup of the first inference, with the instructions of all of them, and of the
    episode, as far as it was recorded.
    """
    values = {} if inference is None else inference.values
    first = {name: values[name][0] for name in SETUP_FIELDS if name in values}
    given = {str(text) for text in values.get('instruction', ())} - {''}
    instructions = given or {episode.attributes.get('instruction', '')} - {''}
    found = Fingerprint.of_inference(
        str(first.get('policy_fingerprint', '')),
        '',
        [str(name) for name in first.get('action_names', ())],
    )
    return attrs.evolve(
        found,
        robot=_robot_name(episode),
        instructions=tuple(sorted(instructions)),
        confidence_aggregate=settings.confidence_aggregate,
    )


def _robot_name(episode: Episode) -> str:
    """Returns the name of the robot's profile, which a bag may name by its file; '': not known."""
    named = episode.attributes.get('robot', '')
    if named in ('', *ROBOT_NAMES):
        return named
    robot = known_robot(episode)
    return robot.name if robot is not None else ''


def _outcome(episode: Episode) -> tuple[bool | None, str]:
    if not episode.streams:
        return None, '; '.join(map(str, episode.problems)) or 'nothing of it was recorded'
    if episode.outcome not in OUTCOMES:
        return None, NO_OUTCOME.get(episode.outcome, NO_OUTCOME[Outcome.UNKNOWN])
    seconds = interventions_of(episode).seconds
    if seconds > 0.0:
        return None, f'an operator drove {seconds:.1f} s of it'
    return OUTCOMES[episode.outcome], ''


def _finite(column: Any, stamps: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns a column with NaN where it has no finite value; all NaN without a column."""
    if column is None:
        return np.full(len(stamps), np.nan)
    values = np.asarray(column, np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def _at(stream: Stream | None, stamps: NDArray[np.int64]) -> Stream | None:
    """Returns the samples that are newest at each stamp; None if a stamp has none."""
    if stream is None or not len(stamps):
        return None
    places, is_known = _newest(stream, stamps, int(stamps[0]))
    return stream.select(places) if is_known.all() else None


def _newest(
    stream: Stream, stamps: NDArray[np.int64], begin: int
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Returns the place of the sample newest at each stamp, and whether there is one since `begin`
    (ns): at the START of an episode the live metrics forget what was before.
    """
    order = np.argsort(stream.stamps, kind='stable')
    before = np.searchsorted(stream.stamps[order], stamps, side='right') - 1
    places = order[np.maximum(before, 0)]
    return places, (before >= 0) & (stream.stamps[places] >= begin)


def _distances(episode: Episode, begin: int, stamps: NDArray[np.int64]) -> NDArray[np.float64]:
    stream = episode.streams.get('proximity')
    if stream is None:
        return np.full(len(stamps), np.nan)
    # An infinite one is no measurement: the metrics drop it, and keep what they had.
    stream = stream.select(np.flatnonzero(~np.isinf(stream.values['distance'])))
    if not len(stream.stamps):
        return np.full(len(stamps), np.nan)
    places, is_known = _newest(stream, stamps, begin)
    return np.where(is_known, stream.values['distance'][places], np.nan)


def _contacts(episode: Episode, begin: int, stamps: NDArray[np.int64]) -> NDArray[np.bool_]:
    stream = episode.streams.get('contact')
    if stream is None:
        return np.zeros(len(stamps), bool)
    places, is_known = _newest(stream, stamps, begin)
    touches = np.array([bool(sample[0]) for sample in contact_samples(stream.values)])
    return touches[places] & is_known


def _stacked(inference: Stream | None, name: str) -> NDArray[np.float64] | None:
    """Returns the arrays of n inferences as one, (n, ...); None if there are none, or their shapes
    differ; the rows of inferences that have none are NaN.
    """
    if inference is None or name not in inference.values:
        return None
    rows = [np.asarray(row, np.float64) for row in inference.values[name]]
    shapes = {row.shape for row in rows if row.size}
    if len(shapes) != 1:
        return None
    (shape,) = shapes
    return np.stack([row if row.size else np.full(shape, np.nan) for row in rows])


def _probabilities(inference: Stream | None, name: str) -> NDArray[np.float64] | None:
    """Returns arrays as `_stacked`; NaN of inferences with values outside of 0 and 1, which live
    recalibration refuses too.
    """
    rows = _stacked(inference, name)
    if rows is None:
        return None
    is_wrong = (rows < -TOLERANCE) | (rows > 1.0 + TOLERANCE)
    rows[is_wrong.reshape(len(rows), -1).any(axis=1)] = np.nan
    return rows


def _confidence_note(inference: Stream | None) -> str:
    """Returns what is wrong with the inferences' tokens; '' if nothing is, or there are none."""
    if inference is None or not np.any(inference.values.get('token_count', 0)):
        return ''
    problems = [str(text) for text in inference.values.get('confidence_problem', ()) if text]
    if problems:
        return problems[0]
    chosen = np.asarray(inference.values.get('confidence_mean', ()), np.float64)
    return '' if np.isfinite(chosen).any() else NO_CHOSEN_TOKENS.text


def _features(inference: Stream | None) -> dict[str, Any]:
    """Returns the features of n inferences and their source; why there are none if they are of
    several sources or widths.
    """
    if inference is None or 'features' not in inference.values:
        return {}
    widths = sorted({len(row) for row in inference.values['features']} - {0})
    sources = sorted({str(source) for source in inference.values['feature_source']} - {''})
    if len(widths) > 1:
        return {'feature_note': f'their number changes within an episode: {widths}'}
    if len(sources) > 1:
        return {'feature_note': f'they are of several sources within an episode: {sources}'}
    rows = _stacked(inference, 'features')
    return {} if rows is None else {'features': rows, 'feature_source': ''.join(sources)}


def _grid(inference: Stream | None) -> NDArray[np.float64] | None:
    """Returns the temperatures (K,), increasing from above 0, that all inferences share; None if
    there are no such.
    """
    rows = _stacked(inference, 'temperatures')
    if rows is None or not np.isfinite(rows).any(axis=1).any():
        return None
    known = rows[np.isfinite(rows).all(axis=1)]
    increases = known[0, 0] > 0.0 and (np.diff(known[0]) > 0.0).all()
    return known[0] if increases and (known == known[0]).all() else None
