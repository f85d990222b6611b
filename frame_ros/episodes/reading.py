# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags to episodes."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from frame_ros.bags.bag_copy import SENSED_FROM
from frame_ros.bags.find_bags import find_bags
from frame_ros.bags.findings import Note
from frame_ros.bags.reader import LEFT_OUT, Bag
from frame_ros.bags.recording_options import HEADER, RECEIVE, RecordedUnits
from frame_ros.bags.shared_bag import newly_opened
from frame_ros.bags.streams.controller_states import CONTROLLER_TYPE
from frame_ros.bags.streams.events import read_events
from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.poses import POSE_TYPE
from frame_ros.bags.streams.table import STREAMS, read_stream
from frame_ros.bags.streams.topic_map import SETTINGS_TOPIC, TopicMap
from frame_ros.core.errors import BagError, FrameRosError
from frame_ros.core.events import Event, EventType
from frame_ros.episodes.computed_pose import add_computed_pose
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.episode_split import Part, divide
from frame_ros.episodes.foreign_bags.clock_checks import (
    clock_problems,
    set_back_problems,
    stamp_problems,
)
from frame_ros.episodes.foreign_bags.pose_checks import unit_problems
from frame_ros.episodes.foreign_bags.topic_hints import note_on_forces, ways_to_action, ways_to_pose
from frame_ros.episodes.live_inputs import heard_since, read_first_stamps
from frame_ros.episodes.recorded.nameless_actions import interface_problems, with_named_actions
from frame_ros.episodes.recorded.robot import (
    NOT_OPENED,
    known_robot,
    not_opened_text,
    with_robot,
)
from frame_ros.episodes.recorded.settings import settings_of_part
from frame_ros.episodes.recorded.units import in_radians, joint_problems
from frame_ros.episodes.recorded.whole_actions import with_whole_actions
from frame_ros.episodes.reference import Reference

AFTERWARDS = (
    'contact was sensed after the fact, by `frame-ros sense`: live metrics, which rest on what was '
    'sensed then, are left out'
)
NEEDED = ('pose', 'action')
NO_MESSAGES = 'the bag holds no messages'
BY_RECEIPT = (
    'the times of messages are those at which they were received: delays before the recorder are '
    'not known, its jitter is in rates, speeds, jerk and a_*, and live metrics are left out'
)


@dataclass(frozen=True)
class _Choice:
    """Choices of the caller about a recording; see `read_episodes`."""

    namespace: str | None = None
    topics: Mapping[str, str] | None = None
    robot: str | None = None
    joint_units: RecordedUnits | None = None
    stamps: str = HEADER
    action_joints: tuple[str, ...] = ()


def read_episodes(
    path: str | Path,
    *,
    namespace: str | None = None,
    topics: Mapping[str, str] | None = None,
    robot: str | None = None,
    references: Sequence[Reference] | None = None,
    joint_units: RecordedUnits | None = None,
    stamps: str = HEADER,
    action_joints: Sequence[str] = (),
) -> Iterator[Episode]:
    """Yields the episodes of a bag, or of each bag in a folder in the order of their names, with
    their metrics.

    A bag normally holds one episode; START and END events divide one that holds more. Without
    events the whole bag is one. A bag in a folder of bags that cannot be read gives an episode
    without streams whose `problems` say why; one whose metrics cannot be computed gives it without
    metrics.

    Args:
        path: a bag's folder (also `.partial`), an .mcap or .db3 file, or a folder of bags.
        namespace: the robot's namespace; None: the only one, or the one with most topics (others in
        `problems`).
        topics: role ('pose', 'action', 'contact', ...) or live kind ('quality', ...) -> absolute
        topic; None: those that the metrics node recorded, else those of the usual names.
        robot: name or URDF by which poses are computed from joint states where none were recorded.
        references: what ATE and RTE are computed against (`load_references`), instead of those that
        the metrics node recorded; None: those.
        joint_units: those in which joint states and actions were recorded; None: rad.
        stamps: the time of a message: 'header', or 'receive' for the recorder's receive times.
        action_joints: the joints of actions whose messages name none, in their order; (): such
        actions are not read.

    Raises:
        BagError: there is no bag at the path, or the only one cannot be read.
    """
    bags = find_bags(path)
    for bag_path in bags:
        choice = _Choice(namespace, topics, robot, joint_units, stamps, tuple(action_joints))
        yield from _read_one(bag_path, len(bags) == 1, references, choice)


