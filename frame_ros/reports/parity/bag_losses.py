# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that only one of live node and bag had: per stream how many, from when, and which values
rest on them.

Proven are those that the live node's own counts show: more messages taken than the bag has, or lost
by the node itself. Without counts it is not known: a step whose action is not in the bag, or a pose
younger than the newest in the bag, may as well be a fault of the live metrics, and a gap in the
stamps of a regular stream a pause of its publisher.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.received_counts import ReceivedCounts
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.topic_map import used_topics
from frame_ros.core.time import SECOND
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.metrics import REGISTRY, metric_of_field
from frame_ros.metrics.record import CONTROL_STEPS, Lack

# Ages of poses that differ by more than this, s, are of different poses.
SAME_AGE = 1e-6
# A regular stream: this share of its intervals is within so much of the median.
REGULAR_SHARE, REGULAR_WITHIN = 0.9, 0.25
# What a value of a short memory remembers at most: samples, and s.
MEMORY_STEPS, MEMORY = 16, 1.0

# Of any of the other scores, also of those of executed actions and poses, over the episode so far.
OF_SCORES = frozenset(('combined_risk',))
# Fields that forget what was before their window; all others add up over the episode, or begin with
# it as `ot` does.
SHORT = frozenset(
    name
    for entry in REGISTRY.values()
    for name in entry.fields
    if name not in OF_SCORES
    and (entry.of_moments or (entry.has_three_forms and name not in (entry.episode_field, 'ot')))
) | {
    'time', 'is_contact_sensed', 'in_contact', 'in_collision', 'il_last', 'control_rate_now',
    'sequence', 'token_count', 'sample_count', 'vocabulary_size', 'low_pass_cutoff',
}  # fmt: skip
OF_DISTANCE = frozenset(
    ['op', 'rf', 'distance', 'near_zone_time', 'closing_speed', 'time_to_collision']
    + ['moving_distance']
)
OF_CONTROL = frozenset(
    ['step', 'time', 'gaps', 'control_rate', 'control_rate_now', 'control_rate_worst']
)
JOINED = frozenset(('lagging', 'hold_expired'))
TARGETS = frozenset(('object', 'goal', 'grasp', 'contact'))


@dataclass(frozen=True)
class Loss:
    """Messages of one stream that the bag, or the live node, lacks.

    role: as in `Episode.streams`, or a live kind. topic: its name. missing: messages, at least.
    recorded: messages of the episode that are there. begins, ends: (N,) ns, each stretch in which
    they are missed. is_certain: whether the live metrics show it. is_live: whether the bag has
    them, and the live node lost them. is_counted: whether the live node's own counts prove it; else
    a fault of the live metrics may look the same.
    """

    role: str
    topic: str
    missing: int
    recorded: int
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    is_certain: bool = True
    is_live: bool = False
    is_counted: bool = False

    @property
    def first(self) -> int | None:
        """Stamp from which something is missed, ns; None: it is not known."""
        return int(self.begins.min()) if len(self.begins) else None


def roles_of(kind: str, field: str) -> frozenset[str]:
    """The streams that a field of a live kind is computed from."""
    if kind == 'confidence':
        return _roles_of_score(field)
    if field in OF_CONTROL or (kind == 'quality' and field.startswith('a_')):
        return frozenset(('action',))
    if kind == 'efficiency':
        return frozenset(('action', 'inference'))
    if kind == 'safety':
        return frozenset(('action', 'pose', 'proximity' if field in OF_DISTANCE else 'contact'))
    is_of_target = field.startswith('ot') or field in JOINED or field == 'is_grasped'
    return frozenset(('action', 'pose')) | (TARGETS if is_of_target else frozenset())


def _roles_of_score(field: str) -> frozenset[str]:
    entry = metric_of_field('confidence', field)
    if field in OF_SCORES:
        return frozenset(('inference', 'action', 'pose'))
    if entry is None or entry.sampled_at != CONTROL_STEPS:
        return frozenset(('inference',))
    is_of_poses = any(reason.lack == Lack.POSE for reason in entry.reasons)
    return frozenset(('inference', 'action', *(('pose',) * is_of_poses)))


def is_judged(
    kind: str, field: str, stamps: NDArray[np.int64], losses: Iterable[Loss]
) -> NDArray[np.bool_]:
    """(N,) whether samples of a field, by their stamps in order, rest on nothing that only one side
    had."""
    judged = np.ones(len(stamps), bool)
    roles = roles_of(kind, field)
    for loss in losses:
        for begin, end in zip(loss.begins, loss.ends) if loss.role in roles else ():
            first = int(np.searchsorted(stamps, begin))
            last = len(stamps)
            if field in SHORT:
                over = int(np.searchsorted(stamps, end, side='right')) + MEMORY_STEPS
                last = max(over, int(np.searchsorted(stamps, end + int(MEMORY * SECOND))))
            judged[first:last] = False
    return judged


