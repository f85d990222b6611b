# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags to episodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.bag_reader import Bag, find_bags
from frame_ros.episodes.data import Episode, Event, EventType, Stream
from frame_ros.episodes.streams import (
    LIVE_TOPICS,
    ROLE_TOPICS,
    SECOND,
    TopicMap,
    read_events,
    read_stream,
)
from frame_ros.errors import BagError, FrameRosError, RobotError

GAP_FACTOR = 5.0
LATE = 0.25
STOPPED = 0.5
LEAST_REGULAR = 5
REGULAR_FACTOR = 3.0
REGULAR_SHARE = 0.75
NEEDED = ('pose', 'action')
SETTINGS_TOPIC = 'metrics_config'
NO_MESSAGES = 'the bag holds no messages'


def read_episodes(
    path: str | Path,
    *,
    namespace: str | None = None,
    topics: Mapping[str, str] | None = None,
    robot: str | None = None,
) -> Iterator[Episode]:
    """Yields the episodes of a bag, or of each bag in a folder in the order of their names, with
    their metrics.

    A bag normally holds one episode; START and END events divide one that holds more. Without
    events the whole bag is one. A bag in a folder of bags that cannot be read gives an episode
    without streams whose `problems` say why.

    Args:
        path: a bag's folder (also `.partial`), an .mcap or .db3 file, or a folder of bags.
        namespace: the robot's namespace; None: the only one, or the one with most topics (others in
        `problems`).
        topics: role ('pose', 'action', 'contact', ...) or live kind ('quality', ...) -> absolute
        topic.
        robot: name or URDF by which poses are computed from joint states where none were recorded.

    Raises:
        BagError: there is no bag at the path, or the only one cannot be read.
    """
    from frame_ros.episodes.processing import process_episode

    bags = find_bags(path)
    for bag_path in bags:
        try:
            bag = Bag(bag_path)
        except BagError as error:
            if len(bags) == 1:
                raise
            yield Episode(bag_path, bag_path.name, {}, [], {}, {}, problems=[str(error)])
            continue
        for episode in _episodes_of(bag, namespace, topics, robot):
            process_episode(episode)
            yield episode


def read_bag(
    bag: Bag,
    *,
    namespace: str | None = None,
    topics: Mapping[str, str] | None = None,
    robot: str | None = None,
) -> list[Episode]:
    """Returns the episodes of an open bag as `read_episodes` does, without their metrics."""
    return list(_episodes_of(bag, namespace, topics, robot))


def _episodes_of(
    bag: Bag, namespace: str | None, topics: Mapping[str, str] | None, robot: str | None
) -> Iterator[Episode]:
    topic_map = TopicMap(bag, namespace, topics)
    streams, live = _read_streams(bag, topic_map)
    event_topic = topic_map.find('event')
    events = read_events(bag, event_topic) if event_topic else []
    _note_given(bag, namespace, topics)
    _note_topics(bag, topic_map, streams)
    _add_settings(bag, topic_map)
    if 'pose' not in streams:
        _add_computed_pose(bag, streams, robot or bag.metadata.get('robot'))
    for part in _divide(bag, events):
        yield _episode(bag, part, streams, live)


def _read_streams(bag: Bag, topic_map: TopicMap) -> tuple[dict[str, Stream], dict[str, Stream]]:
    found: list[dict[str, Stream]] = []
    for roles in (ROLE_TOPICS, LIVE_TOPICS):
        streams: dict[str, Stream] = {}
        for role in roles:
            topic = topic_map.find(role)
            if topic is None or role == 'event':
                continue
            try:
                streams[role] = read_stream(bag, role, topic)
            except BagError as error:
                bag.problems.append(str(error))
        found.append(streams)
    return found[0], found[1]


def _note_given(bag: Bag, namespace: str | None, topics: Mapping[str, str] | None) -> None:
    """What the caller named and the bag does not have."""
    for role, topic in (topics or {}).items():
        if topic not in bag.topics:
            bag.report(f'{topic}, given as {role}, is not in the bag')
    prefix = f'/{namespace.strip("/")}/' if namespace and namespace.strip('/') else '/'
    if bag.topics and not any(name.startswith(prefix) for name in bag.topics):
        bag.report(f'no topic of the bag is in the namespace {prefix.rstrip("/")}')


