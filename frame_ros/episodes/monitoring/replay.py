# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The verdicts of a halt monitor in a bag, and the same computed again from its recorded inputs.

Each recorded verdict names the messages that it was made of by their stamps. So the same moments
are judged again with the same inputs, whatever the order in which they had arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.contacts import contact_samples, proximity_samples
from frame_ros.confidence.monitor import HaltMonitor, Level, MonitorSample, MonitorVerdict
from frame_ros.core.errors import BagError, FrameRosError
from frame_ros.core.events import Event, EventType
from frame_ros.core.time import SECOND
from frame_ros.episodes.monitoring.settings import MonitorSettings
from frame_ros.metrics.distance_bounds import NEAREST_SEEN, bounded

STATE_TYPE, STATE_TOPIC = 'frame_ros/msg/MonitorState', 'monitor_state'
CONFIG_TOPIC = 'monitor_config'
NAN = float('nan')
NUMBERS = ('confidence', 'threshold', 'completion', 'distance', 'progress', 'expected_duration')
STAMPS = ('score_stamp', 'distance_stamp', 'contact_stamp')
TEXTS = ('episode_id', 'score', 'unavailable')
LISTS = ('causes', 'reasons')
FIELDS = ('header.stamp', 'level', 'in_contact', *NUMBERS, *STAMPS, *TEXTS, *LISTS)
MOST_NAMED = 5  # differences that are kept in words


@dataclass(frozen=True)
class RecordedState:
    """One message of monitor_state; attributes as its fields, stamps in ns."""

    stamp: int
    episode_id: str
    level: int
    score: str
    confidence: float
    threshold: float
    completion: float
    distance: float
    in_contact: bool
    causes: tuple[str, ...]
    reasons: tuple[str, ...]
    score_stamp: int
    distance_stamp: int
    contact_stamp: int
    progress: float
    expected_duration: float
    unavailable: str


@dataclass(frozen=True)
class ReplayedEpisode:
    """The verdicts of one episode, computed again.

    Attributes:
        compared: verdicts of which all inputs are in the bag.
        same: those of them that agree in every field, to the bit.
        lacking: verdicts that could not be computed again, as an input is not in the bag.
        differences: the first of those that differ, in words.
        problem: why nothing could be computed again; '': it could.
    """

    compared: int = 0
    same: int = 0
    lacking: int = 0
    differences: tuple[str, ...] = ()
    problem: str = ''


def read_states(bag: Bag, topic: str) -> list[RecordedState]:
    """Returns the recorded verdicts, by stamp.

    Raises:
        BagError: the topic is of another type, cannot be read, or lacks a field.
    """
    if bag.topics[topic].message_type != STATE_TYPE:
        raise BagError(
            f'{topic} has type {bag.topics[topic].message_type}; {STATE_TYPE} is expected'
        )
    received, columns = bag.columns(topic, FIELDS)
    lists = {f'{name}.count' for name in LISTS}
    missing = [n for n in (*FIELDS, *lists) if n not in columns and n not in LISTS]
    if len(received) and missing:
        raise BagError(f'{topic} lacks {", ".join(sorted(missing))}: of another version')
    levels = {int(level) for level in columns['level']} if len(received) else set()
    if unknown := levels.difference(Level):
        raise BagError(f'{topic} has a verdict of the unknown level {min(unknown)}')
    states = [_state(columns, row) for row in range(len(received))]
    return sorted(states, key=lambda state: state.stamp)


def _state(columns: Mapping[str, NDArray], row: int) -> RecordedState:
    def entries(name: str) -> tuple[str, ...]:
        count = int(columns[f'{name}.count'][row])
        return tuple(str(text) for text in columns[name][row][:count]) if count else ()

    values: dict[str, Any] = {name: str(columns[name][row]) for name in TEXTS}
    values |= {name: float(columns[name][row]) for name in NUMBERS}
    values |= {name: int(columns[name][row]) for name in ('level', *STAMPS)}
    values |= {name: entries(name) for name in LISTS}
    return RecordedState(
        stamp=int(columns['header.stamp'][row]),
        in_contact=bool(columns['in_contact'][row]),
        **values,
    )


def read_monitor_settings(bag: Bag, topic: str) -> list[MonitorSettings]:
    """Returns what the monitor published of itself, in the order in which it came into force.

    Raises:
        FrameRosError: the topic is not in the bag, or cannot be read.
    """
    if topic not in bag.topics:
        raise BagError(f'{topic} is not in the bag')
    found = [MonitorSettings.from_json(message.data) for _, message in bag.messages(topic)]
    return sorted(found, key=lambda settings: settings.since)


class MonitorInputs:
    """The recorded inputs of a monitor, by their stamps (ns).

    Raises:
        BagError: one of its topics cannot be read.
    """

    def __init__(self, bag: Bag, settings: MonitorSettings) -> None:
        scores, topics = settings.options.scores, settings.topics
        bound = settings.options.distance_bound
        fields = ('distance',) if bound == NEAREST_SEEN else ('distance', 'unobserved_distance')
        self._scores = _by_stamp(bag, topics.get('confidence', ''), scores, _rows(scores))
        self._distances = _by_stamp(
            bag, topics.get('proximity', ''), fields,
            lambda columns: [bounded(*pair, bound) for pair in proximity_samples(columns)],
        )  # fmt: skip
        self._contacts = _by_stamp(
            bag, topics.get('contact', ''), ('in_contact', 'in_collision', 'force', 'unavailable'),
            lambda columns: [sample[0] for sample in contact_samples(columns)],
        )  # fmt: skip

    def sample(self, state: RecordedState, before: int) -> MonitorSample | None:
        """Returns what a verdict was made of; None: a part of it is not in the bag.

        before: score_stamp of the verdict before it.
        """
        is_new = state.score_stamp not in (0, before)
        is_there = (
            (not is_new or state.score_stamp in self._scores)
            and state.distance_stamp in (0, *self._distances.keys() & {state.distance_stamp})
            and state.contact_stamp in (0, *self._contacts.keys() & {state.contact_stamp})
        )
        if not is_there:
            return None
        return MonitorSample(
            stamp=state.stamp,
            scores=self._scores[state.score_stamp] if is_new else None,
            scores_stamp=state.score_stamp if is_new else 0,
            distance=self._distances.get(state.distance_stamp, NAN),
            distance_stamp=state.distance_stamp,
            contact=self._contacts.get(state.contact_stamp),
            contact_stamp=state.contact_stamp,
            progress=state.progress,
            expected_duration=state.expected_duration,
        )