def certain_losses(episode: Episode, live: Mapping[str, Stream]) -> dict[str, Loss]:
    """Role -> what the live metrics of the episode prove that the bag lacks.

    live: kind -> the recorded metrics within the episode.
    """
    losses: dict[str, Loss] = {}
    quality, shown = live.get('quality'), episode.metrics.get('quality')
    if quality is not None and shown and len(shown['stamp']):
        _add_loss(losses, episode, 'action', *_of_actions(quality, shown))
        _add_loss(losses, episode, 'pose', *_of_poses(quality, shown))
    confidence, inferences = live.get('confidence'), episode.streams.get('inference')
    if confidence is not None and inferences is not None:
        lone = np.setdiff1d(confidence.stamps, inferences.stamps)
        _add_loss(losses, episode, 'inference', len(lone), lone)
    for kind in ('quality', 'safety'):
        stream = live.get(kind)
        if stream is not None and 'step' in stream.values and len(stream):
            steps = np.unique(np.asarray(stream.values['step'], np.int64))
            missing = int(steps[-1] - steps[0]) + 1 - len(steps)
            none = np.zeros(0, np.int64)
            if missing:
                losses[kind] = Loss(
                    kind, stream.topic, missing, len(stream), none, none, is_counted=True
                )
    return losses


def counted_losses(episode: Episode, counts: Mapping[str, ReceivedCounts]) -> dict[str, Loss]:
    """Role -> what the bag lacks by the live node's own counts (topic -> counts)."""
    found = {}
    gaps = suspected_losses(episode)
    for role, topic in _counted_roles(episode, counts).items():
        stream = episode.streams.get(role)
        stamps = stream.stamps if stream is not None else np.zeros(0, np.int64)
        last, lacking, is_inside = _lacking(episode, stamps, counts[topic])
        missing = int(lacking[is_inside].sum())
        if missing > 0:
            is_short = is_inside & (lacking > 0)
            stretches = last[:-1][is_short] + 1, last[1:][is_short]
            begins, ends = _narrowed(stretches, stamps, gaps.get(role), bounds_of(episode))
            recorded = len(stamps)
            found[role] = Loss(role, topic, missing, recorded, begins, ends, is_counted=True)
    return found


def _counted_roles(episode: Episode, counts: Mapping[str, ReceivedCounts]) -> dict[str, str]:
    """Role -> topic of the streams that the live node counted, also of those that it used and the
    bag has nothing of.
    """
    used = used_topics(episode.attributes.get('metrics_config', ''))
    lost = {r: topic for r, topic in used.items() if topic in counts and not counts[topic].recorded}
    streams = {role: stream.topic for role, stream in episode.streams.items() if len(stream)}
    return {role: topic for role, topic in (lost | streams).items() if topic in counts}


