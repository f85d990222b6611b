# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A recorded stream: its declaration, for live nodes, bag reader and metric pipeline, and its
samples as arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.repeated_rows import chosen_rows


@dataclass
class Stream:
    """Samples of one topic: T stamps, T receive times, and one array per value name."""

    topic: str
    message_type: str
    stamps: NDArray[np.int64]  # (T,) int64, header stamps in ns, in recorded order
    received: NDArray[np.int64]  # (T,) int64, the recorder's receive time in ns
    values: dict[str, NDArray]  # name -> (T, ...) array
    frame_id: str = ''  # the frame of the first message; '' if none, or not requested

    def select(self, is_chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Stream:
        """Returns the samples that are chosen: (T,) booleans, or their places."""
        return replace(
            self,
            stamps=self.stamps[is_chosen],
            received=self.received[is_chosen],
            values={n: chosen_rows(column, is_chosen) for n, column in self.values.items()},
        )

    def __len__(self) -> int:
        return len(self.stamps)


Values = Mapping[str, NDArray]


def column_of(values: Sequence[Any]) -> NDArray:
    """Returns the values of T samples as a column (T,), arrays as objects: their shapes differ."""
    if not values or not isinstance(values[0], np.ndarray):
        return np.array(values)
    column = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        column[place] = value
    return column


@dataclass(frozen=True)
class MessageForm:
    """The conversion of messages of one type to samples.

    Attributes:
        message_type: such as 'geometry_msgs/msg/PoseStamped'.
        fields: value of a Stream -> path in the message, or paths that are joined; of a
            sequence there is also `<value>_count`.
        from_message: returns the sample of a message, live or of a bag.
        from_columns: returns the same samples of the values of a Stream.
        optional: paths that messages of an older version lack; their values are left out then.
        read: reads a topic's receive times and values, where columns do not suffice.
    """

    message_type: str
    fields: Mapping[str, str | tuple[str, ...]] = field(default_factory=dict)
    from_message: Callable[..., Any] = lambda message: message
    from_columns: Callable[[Values], list[Any]] | None = None
    optional: tuple[str, ...] = ()
    read: Callable[..., tuple[NDArray, dict[str, NDArray]]] | None = None


@dataclass(frozen=True)
class RecordedStream:
    """One stream of a bag.

    Attributes:
        role: its role for the metrics.
        topics: names that can play it, below the robot's namespace, the preferred first.
        forms: of every type of message that it can have, the usual first.
        usable: returns the value that the pipeline takes of a sample; None: it cannot be used.
        is_steady: whether it is sent all the time, so that a pause is a gap.
        is_target: whether it is a place that holds until the next message.
        is_live: whether it holds metrics that were computed live.
        is_framed: whether the frame of its messages is of interest.
    """

    role: str
    topics: tuple[str, ...]
    forms: tuple[MessageForm, ...]
    usable: Callable[[Any], Any] = lambda sample: sample
    is_steady: bool = False
    is_target: bool = False
    is_live: bool = False
    is_framed: bool = False

    @property
    def message_type(self) -> str:
        """The usual type of its messages."""
        return self.forms[0].message_type

    @property
    def from_message(self) -> Callable[..., Any]:
        """Returns the sample of a message of the usual type."""
        return self.forms[0].from_message

    def form(self, message_type: str) -> MessageForm | None:
        """Returns the form of messages of a type; None: it has none."""
        return next((form for form in self.forms if form.message_type == message_type), None)
