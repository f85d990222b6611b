# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Time that inference and metrics take: VLA-UQ, RQ4 and table VIII."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.confidence.inference_uncertainty import TOKEN_FIELDS, token_uncertainty
from frame_ros.core.errors import BagError, FrameRosError
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.recorded.actions import actions_of
from frame_ros.evaluation.policy_labels import policy_labels
from frame_ros.metrics import (
    ActionInstability,
    ExecutionVariability,
    OptimalTrajectoryDifference,
    RMSJerk,
    TCPInstability,
)

Array = NDArray[np.float64]
Update = Callable[[], object]
# Updates that are timed of each family, after those that warm up.
MOST_UPDATES, WARM_UP = 1000, 20


@dataclass(frozen=True)
class InferenceTime:
    """Latency of a policy's inferences, s.

    Attributes:
        samples: chunks that were sampled in each; 0: one, without sampling.
        has_tokens: whether token statistics were reduced in each.
        count: inferences.
        mean, deviation: of the latency, s; the standard deviation has ddof 1.
    """

    policy: str
    samples: int
    has_tokens: bool
    count: int
    mean: float
    deviation: float


@dataclass(frozen=True)
class MetricTime:
    """Time of one update of a family of metrics, measured on this computer with recorded data, s.

    Attributes:
        count: updates; 0: `remark` says what is lacking.
    """

    family: str
    metrics: tuple[str, ...]
    count: int
    mean: float = float('nan')
    deviation: float = float('nan')
    remark: str = ''


def inference_times(episodes: Sequence[Episode]) -> list[InferenceTime]:
    """Returns the latencies by policy, number of samples and tokens: what sampling costs is the
    difference of the rows of one policy.
    """
    found: dict[tuple[str, int, bool], list[float]] = {}
    for episode, policy in zip(episodes, policy_labels(episodes)):
        stream = episode.streams.get('inference')
        if stream is None or not len(stream):
            continue
        names = ('latency', 'sample_count', 'token_count')
        for latency, samples, tokens in zip(*(stream.values[name].tolist() for name in names)):
            if np.isfinite(latency):
                key = (policy, int(samples), tokens > 0)
                found.setdefault(key, []).append(float(latency))
    return [InferenceTime(*key, *_moments(values)) for key, values in found.items()]


def metric_times(episodes: Sequence[Episode]) -> list[MetricTime]:
    """Returns what an update of each family of VLA-UQ's metrics takes, with the recorded data."""
    rows = []
    for family, metrics, updates_of, lack in FAMILIES:
        seconds = _timed(updates_of, episodes)
        if seconds:
            rows.append(MetricTime(family, metrics, *_moments(seconds)))
        else:
            rows.append(MetricTime(family, metrics, 0, remark=lack))
    return rows


def _moments(values: list[float]) -> tuple[int, float, float]:
    deviation = float(np.std(values, ddof=1)) if len(values) > 1 else float('nan')
    return len(values), float(np.mean(values)), deviation


def _timed(updates_of: Callable[[Episode], Iterator[Update]], episodes: Sequence[Episode]) -> list:
    updates = (update for episode in episodes for update in updates_of(episode))
    seconds = []
    for update in islice(updates, MOST_UPDATES + WARM_UP):
        begin = time.perf_counter()
        try:
            update()
        except FrameRosError:  # damaged data: the time of a refusal is not that of an update
            continue
        seconds.append(time.perf_counter() - begin)
    return seconds[WARM_UP:] or seconds


def _token_updates(episode: Episode) -> Iterator[Update]:
    columns = _inference_columns(episode, (*TOKEN_FIELDS, 'vocabulary_size'))
    for row in range(len(columns.get('vocabulary_size', ()))):
        size = int(columns['vocabulary_size'][row])
        if size:
            statistics = {
                name: columns[name][row][: int(columns[f'{name}.count'][row])]
                for name in TOKEN_FIELDS
            }
            yield partial(token_uncertainty, statistics, size)