def _narrowed(
    stretches: tuple[NDArray[np.int64], NDArray[np.int64]],
    stamps: NDArray[np.int64],
    gaps: Loss | None,
    bounds: tuple[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Begins and ends (N,), ns, of the stretches (begins, ends) between two counts in which
    something is missed: between the first and the last recorded (T,) the gaps in the stamps say it
    more closely; before and behind them nothing is there.
    """
    begins, ends = stretches
    if not len(stamps):
        return np.array(bounds[:1], np.int64), np.array(bounds[1:], np.int64)
    is_head, is_tail = begins < stamps.min(), ends > stamps.max()
    begins, ends = np.where(is_head, bounds[0], begins), np.where(is_tail, bounds[1], ends)
    if gaps is None:
        return begins, ends
    outside = is_head | is_tail
    return (
        np.concatenate([begins[outside], gaps.begins]),
        np.concatenate([ends[outside], gaps.ends]),
    )


def unrefuted(
    losses: Mapping[str, Loss], episode: Episode, counts: Mapping[str, ReceivedCounts]
) -> dict[str, Loss]:
    """Those of the losses, without the moments at which the live node's own counts show that the
    bag has exactly the messages that it took: what differs there is no loss."""
    found = {}
    for role, loss in losses.items():
        stream, begins = episode.streams.get(role), loss.begins
        is_open = np.ones(len(begins), bool)
        if stream is not None and stream.topic in counts:
            last, lacking, is_inside = _lacking(episode, stream.stamps, counts[stream.topic])
            if is_inside.any() and not lacking[is_inside].any():
                first, newest = last[:-1][is_inside].min(), last[1:][is_inside].max()
                is_open = (begins <= first) | (begins > newest)
        if is_open.all():
            found[role] = loss
        elif is_open.any():
            missing = min(loss.missing, int(is_open.sum()))
            found[role] = replace(
                loss, missing=missing, begins=begins[is_open], ends=loss.ends[is_open]
            )
    return found


def _lacking(
    episode: Episode, stamps: NDArray[np.int64], counts: ReceivedCounts
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """(N,) stamps of the counts; (N - 1,) what is lacking of the recorded (T,) between them, and
    whether both are within the episode, whose last moments may come too late to be recorded, or
    within what was recorded.
    """
    begin, end = bounds_of(episode)
    first = min(begin, int(stamps.min(initial=begin)))
    newest = max(end - SECOND, int(stamps.max(initial=0)))
    last = counts.last
    is_inside = (last[:-1] >= first) & (last[1:] <= newest)
    return last, counts.lacking(stamps), is_inside


def live_losses(episode: Episode, counts: Mapping[str, ReceivedCounts]) -> list[Loss]:
    """Returns what the live node did not get of the streams of an episode by its own counts (topic
    -> counts): it lost it, or was not connected yet to who published it.
    """
    found = []
    for role, stream in episode.streams.items():
        if stream.topic not in counts or not len(stream):
            continue
        known, newest = counts[stream.topic], int(stream.stamps.max())
        lost = np.diff(known.lost)
        stretches = [
            (int(known.last[i]) + 1, int(known.last[i + 1]), int(lost[i]))
            for i in np.flatnonzero(lost > 0)
        ]
        stretches += known.unheard(stream.stamps, stream.received)
        oldest = int(stream.stamps.min())
        inside = [each for each in stretches if each[0] <= newest and each[1] >= oldest]
        if inside:
            begins, ends, missing = np.array(inside, np.int64).T
            own = Loss(role, stream.topic, int(missing.sum()), len(stream), begins, ends)
            found.append(replace(own, is_counted=True, is_live=True))
    return found


def suspected_losses(episode: Episode) -> dict[str, Loss]:
    """Role -> what gaps in the stamps of a regular stream let suspect, of those that have any."""
    found = {role: _of_gaps(role, stream) for role, stream in episode.streams.items()}
    return {role: loss for role, loss in found.items() if loss is not None}


def _add_loss(
    losses: dict[str, Loss],
    episode: Episode,
    role: str,
    missing: int,
    ends: NDArray[np.int64],
    begins: NDArray[np.int64] | None = None,
) -> None:
    stream = episode.streams.get(role)
    if missing and stream is not None:
        starts = ends if begins is None else begins
        order = np.argsort(starts)
        losses[role] = Loss(role, stream.topic, missing, len(stream), starts[order], ends[order])


def _of_actions(
    quality: Stream, shown: Mapping[str, NDArray]
) -> tuple[int, NDArray[np.int64], NDArray[np.int64]]:
    """Actions by which live made steps that the bag cannot make: how many, and the ends and begins
    of the stretches from the step before to the one behind.
    """
    common, i, j = np.intersect1d(quality.stamps, shown['stamp'], return_indices=True)
    if 'step' not in quality.values or not len(common):
        return 0, common, common
    ahead = np.asarray(quality.values['step'])[i].astype(np.int64) - shown['step'][j]
    most = np.maximum.accumulate(np.maximum(ahead, 0))
    last = quality.stamps[quality.stamps > max(common[-1], shown['stamp'][-1])]
    jumps = np.flatnonzero(np.diff(most, prepend=0) > 0)
    begins = np.where(jumps > 0, common[jumps - 1] + 1, common[jumps])
    missing = int(most[-1]) + len(last)
    return missing, np.concatenate([common[jumps], last]), np.concatenate([begins, last])


def _of_poses(quality: Stream, shown: Mapping[str, NDArray]) -> tuple[int, NDArray[np.int64]]:
    """Poses that live used at its steps and that are newer than the bag's."""
    if 'pose_age' not in quality.values:
        return 0, np.zeros(0, np.int64)
    common, i, j = np.intersect1d(quality.stamps, shown['stamp'], return_indices=True)
    live = np.asarray(quality.values['pose_age'], np.float64)[i]
    offline = np.nan_to_num(np.asarray(shown['pose_age'], np.float64)[j], nan=np.inf)
    steps = common[live < offline - SAME_AGE]
    poses = steps - np.rint(live[live < offline - SAME_AGE] * SECOND).astype(np.int64)
    # The same pose, by two ages, is so to the rounding of the ages.
    return len(np.unique(np.rint(poses / (SAME_AGE * SECOND)))), steps


def _of_gaps(role: str, stream: Stream) -> Loss | None:
    stamps = np.unique(stream.stamps[stream.stamps > 0])
    intervals = np.diff(stamps)
    if len(intervals) < 4:
        return None
    usual = float(np.median(intervals))
    is_usual = np.abs(intervals - usual) <= REGULAR_WITHIN * usual
    if is_usual.mean() < REGULAR_SHARE:
        return None
    whole = np.rint(intervals / usual).astype(np.int64)
    is_gap = (whole >= 2) & (np.abs(intervals - whole * usual) <= REGULAR_WITHIN * usual * whole)
    if not is_gap.any():
        return None
    missing = int((whole[is_gap] - 1).sum())
    begins, ends = stamps[:-1][is_gap] + 1, stamps[1:][is_gap]
    return Loss(role, stream.topic, missing, len(stream), begins, ends, is_certain=False)