def _note_topics(bag: Bag, topic_map: TopicMap, streams: Mapping[str, Stream]) -> None:
    others = [n or '/' for n in topic_map.namespaces if n != topic_map.namespace]
    if others:
        bag.problems.append(
            f'the bag holds several robots: this is {topic_map.namespace or "/"}; '
            f'others: {", ".join(others)}'
        )
    if bag.message_count == 0:
        bag.problems.append(NO_MESSAGES)
        return
    if not streams:
        bag.problems.append(
            f'none of the known topics is in the bag; it has {", ".join(sorted(bag.topics))}'
        )
        return
    for role in NEEDED:
        if role not in streams:
            bag.problems.append(f'no {role}: {" or ".join(ROLE_TOPICS[role])} was not recorded')


def _add_settings(bag: Bag, topic_map: TopicMap) -> None:
    """The settings that the metrics node published become metadata."""
    topic = f'{topic_map.namespace}/{SETTINGS_TOPIC}'
    if topic not in bag.topics or bag.topics[topic].message_type != 'std_msgs/msg/String':
        return
    for _, message in bag.messages(topic):
        bag.metadata[SETTINGS_TOPIC] = message.data


def _add_computed_pose(bag: Bag, streams: dict[str, Stream], robot: str | None) -> None:
    """Poses from joint states by forward kinematics, where the robot is known and every joint is
    there."""
    joints = streams.get('joint_states')
    if joints is None or not robot or len(joints) == 0:
        return
    try:
        streams['pose'] = _computed_pose(joints, robot)
    except (ImportError, FrameRosError) as error:
        bag.problems.append(f'poses were not recorded and could not be computed: {error}')
        return
    bag.problems.append(f'poses were not recorded: computed from {joints.topic} for {robot}')


def _computed_pose(joints: Stream, robot: str) -> Stream:
    from frame_ros.robots import load_robot

    model = load_robot(robot)
    names, positions = joints.values['names'], joints.values['positions']
    first = [str(name) for name in names[0]]
    missing = [name for name in model.joint_names if name not in first]
    if missing:
        raise RobotError(f'{joints.topic} lacks {", ".join(missing)}; it has {", ".join(first)}')
    order = [first.index(name) for name in model.joint_names]
    is_usable = (names == names[0]).all(axis=1) & np.isfinite(positions[:, order]).all(axis=1)
    poses = [model.forward(row) for row in positions[is_usable][:, order]]
    return Stream(
        joints.topic,
        'geometry_msgs/msg/PoseStamped',
        joints.stamps[is_usable],
        joints.received[is_usable],
        {
            'position': np.array([position for position, _ in poses]).reshape(-1, 3),
            'orientation': np.array([orientation for _, orientation in poses]).reshape(-1, 4),
        },
    )


# -- several episodes in one bag -------------------------------------------------------


@dataclass
class _Part:
    """One episode's share of a bag: its events, and the stamps [begin, end) of its samples;
    None: no bound."""

    episode_id: str
    events: list[Event]
    begin: int | None = None
    end: int | None = None
    problems: tuple[str, ...] = ()


def _divide(bag: Bag, events: list[Event]) -> list[_Part]:
    known = bag.metadata.get('episode_id', '')
    starts = list({e.episode_id: e for e in events if e.type is EventType.START}.values())
    own = [start for start in starts if known and start.episode_id == known]
    starts = own or starts
    if not starts:
        problem = 'no START event: the whole bag is taken as one episode'
        return [_Part(known or bag.name, events, problems=(problem,))]
    parts: list[_Part] = []
    for number, start in enumerate(starts):
        following = starts[number + 1].stamp if number + 1 < len(starts) else None
        own_events = [e for e in events if _is_of(e, start, following)]
        ends = [e.stamp for e in own_events if e.type is EventType.END]
        problems = () if ends else ('no END event: the end of the data is taken as its end',)
        previous = parts[-1].events[-1].stamp + 1 if parts else None
        parts.append(_Part(start.episode_id, own_events, previous, following, problems))
    return parts