def _sample_updates(episode: Episode) -> Iterator[Update]:
    names = ('samples', 'sample_count', 'horizon', 'action_dimension')
    columns = _inference_columns(episode, names)
    variability = ExecutionVariability()
    for row in range(len(columns.get('sample_count', ()))):
        shape = tuple(int(columns[name][row]) for name in names[1:])
        samples = np.asarray(columns['samples'][row], np.float64)[: math.prod(shape)]
        is_whole = 0 < samples.size == math.prod(shape)
        if shape[0] > 1 and is_whole and np.isfinite(samples).all():
            yield partial(variability.update, samples.reshape(shape))


def _inference_columns(episode: Episode, names: Sequence[str]) -> dict[str, NDArray]:
    """Raw fields of the recorded inferences; empty without a bag or a field."""
    stream, bag = episode.streams.get('inference'), episode.open_bag()
    if stream is None or bag is None or not stream.topic:
        return {}
    try:
        return bag.columns(stream.topic, list(names))[1]
    except BagError:
        return {}


def _action_updates(episode: Episode) -> Iterator[Update]:
    try:
        positions = actions_of(episode).positions
    except BagError:
        return
    each = [ActionInstability(order) for order in (1, 2, 3)]
    for row in positions.tolist():
        yield partial(_update_all, each, row)


def _update_all(each: Sequence[Any], values: list[float]) -> None:
    for one in each:
        one.update(values)


def _poses(episode: Episode) -> tuple[NDArray[np.int64], Array]:
    stream = episode.streams.get('pose')
    if stream is None or len(stream) < 2:
        return np.empty(0, np.int64), np.empty((0, 3))
    positions = np.asarray(stream.values['position'], np.float64)
    is_later = np.diff(stream.stamps, prepend=stream.stamps[0] - 1) > 0
    is_used = np.isfinite(positions).all(axis=1) & is_later
    return stream.stamps[is_used], positions[is_used]


def _tcp_updates(episode: Episode) -> Iterator[Update]:
    each = [TCPInstability(order) for order in (1, 2, 3)]
    for position in _poses(episode)[1].tolist():
        yield partial(_update_all, each, position)


def _jerk_updates(episode: Episode) -> Iterator[Update]:
    stamps, positions = _poses(episode)
    jerk = RMSJerk()
    steps = np.diff(stamps, prepend=stamps[:1] - SECOND) / SECOND
    for position, step in zip(positions.tolist(), steps.tolist()):
        if step > 0:
            yield partial(jerk.update, position, step)


def _progress_updates(episode: Episode) -> Iterator[Update]:
    stamps, positions = _poses(episode)
    target = episode.streams.get('object')
    if target is None or not len(target):
        return
    progress = OptimalTrajectoryDifference()
    newest = np.searchsorted(target.stamps, stamps, side='right') - 1
    places = np.asarray(target.values['position'], np.float64)[np.maximum(newest, 0)]
    for position, place in zip(positions.tolist(), places.tolist()):
        if np.isfinite(place).all():
            yield partial(progress.update, position, place)


# (name, metrics, updates of an episode, what is lacking without any), as table VIII groups them.
FAMILIES: tuple[tuple[str, tuple[str, ...], Callable[[Episode], Iterator[Update]], str], ...] = (
    ('TB', ('tb_tp', 'tb_pcs', 'tb_d', 'tb_e'), _token_updates, 'no token statistics in a bag'),
    ('AI', ('a_pi', 'a_vi', 'a_ai'), _action_updates, 'no joint commands'),
    ('EV', ('ev',), _sample_updates, 'no sampled chunks in a bag'),
    ('TCP', ('tcp_pi', 'tcp_vi', 'tcp_ai'), _tcp_updates, 'no end-effector poses'),
    ('TI', ('ti',), _jerk_updates, 'no end-effector poses'),
    ('OT', ('ot',), _progress_updates, 'no pose of the object'),
)
