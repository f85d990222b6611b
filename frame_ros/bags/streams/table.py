# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The streams of a bag, and the messages of one as a Stream of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.contacts import CONTACT, PROXIMITY
from frame_ros.bags.streams.events import EVENT
from frame_ros.bags.streams.form import MessageForm, RecordedStream, Stream
from frame_ros.bags.streams.grasp import GRASP, GRIPPER
from frame_ros.bags.streams.inference import INFERENCE
from frame_ros.bags.streams.joints import ACTION, JOINT_STATES
from frame_ros.bags.streams.poses import GOAL, OBJECT, POSE
from frame_ros.core.errors import BagError
from frame_ros.core.options import check_names
from frame_ros.metrics.message_fields import FIELDS, KINDS, LISTS


def _live(kind: str) -> RecordedStream:
    """Returns the metrics of one kind, as computed live: every number of the message."""
    form = MessageForm(f'frame_ros/msg/{kind.capitalize()}Metrics')
    return RecordedStream(kind, (f'{kind}_metrics',), (form,), is_live=True)


# Role -> stream.
STREAMS = {
    row.role: row
    for row in (
        POSE, ACTION, CONTACT, PROXIMITY, INFERENCE, JOINT_STATES, OBJECT, GOAL, GRASP,
        GRIPPER, EVENT,
        *map(_live, KINDS),
    )
}  # fmt: skip
# Those that feed the metric pipeline.
FED_ROLES = tuple(role for role, row in STREAMS.items() if row.forms[0].from_columns is not None)
# Fields of every live metric message in addition to those of `FIELDS`.
NOT_COMPUTED = ('header', 'episode_id')


def absolute_topics(topics: Mapping[str, str]) -> dict[str, str]:
    """Role -> topic with a leading slash.

    Raises:
        OptionError: a role is not known.
    """
    check_names(topics, STREAMS, 'role')
    return {role: '/' + topic.strip('/') for role, topic in topics.items()}


def read_stream(bag: Bag, role: str, topic: str) -> Stream:
    """Returns the stream of one role or live kind.

    Its values are those of the role's form (`MessageForm.fields`); of live kinds every number of
    the message, and episode_id. Of sequences, `<name>_count` (T,) is how many entries each message
    had; shorter rows are filled up with NaN or ''.

    Live metrics of another version of the messages keep what they have, by receive time if they
    have no header; `bag.problems` say what differs.

    Raises:
        BagError: the topic's type is another one, is not readable, or lacks a field.
    """
    row, message_type = STREAMS[role], bag.topics[topic].message_type
    form = row.form(message_type)
    if form is None:
        wanted = ' or '.join(form.message_type for form in row.forms)
        raise BagError(f'{topic} has type {message_type}; as {role} it should be {wanted}')
    recorded = bag.topics[topic].types.get(message_type, ((), ()))[1]
    fields = form.fields or {name: name for name, (kind, _) in recorded if kind == 1}
    if form.read is not None:
        received, columns = form.read(bag, topic)
    else:
        received, columns = bag.columns(topic, ['header.stamp', *_paths(fields)])
        if len(received):
            _check_fields(topic, form, fields, columns)
    if row.is_live:
        _note_version(bag, role, topic)
    return Stream(
        topic,
        message_type,
        columns.get('header.stamp', received),
        received,
        _values(form, fields, columns, len(received)),
        _first_frame(bag, topic) if row.is_framed and len(received) else '',
    )


def _paths(fields: Mapping[str, str | tuple[str, ...]]) -> list[str]:
    every = ((path,) if isinstance(path, str) else path for path in fields.values())
    return [path for paths in every for path in paths]


def _check_fields(
    topic: str,
    form: MessageForm,
    fields: Mapping[str, str | tuple[str, ...]],
    columns: Mapping[str, NDArray],
) -> None:
    wanted = {*_paths(fields), *(('header.stamp',) if form.fields else ())} - {*form.optional}
    missing = sorted(p for p in wanted if p not in columns and f'{p}.count' not in columns)
    if missing:
        raise BagError(
            f'{topic}: its {form.message_type} lacks {", ".join(missing)}: '
            'recorded with another version of the messages'
        )


def _values(
    form: MessageForm,
    fields: Mapping[str, str | tuple[str, ...]],
    columns: Mapping[str, NDArray],
    count: int,
) -> dict[str, NDArray]:
    values: dict[str, NDArray] = {}
    for name, path in fields.items():
        if not isinstance(path, str):
            empty = np.zeros((0, len(path)))
            values[name] = np.stack([columns[p] for p in path], axis=1) if count else empty
        elif path in columns:
            values[name] = columns[path]
        elif path not in form.optional:
            values[name] = np.zeros(count)
        if f'{path}.count' in columns and path not in form.optional:
            values[f'{name}_count'] = columns[f'{path}.count']
    return values


def _first_frame(bag: Bag, topic: str) -> str:
    """Returns the frame of the first message, which stands for all."""
    return next((str(message.header.frame_id) for _, message in bag.messages(topic)), '')


def _note_version(bag: Bag, kind: str, topic: str) -> None:
    """Reports the fields by which a live topic's type differs from this version's."""
    name = bag.topics[topic].message_type
    recorded = [field for field, _ in bag.topics[topic].types[name][1]]
    ours = [*NOT_COMPUTED, *FIELDS[kind], *LISTS.get(kind, ())]
    lacking = ', '.join(field for field in ours if field not in recorded)
    unknown = ', '.join(field for field in recorded if field not in ours)
    if lacking or unknown:
        bag.report(
            f'{topic}: recorded with another version of {name}; '
            f'lacks {lacking or "nothing"}; not known here: {unknown or "nothing"}'
        )


def pipeline_values(role: str, stream: Stream) -> list[Any]:
    """Returns the samples of a stream one by one, as messages give them live and
    MetricPipeline.feed takes them."""
    row = STREAMS[role]
    form = row.form(stream.message_type) or row.forms[0]  # a computed stream has no messages
    if form.from_columns is None:
        raise BagError(f'role {role!r} has no place in the pipeline')
    return form.from_columns(stream.values)
