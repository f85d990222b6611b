# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Counts of messages that an input has taken and lost."""

from __future__ import annotations

import contextlib
import struct
from typing import Any

from frame_ros.core.time import stamp_ns, stamp_of_serialised


class InputTally:
    """Counts of one input over all its subscriptions.

    Attributes:
        received: messages taken.
        lost: those missing by the publication numbers; they count once `set_publishers` has
            confirmed that one publisher had sent all of them.
        first_received, last_received: ns of the system's clock; 0: none came.
        first_stamp: header.stamp of the first message, ns; 0 without.
    """

    __slots__ = (
        'received', 'lost', 'first_received', 'last_received', 'first_stamp', '_last', '_number',
        '_publishers', '_has_header', '_missing',
    )  # fmt: skip

    def __init__(self, message_type: Any) -> None:
        self.received = self.lost = 0
        self.first_received = self.last_received = self.first_stamp = 0
        self._last: Any = None
        self._number = self._publishers = self._missing = 0
        fields = message_type.get_fields_and_field_types()
        self._has_header = next(iter(fields), '') == 'header'

    def add(self, taken: list[tuple[Any, dict[str, int]]]) -> None:
        """Notes messages, oldest first; at least one."""
        message, info = taken[-1]
        self.last_received, self._last = info['received_timestamp'], message
        if not self.received:
            first, first_info = taken[0]
            self.first_received = first_info['received_timestamp']
            self.first_stamp = self._stamp_of(first)
        count = len(taken)
        self.received += count
        number = info.get('publication_sequence_number') or 0
        if self._publishers == 1 and self._number and number > self._number + count:
            self._missing += number - self._number - count
        self._number = number

    def set_publishers(self, count: int) -> None:
        """Sets the number of publishers, whose numbers are indistinguishable if several. Call it as
        often as that is known.
        """
        if count != self._publishers:
            self._publishers, self._number = count, 0
        else:
            self.lost += self._missing
        self._missing = 0

    def restart_numbers(self) -> None:
        """Restarts the numbers for another subscription."""
        self._number = 0

    @property
    def last_stamp(self) -> int:
        """header.stamp of the newest message, ns; 0 without."""
        return self._stamp_of(self._last)

    def _stamp_of(self, message: Any) -> int:
        if message is None or not self._has_header:
            return 0
        if isinstance(message, bytes):
            with contextlib.suppress(ValueError, struct.error):  # a damaged one has none
                return stamp_of_serialised(message) if len(message) >= 2 else 0
            return 0
        return stamp_ns(message.header.stamp)
