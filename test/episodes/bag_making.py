# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages and bags for tests, made with rosbags' serialisation, which is independent of our
reading."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.typesys import Stores, get_typestore

from frame_ros.bags.definitions import find_definition, parse_fields
from frame_ros.bags.writer import BagWriter
from frame_ros.core.events import EventType
from frame_ros.core.time import SECOND

T0 = 1_700_000_000 * SECOND
BASE, NAME, ARRAY = 1, 2, 3
OURS = [
    f'frame_ros/msg/{path.stem}'
    for path in sorted((Path(__file__).resolve().parents[2] / 'msg').glob('*.msg'))
]
STANDARD = [
    'sensor_msgs/msg/JointState',
    'sensor_msgs/msg/Image',
    'sensor_msgs/msg/CompressedImage',
    'sensor_msgs/msg/CameraInfo',
    'geometry_msgs/msg/PoseStamped',
    'geometry_msgs/msg/WrenchStamped',
    'std_msgs/msg/String',
    'nav_msgs/msg/Path',
    'visualization_msgs/msg/MarkerArray',
]


def make_store() -> Any:
    """A rosbags typestore with all types used here."""
    store, types = get_typestore(Stores.EMPTY), {}
    for name in (*OURS, *STANDARD):
        types.update(parse_fields(name, find_definition(name).text))
    store.register(types)
    return store


STORE = make_store()


def message(message_type: str, rng: np.random.Generator | None = None, **values: Any) -> Any:
    """A message, all zero and empty or drawn at random, with some values (dotted names as a__b)
    set."""
    fields = {
        name: _value(description, rng) for name, description in STORE.fielddefs[message_type][1]
    }
    result = STORE.types[message_type](**fields)
    for path, value in values.items():
        owner = result
        *parents, last = path.split('__')
        for parent in parents:
            owner = getattr(owner, parent)
        object.__setattr__(owner, last, value)
    return result


def _value(description: Any, rng: np.random.Generator | None) -> Any:
    kind, detail = description
    if kind == BASE:
        return _number(detail[0], rng)
    if kind == NAME:
        return message(detail, rng)
    (element_kind, element), count = detail
    number = count if kind == ARRAY else int(rng.integers(0, 4)) if rng else 0
    if element_kind == NAME:
        return [message(element, rng) for _ in range(number)]
    if element[0] == 'string':
        return [_number('string', rng) for _ in range(number)]
    numbers = [_number(element[0], rng) for _ in range(number)]
    return np.array(numbers, dtype={'byte': 'u1', 'char': 'u1'}.get(element[0], element[0]))


def _number(kind: str, rng: np.random.Generator | None) -> Any:
    if kind == 'string':
        return 'äb_c'[: int(rng.integers(0, 5))] if rng else ''
    if kind.startswith('float'):
        return float(np.float32(rng.normal())) if rng else 0.0
    if kind == 'bool':
        return bool(rng.integers(2)) if rng else False
    return int(rng.integers(0, 100)) if rng else 0


def stamp(nanoseconds: int) -> Any:
    """A builtin_interfaces/Time."""
    return message(
        'builtin_interfaces/msg/Time', sec=nanoseconds // SECOND, nanosec=nanoseconds % SECOND
    )


def serialised(content: Any) -> bytes:
    """The message as CDR."""
    return bytes(STORE.serialize_cdr(content, content.__msgtype__))


def pose(at: int, x: float = 0.0) -> Any:
    """A PoseStamped."""
    return message(
        'geometry_msgs/msg/PoseStamped',
        header__stamp=stamp(at),
        pose__position__x=x,
        pose__orientation__w=1.0,
    )


def joints(at: int, *positions: float) -> Any:
    """A JointState."""
    return message(
        'sensor_msgs/msg/JointState',
        header__stamp=stamp(at),
        name=[f'joint_{i}' for i in range(len(positions))],
        position=np.array(positions, float),
    )


def event(at: int, kind: EventType, episode_id: str = 'e1', **values: Any) -> Any:
    """An EpisodeEvent."""
    return message(
        'frame_ros/msg/EpisodeEvent',
        header__stamp=stamp(at),
        type=int(kind),
        episode_id=episode_id,
        source='recorder',
        **values,
    )


def episode_messages(
    count: int = 50, start: int = T0, episode_id: str = 'e1'
) -> list[tuple[str, int, Any]]:
    """An episode of `count` control steps at 50 Hz: topic, receive time, message."""
    sent = [('/episode_events', start - 1, event(start, EventType.START, episode_id))]
    for step in range(count):
        at = start + step * SECOND // 50
        sent.append(('/ee_pose', at + 1000, pose(at, 0.001 * step)))
        sent.append(('/joint_commands', at + 2000, joints(at, 0.1 * step, -0.1)))
    end = start + count * SECOND // 50
    sent.append(('/episode_events', end - 1, event(end, EventType.END, episode_id, outcome=1)))
    return sent


def write_bag(
    folder: Path,
    messages: list[tuple[str, int, Any]],
    metadata: Mapping[str, str] | None = None,
    finish: bool = True,
    flush_every: int = 20,
    **options: Any,
) -> Path:
    """Writes messages (topic, receive time, message) by our writer, with these options of it;
    returns the bag's folder."""
    writer = BagWriter(folder, metadata, **options)
    channels: dict[str, int] = {}
    for number, (topic, received, content) in enumerate(messages):
        if topic not in channels:
            channels[topic] = writer.add_topic(topic, content.__msgtype__)
        writer.write(channels[topic], received, serialised(content))
        if number % flush_every == flush_every - 1:
            writer.flush()
    if finish:
        return writer.finish()
    writer.flush()
    writer.close()
    return writer.partial
