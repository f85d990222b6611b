# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Which topic of a bag plays which role, and its messages as a Stream of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.bags.recorded_options import read_settings, used_topics
from frame_ros.bags.streams import conversion
from frame_ros.bags.streams.contact import contact_samples, grasp_contact_samples
from frame_ros.bags.streams.grip import gripper_samples
from frame_ros.bags.streams.inference import inference_columns
from frame_ros.bags.streams.stream import Stream
from frame_ros.confidence.inference_uncertainty import UNCERTAINTY_VALUES
from frame_ros.core.errors import BagError, FrameRosError
from frame_ros.core.events import Event
from frame_ros.core.time import SECOND
from frame_ros.metrics.message_fields import FIELDS

EVENT_TYPE = 'frame_ros/msg/EpisodeEvent'

# Role -> topics that can play it, the preferred first.
ROLE_TOPICS: dict[str, tuple[str, ...]] = {
    'pose': ('ee_pose',),
    'action': ('joint_commands',),
    'contact': ('contact',),
    'proximity': ('proximity',),
    'inference': ('policy_inference',),
    'joint_states': ('joint_states',),
    'object': ('object_pose',),
    'goal': ('goal_pose',),
    'gripper': ('joint_states',),
    'event': ('episode_events',),
}
# What a simulator knows and no sensor measured: taken only where the run's own settings name it, or
# the caller.
TRUTH = 'ground_truth'
LIVE_TOPICS: dict[str, tuple[str, ...]] = {
    'quality': ('quality_metrics',),
    'safety': ('safety_metrics',),
    'efficiency': ('efficiency_metrics',),
    'confidence': ('confidence_metrics',),
}
ROLE_TYPES = {
    'pose': 'geometry_msgs/msg/PoseStamped',
    'action': 'sensor_msgs/msg/JointState',
    'contact': 'frame_ros/msg/ContactState',
    'proximity': 'frame_ros/msg/Proximity',
    'inference': 'frame_ros/msg/PolicyInference',
    'joint_states': 'sensor_msgs/msg/JointState',
    'object': 'geometry_msgs/msg/PoseStamped',
    'goal': 'geometry_msgs/msg/PoseStamped',
    'gripper': 'sensor_msgs/msg/JointState',
    'event': EVENT_TYPE,
    'quality': 'frame_ros/msg/QualityMetrics',
    'safety': 'frame_ros/msg/SafetyMetrics',
    'efficiency': 'frame_ros/msg/EfficiencyMetrics',
    'confidence': 'frame_ros/msg/ConfidenceMetrics',
}
# What may tell of the grasp instead of the joint of the gripper.
GRASP_CONTACT = 'frame_ros/msg/ContactState'
TARGETS = ('object', 'goal')
# Fields of every live metric message beside those of `FIELDS`.
NOT_COMPUTED = ('header', 'episode_id')
POSITION = tuple(f'pose.position.{axis}' for axis in 'xyz')
ORIENTATION = tuple(f'pose.orientation.{axis}' for axis in 'xyzw')
# Role -> value name -> field. Sequences also give `<value name>_count`.
JOINTS = {'names': 'name', 'positions': 'position', 'velocities': 'velocity', 'efforts': 'effort'}
ROLE_FIELDS: dict[str, dict[str, str]] = {
    'action': {'names': 'name', 'positions': 'position'},
    'joint_states': JOINTS,
    'gripper': JOINTS,
    'contact': {name: name for name in ('in_contact', 'in_collision', 'force')},
    'proximity': {'distance': 'distance'},
    'inference': {name: name for name in conversion.INFERENCE_FIELDS},
}
GRASP_CONTACT_FIELDS = {
    name: name for name in ('in_contact', 'in_collision', 'links', 'others', 'is_expected')
}
# What messages of an older version lack; then it is as if it were not measured.
OPTIONAL_FIELDS: dict[str, dict[str, str]] = {
    GRASP_CONTACT: {name: name for name in ('unavailable', 'is_expected', 'forces', 'peak_forces')},
}
INFERENCE_TIMES = ('request_stamp', 'observation_stamp')