def read_bag(
    bag: Bag,
    *,
    namespace: str | None = None,
    topics: Mapping[str, str] | None = None,
    robot: str | None = None,
    joint_units: RecordedUnits | None = None,
    stamps: str = HEADER,
    action_joints: Sequence[str] = (),
) -> list[Episode]:
    """Returns the episodes of an open bag as `read_episodes` does, without their metrics.

    Raises:
        BagError: its content cannot be made into episodes.
    """
    try:
        choice = _Choice(namespace, topics, robot, joint_units, stamps, tuple(action_joints))
        return list(_episodes_of(bag, choice))
    except Exception as error:  # whatever the contents of a foreign bag lead to
        raise bag_error(bag.path, error) from error


def _read_one(
    path: Path,
    is_only: bool,
    references: Sequence[Reference] | None,
    choice: _Choice,
) -> Iterator[Episode]:
    """Yields a bag's episodes; errors are raised if it `is_only`, else noted in `problems`."""
    from frame_ros.episodes.processing import process_episode

    try:
        bag = newly_opened(path, choice.stamps == RECEIVE)
        episodes = read_bag(bag, **vars(choice))
    except Exception as error:  # one bad bag must not end the reading of the others
        if is_only:
            raise bag_error(path, error) from error
        yield Episode(path, path.name, {}, [], {}, {}, problems=[str(bag_error(path, error))])
        return
    for episode in episodes:
        try:
            process_episode(episode, references)
        except Exception as error:  # the same
            problem = bag_error(path, error, 'its metrics cannot be computed')
            if is_only:
                raise problem from error
            episode.metrics, episode.summary = {}, {}
            episode.problems.append(str(problem))
        yield episode


def bag_error(path: Path, error: Exception, what: str = 'it cannot be read') -> BagError:
    """Returns the error that names a bag, of what went wrong in it."""
    if isinstance(error, BagError):
        return error
    kind = '' if isinstance(error, FrameRosError) else f'{type(error).__name__}: '
    return BagError(f'{path}: {what} ({kind}{error})')


def _episodes_of(bag: Bag, choice: _Choice) -> Iterator[Episode]:
    namespace, topics = choice.namespace, choice.topics
    bag.is_by_receipt = choice.stamps == RECEIVE
    bag.metadata = _with_robot(bag, bag.metadata, choice.robot)
    robot = choice.robot or bag.metadata.get('robot')
    topic_map = TopicMap(bag, namespace, topics)
    streams, live = _read_streams(bag, topic_map)
    first, said = read_first_stamps(bag, topic_map.namespace)
    if bag.is_by_receipt:
        live, first = {}, {}  # of the header stamps
        bag.report(Note(BY_RECEIPT))
    events = _read_events(bag, topic_map)
    _note_given(bag, topic_map, namespace, topics)
    streams = with_named_actions(bag, streams, choice.action_joints)
    streams = _checked_joints(bag, streams, robot, choice.joint_units or RecordedUnits())
    if not live:
        streams = with_whole_actions(bag, streams, robot)
    if live and SENSED_FROM in bag.metadata:
        live, first = {}, {}
        bag.report(Note(AFTERWARDS))
    if 'pose' not in streams:
        unused = add_computed_pose(bag, streams, robot)
    else:
        unused = {}
    _note_topics(bag, topic_map, streams, robot)
    used = {stream.topic for stream in streams.values()}
    counts = {**_recorder_counts(bag, used), **unused}
    for part in divide(events, bag.metadata.get('episode_id', ''), bag.name):
        attributes = _attributes(bag, part, topic_map.settings, choice.robot)
        episode = _episode(bag, part, streams, live, counts, attributes)
        starts = [event.stamp for event in part.events if event.type is EventType.START]
        episode.joint_units = (choice.joint_units or RecordedUnits()).units
        episode.heard_since = heard_since(episode.streams, first, min(starts, default=0), said)
        yield episode


def _checked_joints(
    bag: Bag, streams: dict[str, Stream], robot: str | None, units: RecordedUnits
) -> dict[str, Stream]:
    """Returns the streams with joint values in rad; misfits with the robot go to the problems."""
    from frame_ros.robots import load_robot

    try:
        model = load_robot(robot) if robot else None
    except (ImportError, FrameRosError):
        model = None  # whoever needs it says so
    streams, notes = in_radians(streams, units, model)
    problems = joint_problems(streams, model) if model is not None else []
    for text in [*notes, *problems, *interface_problems(streams)]:
        bag.report(text)
    return streams