def _rows(names: Sequence[str]) -> Callable[[Mapping[str, NDArray]], list[dict[str, float]]]:
    def rows(columns: Mapping[str, NDArray]) -> list[dict[str, float]]:
        values = [columns[name].tolist() for name in names]
        return [dict(zip(names, row)) for row in zip(*values)]

    return rows


def _by_stamp(
    bag: Bag,
    topic: str,
    fields: Sequence[str],
    values: Callable[[Mapping[str, NDArray]], list[Any]],
) -> dict[int, Any]:
    if topic not in bag.topics or not len(bag.topics[topic]):
        return {}
    received, columns = bag.columns(topic, ('header.stamp', *fields))
    if missing := [name for name in fields if name not in columns]:
        raise BagError(f'{topic} lacks {", ".join(missing)}, which the monitor judged')
    pairs = list(zip(columns['header.stamp'].tolist(), values(columns), strict=True))
    return dict(reversed(pairs))  # of one stamp the first counts, as live


def replay_episode(
    states: Sequence[RecordedState],
    settings: Sequence[MonitorSettings],
    inputs: MonitorInputs,
    start: Event | None,
) -> ReplayedEpisode:
    """Computes the verdicts of one episode again.

    Args:
        states: of the episode, by stamp, all from its first on.
        settings: at least one, in order.
        start: the START event of the episode; None: they are outside an episode.
    """
    first = states[0].stamp
    held = [each for each in settings if each.since <= first] or list(settings[:1])
    changes = [each for each in settings if each.since > first]
    current = held[-1]
    monitor = _started(current, start)
    compared = same = lacking = 0
    differences: list[str] = []
    before = 0
    for state in states:
        while changes and changes[0].since <= state.stamp:
            before_it, current = current, changes.pop(0)
            if current.begun != before_it.begun:
                monitor, before = _started(current, start), 0
            else:
                monitor.change(current.options)
        sample = inputs.sample(state, before)
        before = state.score_stamp
        if sample is None:
            lacking += 1
            continue
        found = _difference(state, monitor.update(sample))
        compared += 1
        same += not found
        if found and len(differences) < MOST_NAMED:
            differences.append(f'{(state.stamp - first) / SECOND:.3f} s: {found}')
    return ReplayedEpisode(compared, same, lacking, tuple(differences))


def _started(settings: MonitorSettings, start: Event | None) -> HaltMonitor:
    """Returns a monitor in the episode, which knows nothing of it yet."""
    monitor = settings.make()
    if start is not None:
        monitor.start(start.stamp)
    return monitor


def _difference(state: RecordedState, verdict: MonitorVerdict) -> str:
    """Returns in words how a recorded verdict differs; '': it does not."""
    pairs: dict[str, tuple[Any, Any]] = {
        'score': (state.score, verdict.score),
        'confidence': (state.confidence, verdict.value),
        'threshold': (state.threshold, verdict.threshold),
        'completion': (state.completion, verdict.completion),
        'distance': (state.distance, verdict.distance),
        'in_contact': (state.in_contact, bool(verdict.in_contact)),
    }
    if not state.unavailable:  # then the level says that nothing can be judged
        reasons = tuple(reason.text for reason in verdict.reasons)
        causes = tuple(str(reason.cause.value) for reason in verdict.reasons)
        pairs |= {
            'level': (state.level, int(verdict.level)),
            'causes': (state.causes, causes),
            'reasons': (state.reasons, reasons),
        }
    return '; '.join(
        f'{name} was {live}, is {again}'
        for name, (live, again) in pairs.items()
        if live != again and not (live != live and again != again)
    )


def replay_monitor(
    bag: Bag, namespace: str, episode_id: str, events: Sequence[Event]
) -> tuple[list[RecordedState], ReplayedEpisode] | None:
    """Returns the recorded verdicts of an episode, and their comparison with those computed again.

    Args:
        namespace: of the robot, '' for the root.
        events: of the episode.

    Returns:
        None if the bag has no verdict of the episode.

    Raises:
        BagError: monitor_state cannot be read.
    """
    topic = f'{namespace}/{STATE_TOPIC}'
    if topic not in bag.topics or not len(bag.topics[topic]):
        return None
    states = [state for state in read_states(bag, topic) if state.episode_id == episode_id]
    if not states:
        return None
    if 'snapshot_of' in bag.metadata:
        return states, ReplayedEpisode(problem='a snapshot begins within its episode')
    start = next((e for e in events if e.type is EventType.START), None)
    try:
        settings = read_monitor_settings(bag, f'{namespace}/{CONFIG_TOPIC}')
        if not settings:
            raise BagError(f'{namespace}/{CONFIG_TOPIC} has no messages')
        inputs = MonitorInputs(bag, settings[-1])
        if start is None:
            raise BagError('the START of the episode is not in the bag')
        return states, replay_episode(states, settings, inputs, start)
    except FrameRosError as error:
        return states, ReplayedEpisode(problem=str(error))