class TopicMap:
    """The topic of each role in one bag.

    Args:
        bag: the bag.
        namespace: namespace of the robot, '' for none; None: the one with most roles.
        topics: role or kind -> absolute topic, over what is found.

    namespaces: those in which the bag has poses, actions, inferences or live metrics; if none,
    joint states. The topics that a metrics node says it used are of its namespace. settings: what
    the metrics node of the chosen namespace published, see `read_settings`.
    """

    def __init__(
        self, bag: Bag, namespace: str | None = None, topics: Mapping[str, str] | None = None
    ) -> None:
        self._given = dict(topics or {})
        self._names = [name for name, topic in bag.topics.items() if len(topic)]
        settings = read_settings(bag)
        self._used = {prefix: used_topics(texts[-1][1]) for prefix, texts in settings.items()}
        self.namespaces = self._find_namespaces()
        if namespace is None:
            namespace = self._fullest()
        self.namespace = '/' + namespace.strip('/') if namespace.strip('/') else ''
        self.settings = settings.get(self.namespace, [])
        self._report = bag.report

    def find(self, role: str) -> str | None:
        """Returns the topic of a role or kind; None if the bag has none.

        First the one given, then the one that the metrics node used, then those of the usual names.
        What all robots share is at the root.
        """
        if role in self._given:
            return self._given[role] if self._given[role] in self._names else None
        found = self._find_in(self.namespace, role)
        if found is None and role == 'event':
            found = self._find_in('', role)
        found = found or self._deeper(ROLE_TOPICS.get(role) or LIVE_TOPICS[role])
        used = self._used.get(self.namespace, {}).get(role, found)
        if found is not None and found != used:
            self._report(f'{role}: the metrics node used {used}; not in the bag, {found} is taken')
        return found

    def truth_of(self, role: str) -> str | None:
        """Returns the simulator's topic of a role, which `find` never takes by itself."""
        names = (f'{self.namespace}/{TRUTH}/{name}' for name in ROLE_TOPICS[role])
        return next((name for name in names if name in self._names), None)

    def _find_in(self, namespace: str, role: str) -> str | None:
        usual = [f'{namespace}/{n}' for n in ROLE_TOPICS.get(role) or LIVE_TOPICS[role]]
        used = self._used.get(namespace, {}).get(role)
        candidates = usual if used is None else [used, *usual]
        return next((name for name in candidates if name in self._names), None)

    def _deeper(self, candidates: tuple[str, ...]) -> str | None:
        """A topic below the robot's namespace, such as a driver's /franka/joint_states, if there
        is only one."""
        for name in candidates:
            found = [
                n
                for n in self._names
                if n.startswith(f'{self.namespace}/') and n.endswith(f'/{name}')
            ]
            found = [n for n in found if not (self._is_of_other_robot(n) or f'/{TRUTH}/' in n)]
            if len(found) == 1:
                return found[0]
        return None

    def _is_of_other_robot(self, name: str) -> bool:
        longer = [n for n in self.namespaces if len(n) > len(self.namespace)]
        return any(name.startswith(f'{namespace}/') for namespace in longer)

    def _find_namespaces(self) -> list[str]:
        used = {prefix: set(topics.values()) for prefix, topics in self._used.items()}
        found = {prefix for prefix, topics in used.items() if topics.intersection(self._names)}
        names = set(self._names).difference(*used.values())
        for marks in (
            ('ee_pose', 'joint_commands', 'policy_inference', 'quality_metrics'),
            ('joint_states',),
        ):
            found |= {
                n[: -len(mark) - 1] for n in names for mark in marks if n.endswith('/' + mark)
            }
            if found:
                return sorted(found)
        return []

    def _fullest(self) -> str:
        def roles(namespace: str) -> int:
            return sum(
                self._find_in(namespace, role) is not None for role in (*ROLE_TOPICS, *LIVE_TOPICS)
            )

        return max(self.namespaces, key=lambda n: (roles(n), -self.namespaces.index(n)), default='')


