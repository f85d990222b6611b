# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""States and events of contacts, written into a bag as the contact node would publish them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from frame_ros.bags.messages import MessageMaker
from frame_ros.bags.streams.contacts import CONTACT_TYPE
from frame_ros.bags.writer import BagWriter
from frame_ros.sensing.contact.composition.state import ContactRecord
from frame_ros.sensing.contact.tracker import ContactEventRecord, ContactEventType

EVENT_TYPE = 'frame_ros/msg/ContactEvent'
WRENCH_TYPE = 'geometry_msgs/msg/WrenchStamped'
# Fields of a ContactState that a ContactRecord has under the same name.
SAME = (
    'source', 'unavailable', 'in_contact', 'in_collision', 'force', 'force_threshold',
    'response_time', 'warnings', 'joint_names', 'joint_residuals', 'joint_thresholds', 'is_stalled',
)  # fmt: skip
# Likewise of an event.
SAME_OF_EVENT = (
    'type', 'source', 'id', 'link', 'other', 'is_expected', 'reason', 'position', 'normal', 'force',
    'peak_force', 'impulse', 'duration',
)  # fmt: skip
# Field of a ContactState, one entry per contact -> that of a contact.
OF_CONTACTS = {
    'links': 'link', 'others': 'other', 'is_expected': 'is_expected', 'reasons': 'reason',
    'forces': 'force', 'peak_forces': 'peak_force', 'durations': 'duration',
    'impulses': 'impulse', 'positions': 'position', 'normals': 'normal',
}  # fmt: skip
OF_BELIEFS = {
    'belief_links': 'link', 'belief_sources': 'source', 'belief_states': 'state',
    'belief_probabilities': 'probability', 'belief_reasons': 'reason',
}  # fmt: skip


@dataclass
class Tally:
    """Counts of what was written.

    Attributes:
        states, events, contacts: messages, and contacts that began.
        unavailable: reason -> states in which contact was not known for it.
    """

    states: int = 0
    events: int = 0
    contacts: int = 0
    unavailable: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class OutputTopics:
    """Absolute topics of states, events and the external wrench; '': that one is not written."""

    state: str
    events: str
    wrench: str

    @property
    def names(self) -> tuple[str, ...]:
        """Those that are written."""
        return tuple(filter(None, (self.state, self.events, self.wrench)))


class BagOutputs:
    """Writes what ContactSensing finds.

    Attributes:
        received: ns, the receive time of what comes next.
        tally: counts.
    """

    def __init__(self, writer: BagWriter, topics: OutputTopics) -> None:
        """Raises BagError, OSError: the topics cannot be added."""
        self._writer = writer
        self._state = MessageMaker(CONTACT_TYPE)
        self._event = MessageMaker(EVENT_TYPE)
        self._wrench = MessageMaker(WRENCH_TYPE)
        makers = [(topics.state, self._state), (topics.events, self._event)]
        makers += [(topics.wrench, self._wrench)] if topics.wrench else []
        self._channels = {
            maker.definition.message_type: writer.add_topic(
                name, maker.definition.message_type, maker.definition
            )
            for name, maker in makers
        }
        self.frame = ''  # of all that is written
        self.received = 0
        self.tally = Tally()

    def state(self, record: ContactRecord) -> None:
        """Writes a state, and the external wrench, if it is known."""
        values = {name: getattr(record, name) for name in SAME}
        values |= _columns(record.contacts, OF_CONTACTS) | _columns(record.beliefs, OF_BELIEFS)
        force, torque = record.wrench[:3], record.wrench[3:]
        wrench = {'force': force, 'torque': torque}
        self._write(self._state, record.stamp, {**values, 'wrench': wrench})
        if record.is_known and WRENCH_TYPE in self._channels:
            self._write(self._wrench, record.stamp, {'wrench': wrench})
        self.tally.states += 1
        if record.unavailable:
            self.tally.unavailable[record.unavailable] += 1

    def event(self, record: ContactEventRecord) -> None:
        """Writes an event."""
        values = {name: getattr(record, name) for name in SAME_OF_EVENT}
        self._write(self._event, record.stamp, values)
        self.tally.events += 1
        if record.type is ContactEventType.BEGIN:
            self.tally.contacts += 1

    def _write(self, maker: MessageMaker, stamp: int, values: Mapping[str, Any]) -> None:
        data = maker.data(header={'stamp': max(stamp, 0), 'frame_id': self.frame}, **values)
        channel = self._channels[maker.definition.message_type]
        self._writer.write(channel, self.received, data, self.received)


def _columns(rows: Any, fields: Mapping[str, str]) -> dict[str, list[Any]]:
    return {name: [getattr(row, own) for row in rows] for name, own in fields.items()}