def _is_of(event: Event, start: Event, following: int | None) -> bool:
    if event.episode_id:
        return event.episode_id == start.episode_id
    return start.stamp <= event.stamp and (following is None or event.stamp < following)


def _episode(
    bag: Bag, part: _Part, streams: Mapping[str, Stream], live: Mapping[str, Stream]
) -> Episode:
    attributes = dict(bag.metadata)
    for event in part.events:
        if event.type is EventType.START:
            attributes.update(event.attributes)
    counts = _recorder_counts(bag)
    return Episode(
        path=bag.path,
        episode_id=part.episode_id,
        attributes=attributes,
        events=part.events,
        streams={role: _cut(stream, part) for role, stream in streams.items()},
        live={kind: _cut(stream, part) for kind, stream in live.items()},
        data_quality=counts,
        problems=[*bag.problems, *part.problems],
        is_truncated=bag.is_truncated,
    )


def _cut(stream: Stream, part: _Part) -> Stream:
    if part.begin is None and part.end is None:
        return stream
    is_inside = np.ones(len(stream), bool)
    if part.begin is not None:
        is_inside &= stream.stamps >= part.begin
    if part.end is not None:
        is_inside &= stream.stamps < part.end
    return Stream(
        stream.topic,
        stream.message_type,
        stream.stamps[is_inside],
        stream.received[is_inside],
        {name: values[is_inside] for name, values in stream.values.items()},
    )


def _recorder_counts(bag: Bag) -> dict[str, int]:
    """What the recorder itself says that it did not get or could not write."""
    counts: dict[str, int] = {}
    for what, why in (('dropped', 'it could not write'), ('lost', 'never reached it')):
        topics = bag.sidecar.get(what)
        if not isinstance(topics, dict) or not topics:
            continue
        counts[f'recorder.{what}'] = sum(int(count) for count in topics.values())
        text = ', '.join(f'{topic}: {count}' for topic, count in topics.items())
        bag.report(f'messages that the recorder says {why}: {text}')
    skipped = bag.sidecar.get('skipped')
    if isinstance(skipped, dict) and skipped:
        counts['recorder.skipped_topics'] = len(skipped)
        text = '; '.join(f'{topic}: {reason}' for topic, reason in skipped.items())
        bag.report(f'topics that were not recorded: {text}')
    return counts


# -- statistics of topics --------------------------------------------------------------


@dataclass(frozen=True)
class TopicStatistics:
    """How regularly a topic came.

    count: messages. rate: Hz, by the median interval; NaN for less than two. gaps: intervals longer
    than 5 times the median. longest_gap: s. late: received more than 0.25 s later after its stamp
    than the median message. backward, duplicate, zero: stamps below, equal to the one before, or
    unset. Topics without header: by receive time.
    has_header: whether the stamps are those of headers. is_regular: at least 5 messages, three
    quarters of the intervals within a factor 3 of the median. silence: s from the last message to
    the end asked for; NaN if none was. is_stopped: regular, and the silence is longer than 0.5 s
    and 5 times the median.
    """

    count: int
    rate: float
    gaps: int
    longest_gap: float
    late: int
    backward: int
    duplicate: int
    zero: int
    has_header: bool = True
    is_regular: bool = False
    silence: float = float('nan')
    is_stopped: bool = False


def topic_statistics(
    source: Episode | Bag | str | Path, begin: int | None = None, end: int | None = None
) -> dict[str, TopicStatistics]:
    """Returns topic -> TopicStatistics for every topic of a bag, in the order of their names.

    begin, end: only messages within are counted, ns; unset stamps are placed by receive time.
    Whether a topic is regular, and its silence, are judged by all messages up to the end.
    """
    if isinstance(source, Episode):
        source = source.path
    bag = source if isinstance(source, Bag) else Bag(source)
    return {
        name: stamp_statistics(*_topic_stamps(bag, name), begin, end)
        for name in sorted(bag.topics)
        if len(bag.topics[name])
    }