def read_stream(bag: Bag, role: str, topic: str) -> Stream:
    """Returns the stream of one role or live kind.

    values by role: pose: position (T, 3) m, orientation (T, 4) xyzw. action: names (T, D),
    positions (T, D).
    joint_states, gripper: the same with velocities, efforts. contact: in_contact, in_collision,
    force, and where the messages have them unavailable, is_expected, forces, peak_forces. gripper
    of contacts: in_contact, in_collision, links, others, is_expected, unavailable. proximity:
    distance.
    object, goal: position (T, 3) m, frame (T,).
    inference: those of `conversion.inference_values`. Live kinds: every number of the message, and
    episode_id. Of sequences, `<name>_count` (T,) is how many entries each message had; shorter rows
    are filled up with NaN or ''.

    Live metrics of another version of the messages keep what they have, by receive time if they
    have no header; `bag.problems` say what differs.

    Raises:
        BagError: the topic's type is another one, is not readable, or lacks a field.
    """
    message_type = bag.topics[topic].message_type
    is_grasp_contact = role == 'gripper' and message_type == GRASP_CONTACT
    if message_type != ROLE_TYPES[role] and not is_grasp_contact:
        raise BagError(
            f'{topic} has type {message_type}; as {role} it should be {ROLE_TYPES[role]}'
        )
    paths = _paths(bag, role, topic)
    if role == 'inference':
        received, columns = inference_columns(bag, topic, paths)
    else:
        received, columns = bag.columns(topic, paths)
    missing = sorted(
        path
        for path in paths
        if path not in columns
        and f'{path}.count' not in columns
        and path not in OPTIONAL_FIELDS.get(message_type, ())
    )
    if missing and len(received):
        raise BagError(
            f'{topic}: its {message_type} lacks {", ".join(missing)}: '
            'recorded with another version of the messages'
        )
    if role in LIVE_TOPICS:
        _note_version(bag, role, topic)
    has_header = 'header.stamp.sec' in paths
    stamps = _time(columns, 'header.stamp', len(received)) if has_header else received
    values = _values(role, message_type, columns, len(received))
    frame_id = _first_frame(bag, topic) if role == 'pose' and len(received) else ''
    return Stream(topic, message_type, stamps, received, values, frame_id)


def _first_frame(bag: Bag, topic: str) -> str:
    """The frame of the first message: that of every one, where it means anything."""
    return next((str(message.header.frame_id) for _, message in bag.messages(topic)), '')


def _note_version(bag: Bag, kind: str, topic: str) -> None:
    """Reports the fields by which a live topic's type differs from those that this version
    computes."""
    name = bag.topics[topic].message_type
    recorded = [field for field, _ in bag.topics[topic].types[name][1]]
    ours = [*NOT_COMPUTED, *FIELDS[kind]]
    lacking = ', '.join(field for field in ours if field not in recorded)
    unknown = ', '.join(field for field in recorded if field not in ours)
    if lacking or unknown:
        bag.report(
            f'{topic}: recorded with another version of {name}; '
            f'lacks {lacking or "nothing"}; not known here: {unknown or "nothing"}'
        )


def read_events(bag: Bag, topic: str) -> list[Event]:
    """Returns the events on a topic by stamp; those that are not readable, or have no stamp, are
    left out and reported.

    Raises:
        BagError: the topic's type is another one, or is not readable.
    """
    message_type = bag.topics[topic].message_type
    if message_type != EVENT_TYPE:
        raise BagError(f'{topic} has type {message_type}; as event it should be {EVENT_TYPE}')
    events = []
    for received, message in bag.messages(topic):
        try:
            event = replace(conversion.event(message), received=received)
        except (FrameRosError, AttributeError) as error:
            bag.report(f'{topic}: an event was left out ({error})')
            continue
        if event.stamp > 0:
            events.append(event)
        else:
            bag.report(f'{topic}: {event.type.name} without a stamp was left out')
    return sorted(events, key=lambda event: event.stamp)


def pipeline_values(role: str, stream: Stream, joint: str = '') -> list[Any]:
    """Returns the samples of a stream one by one, as `conversion` gives them live and
    MetricPipeline.feed takes them. joint: that of the gripper."""
    values = stream.values
    if role == 'pose':
        return np.hstack([values['position'], values['orientation']]).tolist()
    if role == 'action':
        return _action_samples(values)
    if role == 'contact':
        return contact_samples(values)
    if role in TARGETS:
        rows = zip(values['position'].tolist(), values['frame'].tolist())
        return [(*position, str(frame)) for position, frame in rows]
    if role == 'gripper' and stream.message_type == GRASP_CONTACT:
        return grasp_contact_samples(values)
    if role == 'gripper':
        return gripper_samples(values, joint)
    if role == 'proximity':
        return [(distance,) for distance in values['distance'].tolist()]
    if role == 'inference':
        columns = {name: column.tolist() for name, column in values.items()}
        return [dict(zip(columns, row)) for row in zip(*columns.values())]
    raise BagError(f'role {role!r} has no place in the pipeline')