def _read_events(bag: Bag, topic_map: TopicMap) -> list[Event]:
    topic = topic_map.find('event')
    if topic is None:
        return []
    try:
        return read_events(bag, topic)
    except BagError as error:
        bag.report(str(error))
        return []


def _read_streams(bag: Bag, topic_map: TopicMap) -> tuple[dict[str, Stream], dict[str, Stream]]:
    streams: dict[str, Stream] = {}
    for role in STREAMS:
        topic = topic_map.find(role)
        if topic is None or role == 'event':
            continue
        if role == 'gripper' and ('grasp' in streams or topic == topic_map.find('joint_states')):
            continue  # decided, or read already
        try:
            stream = read_stream(bag, role, topic)
        except BagError as error:
            bag.report(str(error))
            continue
        # A stream without a readable message counts as not recorded.
        if len(stream):
            streams[role] = stream
    live = {role: stream for role, stream in streams.items() if STREAMS[role].is_live}
    return {role: stream for role, stream in streams.items() if role not in live}, live


def _note_given(
    bag: Bag, topic_map: TopicMap, namespace: str | None, topics: Mapping[str, str] | None
) -> None:
    """Reports topics given by the caller that the bag does not have, or that are of another robot
    than the one that was chosen for the caller.
    """
    for role, topic in (topics or {}).items():
        if any(problem.startswith(f'{topic} {LEFT_OUT}') for problem in bag.problems):
            continue
        if topic not in bag.topics:
            bag.report(f'{topic}, given as {role}, is not in the bag')
        elif namespace is None and (text := topic_map.misplaced(role, topic)):
            bag.report(text)
    prefix = f'/{namespace.strip("/")}/' if namespace and namespace.strip('/') else '/'
    if bag.topics and not any(name.startswith(prefix) for name in bag.topics):
        bag.report(f'no topic of the bag is in the namespace {prefix.rstrip("/")}')


def _note_topics(
    bag: Bag, topic_map: TopicMap, streams: Mapping[str, Stream], robot: str | None
) -> None:
    if text := topic_map.other_robots():
        bag.problems.append(Note(text))
    if bag.message_count == 0:
        has_others = any(LEFT_OUT in problem for problem in bag.problems)
        bag.problems.append(f'{NO_MESSAGES} that can be read' if has_others else NO_MESSAGES)
        return
    for role, row in STREAMS.items():
        truth = topic_map.truth_of(role) if role not in streams else None
        if truth is not None:
            bag.problems.append(
                Note(
                    f'no {role}: {" or ".join(row.topics)} was not recorded; {truth} is '
                    f'what the simulator knows, not what a sensor measured (--topic {role}={truth} '
                    'takes it)'
                )
            )
    if not streams:
        bag.problems.append(
            'none of the known topics is in the bag, or none is readable; '
            f'it has {", ".join(sorted(bag.topics))}'
        )
        return
    for role in NEEDED:
        topic = topic_map.find(role)
        if any(problem.startswith(f'no {role}: {topic} ') for problem in bag.problems):
            continue  # the reason is known
        if role not in streams and topic is not None:
            bag.report(f'no {role}: nothing on {topic} could be read')
        elif role not in streams:
            text = f'no {role}: {" or ".join(STREAMS[role].topics)} was not recorded'
            ways = (
                ways_to_pose(bag, topic_map, streams, robot)
                if role == 'pose'
                else ways_to_action(bag, topic_map, streams)
            )
            bag.problems.append('; '.join([text, *ways]))
    if note := note_on_forces(bag, topic_map, streams):
        bag.report(note)
    if 'action' in streams:
        _note_actions(bag, topic_map, streams['action'])


def _note_actions(bag: Bag, topic_map: TopicMap, actions: Stream) -> None:
    """Notes steps that are no joint commands."""
    begin = f'{actions.topic} is taken as the actions: steps, control rates and a_*'
    if actions.message_type == CONTROLLER_TYPE:
        bag.problems.append(Note(f'{begin} are those of the set points of the controller'))
    elif actions.topic == topic_map.find('joint_states'):
        bag.problems.append(Note(f'{begin} are those of the measured joints, not of commands'))
    elif actions.topic == topic_map.find('pose'):
        bag.problems.append(Note(f'{begin} are those of measured positions in m, not of commands'))
    elif actions.message_type == POSE_TYPE:
        bag.problems.append(Note(f'{begin} are those of its positions in m, not of joints'))


