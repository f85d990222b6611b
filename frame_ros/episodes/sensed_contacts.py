# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sensed contacts of an episode, one by one, and times at which the sensors were unavailable."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND, stamp_ns
from frame_ros.episodes.bounds import bounds_of
from frame_ros.episodes.episode import Episode
from frame_ros.sensing.contact.source import ContactSource

EVENT_TYPE = 'frame_ros/msg/ContactEvent'
ALIGNMENT_TYPE = 'frame_ros/msg/CameraAlignment'
# A reason that recurs within this time continues, ns.
SAME_OUTAGE = SECOND
SENSORS = {
    'contact': 'frame_ros/msg/ContactState',
    'proximity': 'frame_ros/msg/Proximity',
}


@dataclass(frozen=True)
class RecordedContact:
    """One contact.

    Attributes:
        begin, end: ns.
        number: the sensor's, equal for begin and end.
        link, other: '' if unknown.
        position: m, in `frame`; NaN if unknown.
        force, peak_force: N; NaN if not measured.
        impulse: N s; NaN if not measured.
        is_open: it had not ended by the episode's end.
        is_cut: it had begun before the episode.
    """

    begin: int
    end: int
    number: int
    source: ContactSource
    link: str
    other: str
    is_expected: bool
    reason: str
    peak_force: float
    impulse: float
    position: tuple[float, float, float]
    frame: str
    is_open: bool = False
    is_cut: bool = False

    @property
    def duration(self) -> float:
        """s within the episode."""
        return (self.end - self.begin) / SECOND


@dataclass(frozen=True)
class Outage:
    """A stretch [begin, end] (ns) in which a sensor, 'contact' or 'proximity', was unavailable."""

    sensor: str
    reason: str
    begin: int
    end: int

    @property
    def duration(self) -> float:
        """s."""
        return (self.end - self.begin) / SECOND


@dataclass(frozen=True)
class CameraCheck:
    """The calibration check's results for one camera in an episode. They are how often it was
    conclusive, how often the camera was misaligned, the largest offset then (m and rad), and the
    offset that was found last, aligned or not: translation (3,) m and rotation vector (3,) rad of
    its true pose from the assumed one in the base frame, None if none was.
    """

    camera: str
    checked: int
    misaligned: int
    largest_translation: float
    largest_rotation: float
    translation: tuple[float, ...] | None
    rotation: tuple[float, ...] | None
    unavailable: str


@dataclass(frozen=True)
class SensedContacts:
    """Contacts by their begin; None: the bag has no contact events, though something was touched or
    nothing is known of that.

    Outages and cameras likewise. begin, end: of the episode, ns.
    """

    begin: int
    end: int
    contacts: tuple[RecordedContact, ...] | None
    outages: tuple[Outage, ...] = ()
    cameras: tuple[CameraCheck, ...] = ()

    @property
    def unexpected(self) -> int:
        """Number of contacts that were not expected."""
        return sum(not contact.is_expected for contact in self.contacts or ())


def sensed_contacts(episode: Episode, bag: Bag | None) -> SensedContacts:
    """Returns the contacts within an episode, cut to its START and END.

    bag: the episode's; None: nothing is known. Read errors are added to the episode's problems.
    """
    begin, end = bounds_of(episode)
    if bag is None:
        return SensedContacts(begin, end, None)
    namespace = namespace_of(episode)
    events = _messages(bag, episode, EVENT_TYPE, namespace)
    if events is None and _is_untouched(episode, begin, end):
        events = []
    contacts = None if events is None else tuple(_contacts(events, begin, end))
    outages = [
        outage
        for sensor, kind in SENSORS.items()
        if (stream := episode.streams.get(sensor)) is not None and stream.message_type == kind
        for outage in _outages(sensor, bag, stream.topic, begin, end)
    ]
    checks = _messages(bag, episode, ALIGNMENT_TYPE, namespace) or []
    cameras = _camera_checks([m for m in checks if begin <= stamp_ns(m.header.stamp) <= end])
    return SensedContacts(begin, end, contacts, tuple(outages), tuple(cameras))


def _is_untouched(episode: Episode, begin: int, end: int) -> bool:
    """Returns whether contact was sensed, and nothing touched: then no event was published, and the
    bag lacks their topic.
    """
    stream = episode.streams.get('contact')
    if not np.any(episode.metrics.get('safety', {}).get('is_contact_sensed', False)):
        return False
    if stream is None or 'in_contact' not in stream.values:
        return False
    is_within = (stream.stamps >= begin) & (stream.stamps <= end)
    touched = stream.values['in_contact'][is_within].astype(bool)
    return len(touched) > 0 and not touched.any()


def namespace_of(episode: Episode) -> str:
    """Returns the robot's namespace, '' for none, by the topics of the episode's streams."""
    for role in ('action', 'contact', 'proximity', 'pose'):
        if role in episode.streams:
            return episode.streams[role].topic.rpartition('/')[0]
    return ''