def _action_samples(
    values: Mapping[str, NDArray],
) -> list[tuple[tuple[str, ...], list[float]]]:
    rows = values['positions'].tolist()
    counts = values['positions_count'].tolist()
    name_counts = values['names_count'].tolist()
    cache: dict[tuple[int, bytes], tuple[str, ...]] = {}
    samples = []
    for index, row in enumerate(values['names']):
        key = (name_counts[index], row.tobytes())
        if key not in cache:
            cache[key] = tuple(str(name) for name in row[: key[0]])
        samples.append((cache[key], rows[index][: counts[index]]))
    return samples


def _paths(bag: Bag, role: str, topic: str) -> list[str]:
    times = ['header.stamp.sec', 'header.stamp.nanosec']
    if role in LIVE_TOPICS:
        fields = bag.topics[topic].types.get(ROLE_TYPES[role], ((), ()))[1]
        has_header = any(name == 'header' for name, _ in fields)
        numbers = [name for name, (kind, _) in fields if kind == 1]
        return times + numbers if has_header else numbers
    if role == 'pose':
        return [*times, *POSITION, *ORIENTATION]
    if role in TARGETS:
        return [*times, *POSITION, 'header.frame_id']
    if role == 'inference':
        times += [f'{name}.{part}' for name in INFERENCE_TIMES for part in ('sec', 'nanosec')]
    message_type = bag.topics[topic].message_type
    fields = {**_fields(role, message_type), **OPTIONAL_FIELDS.get(message_type, {})}
    return times + list(fields.values())


def _fields(role: str, message_type: str) -> dict[str, str]:
    if role == 'gripper' and message_type == GRASP_CONTACT:
        return GRASP_CONTACT_FIELDS
    return ROLE_FIELDS[role]


def _time(columns: Mapping[str, NDArray], path: str, count: int) -> NDArray[np.int64]:
    if count == 0:
        return np.zeros(0, np.int64)
    seconds = columns[f'{path}.sec'].astype(np.int64)
    return seconds * SECOND + columns[f'{path}.nanosec'].astype(np.int64)


def _values(
    role: str, message_type: str, columns: Mapping[str, NDArray], count: int
) -> dict[str, NDArray]:
    if role == 'pose':
        return {
            'position': _stacked(columns, POSITION, count),
            'orientation': _stacked(columns, ORIENTATION, count),
        }
    if role in TARGETS:
        frames = columns.get('header.frame_id', np.full(count, ''))
        return {'position': _stacked(columns, POSITION, count), 'frame': frames}
    if role in LIVE_TOPICS:
        return {path: column for path, column in columns.items() if '.' not in path}
    values: dict[str, NDArray] = {}
    for name, path in _fields(role, message_type).items():
        values[name] = columns.get(path, np.zeros(count))
        if f'{path}.count' in columns:
            values[f'{name}_count'] = columns[f'{path}.count']
    for name, path in OPTIONAL_FIELDS.get(message_type, {}).items():
        if path in columns:
            values[name] = columns[path]
    if role == 'inference':
        _add_inference_values(values, columns, count)
    return values


def _stacked(columns: Mapping[str, NDArray], paths: tuple[str, ...], count: int) -> NDArray:
    if count == 0:
        return np.zeros((0, len(paths)))
    return np.stack([columns[path] for path in paths], axis=1)


def _add_inference_values(
    values: dict[str, NDArray], columns: Mapping[str, NDArray], count: int
) -> None:
    for name in conversion.INFERENCE_FIELDS:
        values[name] = values[name].astype(np.float64)
    for name in ('token_count', *UNCERTAINTY_VALUES):
        values[name] = columns.get(name, np.zeros(count))
    request, observation = (_time(columns, name, count) for name in INFERENCE_TIMES)
    age = (request - observation) / SECOND
    values['observation_age'] = np.where((request != 0) & (observation != 0), age, np.nan)