def _attributes(
    bag: Bag, part: Part, settings: Sequence[tuple[int, str]], given_robot: str | None
) -> dict[str, str]:
    """Returns the facts of an episode: of its bag, its settings, its START."""
    attributes = dict(bag.metadata)
    if settings:
        attributes[SETTINGS_TOPIC] = settings_of_part(settings, part)
    for event in part.events:
        if event.type is EventType.START:
            attributes.update(event.attributes)
    return _with_robot(bag, attributes, given_robot)


def _with_robot(bag: Bag, facts: dict[str, str], given: str | None) -> dict[str, str]:
    folder = bag.path if bag.path.is_dir() else bag.path.parent
    found = with_robot(facts, folder, given)
    if NOT_OPENED in found:
        bag.report(Note(not_opened_text(found[NOT_OPENED])))
    return found


def _episode(
    bag: Bag,
    part: Part,
    streams: Mapping[str, Stream],
    live: Mapping[str, Stream],
    counts: Mapping[str, int],
    attributes: dict[str, str],
) -> Episode:
    own = _cut_all(streams, part)
    absent = [f'no {role} in this episode' for role in NEEDED if role in streams.keys() - own]
    episode = Episode(
        path=bag.path,
        episode_id=part.episode_id,
        attributes=attributes,
        events=part.events,
        streams=own,
        live={kind: _renamed(stream, part) for kind, stream in _cut_all(live, part).items()},
        data_quality=dict(counts),
        problems=[*bag.problems, *part.problems, *absent],
        is_truncated=bag.is_truncated,
        is_by_receipt=bag.is_by_receipt,
    )
    episode.problems += clock_problems(own) + stamp_problems(own) + set_back_problems(own)
    episode.problems += unit_problems(own.get('pose'), known_robot(episode))
    return episode


def _cut_all(streams: Mapping[str, Stream], part: Part) -> dict[str, Stream]:
    """Returns the part's share of each stream that has one."""
    cut = {name: _cut(stream, part, STREAMS[name].is_target) for name, stream in streams.items()}
    return {name: stream for name, stream in cut.items() if len(stream)}


def _cut(stream: Stream, part: Part, is_lasting: bool) -> Stream:
    """Returns the part's share of a stream, with the last sample before if `is_lasting`."""
    if part.begin is None and part.end is None:
        return stream
    is_inside = np.ones(len(stream), bool)
    if part.begin is not None:
        is_inside &= stream.stamps >= part.begin
        earlier = np.flatnonzero((stream.stamps > 0) & (stream.stamps < part.begin))
        if is_lasting and len(earlier):
            is_inside[earlier[stream.stamps[earlier].argmax()]] = True
    if part.end is not None:
        is_inside &= stream.stamps < part.end
    return stream.select(is_inside)


def _renamed(stream: Stream, part: Part) -> Stream:
    """Renames live metrics that were recorded with another episode id."""
    ids = stream.values.get('episode_id')
    start = part.events[0] if part.events else None
    if ids is None or start is None or part.episode_id == part.recorded_id:
        return stream
    is_own = (ids == start.episode_id) & (stream.stamps >= start.stamp)
    if part.finish is not None:
        is_own &= stream.stamps <= part.finish.stamp
    values = {**stream.values, 'episode_id': np.where(is_own, part.episode_id, ids)}
    return replace(stream, values=values)


def _recorder_counts(bag: Bag, used: Container[str]) -> dict[str, int]:
    """Returns the recorder's own counts of messages that it did not get or could not write. Only
    those of the topics `used` make a number doubtful.
    """
    counts: dict[str, int] = {}
    for what, why in (('dropped', 'it could not write'), ('lost', 'never reached it')):
        topics = bag.sidecar.get(what)
        if not isinstance(topics, dict) or not topics:
            continue
        counts[f'recorder.{what}'] = sum(n for n in topics.values() if isinstance(n, int))
        text = ', '.join(f'{topic}: {count}' for topic, count in topics.items())
        text = f'messages that the recorder says {why}: {text}'
        bag.report(text if any(topic in used for topic in topics) else Note(text))
    reasoned = (('skipped', 'were not recorded'), ('silent', 'sent nothing in the episode'))
    for what, why in reasoned:
        topics = bag.sidecar.get(what)
        if isinstance(topics, dict) and topics:
            counts[f'recorder.{what}_topics'] = len(topics)
            text = '; '.join(f'{topic}: {reason}' for topic, reason in topics.items())
            text = f'topics that {why}: {text}'
            bag.report(text if what == 'silent' else Note(text))
    return counts