def _messages(bag: Bag, episode: Episode, kind: str, namespace: str) -> list[Any] | None:
    """Returns the messages of a type in the robot's namespace by stamp; None without the topic."""
    named = sorted(topic.name for topic in bag.topics.values() if topic.message_type == kind)
    own = [name for name in named if name.startswith(f'{namespace}/')]
    topic = min(own or named, key=len, default=None)
    if topic is None:
        return None
    try:
        messages = [message for _, message in bag.messages(topic)]
    except BagError as error:
        if str(error) not in episode.problems:
            episode.problems.append(str(error))
        return None
    return sorted(messages, key=lambda message: stamp_ns(message.header.stamp))


def _contacts(events: Iterable[Any], begin: int, end: int) -> list[RecordedContact]:
    """Returns contacts, each from the BEGIN and END of one id; the newest event describes it. A
    BEGIN with the id of a lasting contact is from a restarted sensor: the previous contact was not
    seen to end.
    """
    begun: dict[int, Any] = {}
    found: list[RecordedContact] = []
    for event in events:
        number, stamp = int(event.id), stamp_ns(event.header.stamp)
        first = begun.pop(number, None)
        if event.type == 0:
            if first is not None:
                found.append(_unended(first, stamp))
            begun[number] = event
            continue
        since = (
            stamp - round(float(event.duration) * SECOND)
            if math.isfinite(event.duration)
            else stamp
        )
        found.append(
            _contact(event, since if first is None else stamp_ns(first.header.stamp), stamp)
        )
    found += [_unended(event, end) for event in begun.values()]
    inside = [cut(c, begin, end) for c in found if c.end >= begin and c.begin <= end]
    return sorted(inside, key=lambda contact: (contact.begin, contact.number))


def _unended(event: Any, end: int) -> RecordedContact:
    return replace(_contact(event, stamp_ns(event.header.stamp), end), is_open=True)


def _contact(event: Any, begin: int, end: int) -> RecordedContact:
    source = int(event.source)
    is_named = source in ContactSource.__members__.values()
    position = event.position
    return RecordedContact(
        begin, max(begin, end), int(event.id),
        ContactSource(source) if is_named else ContactSource.UNKNOWN,
        str(event.link), str(event.other), bool(event.is_expected), str(event.reason),
        float(event.peak_force), float(event.impulse),
        (float(position.x), float(position.y), float(position.z)), str(event.header.frame_id),
    )  # fmt: skip


def cut(contact: RecordedContact, begin: int, end: int) -> RecordedContact:
    """Returns the part of a contact in [begin, end], ns."""
    is_cut, is_open = contact.begin < begin, contact.is_open or contact.end > end
    first, last = max(contact.begin, begin), min(contact.end, end)
    return replace(contact, begin=first, end=max(first, last), is_cut=is_cut, is_open=is_open)


def _outages(sensor: str, bag: Bag, topic: str, begin: int, end: int) -> list[Outage]:
    """Returns the stretches of messages that measured nothing, with the reason."""
    try:
        _, columns = bag.columns(topic, ['header.stamp', 'unavailable'])
    except BagError:
        return []  # said where the stream was read
    reasons = columns.get('unavailable')
    if reasons is None:
        return []
    found: list[Outage] = []
    for stamp, reason in zip(columns['header.stamp'].tolist(), reasons.tolist(), strict=True):
        if not reason or not begin <= stamp <= end:
            continue
        last = found[-1] if found else None
        if last and last.reason == reason and stamp - last.end <= SAME_OUTAGE:
            found[-1] = replace(last, end=max(last.end, stamp))
        else:
            found.append(Outage(sensor, str(reason), stamp, stamp))
    return found


def _camera_checks(messages: Sequence[Any]) -> list[CameraCheck]:
    by_camera: dict[str, list[Any]] = {}
    for message in messages:
        by_camera.setdefault(str(message.camera), []).append(message)
    return [_camera_check(camera, own) for camera, own in sorted(by_camera.items())]


def _camera_check(camera: str, messages: Sequence[Any]) -> CameraCheck:
    conclusive = [message for message in messages if not message.unavailable]
    wrong = [message for message in conclusive if not message.is_aligned]
    found = [message for message in conclusive if math.isfinite(_norm(message.translation))]
    reasons = [str(message.unavailable) for message in messages if message.unavailable]
    return CameraCheck(
        camera,
        len(conclusive),
        len(wrong),
        max((_norm(message.translation) for message in wrong), default=math.nan),
        max((_norm(message.rotation) for message in wrong), default=math.nan),
        _vector(found[-1].translation) if found else None,
        _vector(found[-1].rotation) if found else None,
        reasons[-1] if reasons and not conclusive else '',
    )


def _norm(vector: Any) -> float:
    return math.hypot(*_vector(vector))


def _vector(vector: Any) -> tuple[float, ...]:
    return float(vector.x), float(vector.y), float(vector.z)