def stamp_statistics(
    stamps: NDArray[np.int64],
    received: NDArray[np.int64],
    has_header: bool = True,
    begin: int | None = None,
    end: int | None = None,
) -> TopicStatistics:
    """Returns the statistics of messages of one topic; stamps and received: (T,), ns, in recorded
    order; begin and end as in `topic_statistics`.
    """
    is_set = stamps > 0
    delay = int(np.median((received - stamps)[is_set])) if is_set.any() else 0
    places = np.where(is_set, stamps, received - delay)
    is_before = places <= end if end is not None else np.ones(len(stamps), bool)
    is_inside = is_before & (places >= begin) if begin is not None else is_before
    is_regular, silence, is_stopped = _ending(places[is_before & is_set], end)
    late = (received - stamps)[is_inside & is_set] > delay + LATE * SECOND
    used = stamps[is_inside]
    steps = np.diff(used[used > 0])
    forward = steps[steps > 0]
    typical = float(np.median(forward)) if len(forward) else float('nan')
    return TopicStatistics(
        count=len(used),
        rate=SECOND / typical if len(forward) else float('nan'),
        gaps=int((forward > GAP_FACTOR * typical).sum()) if len(forward) else 0,
        longest_gap=float(forward.max()) / SECOND if len(forward) else float('nan'),
        late=int(late.sum()),
        backward=int((steps < 0).sum()),
        duplicate=int((steps == 0).sum()),
        zero=int((used <= 0).sum()),
        has_header=has_header,
        is_regular=is_regular,
        silence=silence,
        is_stopped=is_stopped,
    )


def _ending(stamps: NDArray[np.int64], end: int | None) -> tuple[bool, float, bool]:
    """is_regular, silence (s), is_stopped of TopicStatistics by the set stamps up to the end."""
    stamps = np.unique(stamps)
    intervals = np.diff(stamps)
    silence = (end - int(stamps[-1])) / SECOND if end is not None and len(stamps) else float('nan')
    if len(stamps) < LEAST_REGULAR:
        return False, silence, False
    typical = float(np.median(intervals))
    is_like = (intervals <= REGULAR_FACTOR * typical) & (intervals * REGULAR_FACTOR >= typical)
    is_regular = bool(is_like.mean() >= REGULAR_SHARE)
    longest = max(STOPPED, GAP_FACTOR * typical / SECOND)
    return is_regular, silence, is_regular and silence > longest


def _topic_stamps(bag: Bag, topic: str) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """Stamps and receive times of a topic; receive times twice and False where it has no header."""
    received = bag.received(topic)
    stamps = header_stamps(bag, topic)
    if stamps is None or len(stamps) != len(received):
        return received, received, False
    return stamps, received, True


def header_stamps(bag: Bag, topic: str) -> NDArray[np.int64] | None:
    """Returns the header stamps (N,), ns, of all messages of a topic; None if its type begins
    with no header."""
    found = bag.topics[topic]
    fields = found.types.get(found.message_type, ((), ()))[1]
    if not fields or tuple(fields[0][1]) != (2, 'std_msgs/msg/Header'):
        return None
    stamps = []
    for table in found.tables:
        # After the 4 bytes of encapsulation a header begins with its stamp: int32 s, uint32 ns.
        if len(table) == 0 or table.lengths.min() < 12:
            continue
        head = table.rows(np.arange(len(table)), 12)
        order = '>' if head[0, 1] == 0 else '<'
        seconds = np.ascontiguousarray(head[:, 4:8]).view(f'{order}i4')[:, 0].astype(np.int64)
        nanoseconds = np.ascontiguousarray(head[:, 8:12]).view(f'{order}u4')[:, 0]
        stamps.append(seconds * SECOND + nanoseconds.astype(np.int64))
    return np.concatenate(stamps) if stamps else np.zeros(0, np.int64)
