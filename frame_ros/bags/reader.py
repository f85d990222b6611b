# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A bag as tables of messages per topic: MCAP (whole or cut), and all other rosbag2 storage."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.cdr import decode, stack_rows
from frame_ros.bags.definitions import parse_fields
from frame_ros.bags.find_bags import storage_files, unlisted_files
from frame_ros.bags.findings import Note
from frame_ros.bags.message_forms import fitting_definition
from frame_ros.bags.message_table import MessageTable, table_of
from frame_ros.bags.metadata import bag_information, listed_names, sidecar_of
from frame_ros.bags.older_messages import conflict_with_known, filled_typestore
from frame_ros.bags.storage.mcap_reader import Channel, McapFile, read_mcap
from frame_ros.bags.storage.other_storage import (
    CDR,
    KeptBlocks,
    is_other_storage,
    read_other_storage,
)
from frame_ros.bags.writer import METADATA_RECORD, PARTIAL_SUFFIX, SIDECAR_NAME
from frame_ros.core.errors import BagError
from frame_ros.core.plain_text import counted
from frame_ros.core.time import SECOND

# In the report of a topic in another encoding than that of ROS 2, behind its name.
LEFT_OUT = 'is encoded as'
# Fact of a copy: the recording had been cut.
OF_CUT = 'copied_from_cut'
STAMP = 'header.stamp'


@dataclass
class Topic:
    """A topic of a bag. types: its definition and contained ones; empty for `reason`. facts: what
    an MCAP file says of it besides, of rosbag2 offered_qos_profiles and topic_type_hash.
    """

    name: str
    message_type: str
    definition: str
    encoding: str
    tables: list[MessageTable] = field(default_factory=list)
    types: dict[str, Any] = field(default_factory=dict)
    reason: str = ''
    facts: dict[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(map(len, self.tables))

    @property
    def first(self) -> bytes | None:
        """The serialised bytes of a message, the first of a file; None without any."""
        return next((table.data(0).tobytes() for table in self.tables if len(table)), None)


class Bag:
    """One bag: a folder, a `.partial` folder, or a single storage file.

    Args:
        path: of the bag.
        wants: whether the messages of a type are needed; None: those of all are. Others may be
            missing, and cannot be read.
        is_by_receipt: whether the receive time of a message takes the place of its header stamp.

    Attributes:
        topics: name -> Topic.
        metadata: facts written by the recorder.
        is_truncated: whether it was cut.
        problems: remarks for the user; a `Note` among them makes no number doubtful.

    Raises:
        BagError: the path is not a bag, or of ROS 1.
    """

    def __init__(
        self,
        path: str | Path,
        wants: Callable[[str], bool] | None = None,
        is_by_receipt: bool = False,
    ) -> None:
        self.path = Path(path)
        self.is_by_receipt = is_by_receipt
        self._wants = wants
        self.topics: dict[str, Topic] = {}
        self.metadata: dict[str, str] = {}
        self.problems: list[str] = []
        self.sidecar: dict[str, Any] = {}
        self.is_truncated = False
        self._typestores: dict[str, Any] = {}
        files, kept = storage_files(self.path), KeptBlocks()
        if self.path.is_file() and len(files) > 1:
            others = ', '.join(file.name for file in files[1:])
            self.report(Note(f'{self.path.name} goes on in {others}: read as one recording'))
        self._read_folder_metadata()
        for file in files:
            if is_other_storage(file):
                self._add_other_storage(file, kept)
            else:
                self._add_mcap(read_mcap(file, self._wants_channel if wants else None))
        if self.path.name.endswith(PARTIAL_SUFFIX) and not self.is_truncated:
            self.is_truncated = True
            self.problems.append('the recorder was stopped before it finished this bag')
        if OF_CUT in self.metadata and not self.is_truncated:
            self.is_truncated = True
            self.problems.append('the recording that this bag is a copy of had been cut')
        self._find_types()

    @property
    def name(self) -> str:
        """The bag's name, without `.partial` and suffix."""
        name = self.path.name if self.path.is_dir() else self.path.stem
        return name.removesuffix(PARTIAL_SUFFIX)

    @property
    def message_count(self) -> int:
        """Messages on all topics."""
        return sum(map(len, self.topics.values()))

    def received(self, topic: str) -> NDArray[np.int64]:
        """Returns the receive times (N,), ns, of a topic."""
        return np.concatenate([t.received for t in self._topic(topic).tables])

    def columns(
        self, topic: str, paths: Collection[str] | None = None
    ) -> tuple[NDArray[np.int64], dict[str, NDArray]]:
        """Returns receive times (T,), ns, and fields of a topic's readable messages; see
        `layout.decode`.

        Messages that do not fit their definition are left out and reported in `problems`.

        Raises:
            BagError: there is no such topic, or its type is not readable.
        """
        found = self._topic(topic)
        types = self.types_of(found)
        received, parts, bad = [], [], []
        for table in found.tables:
            indices, columns = decode(
                types,
                found.message_type,
                table,
                paths,
                lambda index, error: bad.append(str(error)),
            )
            received.append(table.received[indices])
            parts.append(columns)
        if bad:
            self.report(f'{topic}: {len(bad)} unreadable messages left out (first: {bad[0]})')
        arrivals, joined = np.concatenate(received), _join(parts)
        if self.is_by_receipt and STAMP in joined:
            joined[STAMP] = arrivals.copy()
        return arrivals, joined

    def messages(self, topic: str, as_written: bool = False) -> Iterator[tuple[int, Any]]:
        """Yields receive time (ns) and message, deserialised by `rosbags`, of a topic.

        as_written: as `raw` takes it.

        Raises:
            BagError: there is no such topic, or its type is not readable.
        """
        found = self._topic(topic)
        for received, data in self.raw(topic, as_written):
            try:
                message = self.deserialize(found, data)
            except BagError as error:
                self.report(f'{topic}: an unreadable message was left out ({error})')
                continue
            if self.is_by_receipt and hasattr(message, 'header'):
                stamp = message.header.stamp
                # The classes of some of rosbags' stores are frozen.
                object.__setattr__(stamp, 'sec', received // SECOND)
                object.__setattr__(stamp, 'nanosec', received % SECOND)
            yield received, message

    def raw(self, topic: str, as_written: bool = False) -> Iterator[tuple[int, NDArray[np.uint8]]]:
        """Yields receive time (ns) and serialised bytes of a topic.

        as_written: in the order of the files, not of the receive times, which begin again where a
            simulated clock was set back.
        """
        for table in self._topic(topic).tables:
            for index in np.argsort(table.written) if as_written else range(len(table)):
                yield int(table.received[index]), table.data(index)

    def deserialize(self, topic: Topic, data: NDArray[np.uint8]) -> Any:
        """Returns one message of a topic as an object with the message's attributes.

        Raises:
            BagError: the bytes do not fit the definition.
        """
        store = self._typestores.get(topic.message_type)
        if store is None:
            store = self._typestores[topic.message_type] = self._typestore(topic)
        try:
            return store.deserialize_cdr(memoryview(data.tobytes()), topic.message_type)
        except Exception as error:  # rosbags' generated code raises whatever the bytes lead it to
            raise BagError(f'{topic.message_type}: {error}') from error

    def _typestore(self, topic: Topic) -> Any:
        self.types_of(topic)
        store, missing = filled_typestore(topic.message_type, topic.definition, topic.encoding)
        if missing:
            fields = ', '.join(missing)
            self.report(Note(f'recorded before there were {fields}: their values are not known'))
        return store

    def types_of(self, topic: Topic) -> dict[str, Any]:
        """Returns the definition of a topic's type, and of contained ones.

        Raises:
            BagError: it cannot be read, or differs from that of the installed package.
        """
        if not topic.types:
            raise BagError(f'{topic.name} cannot be read: {topic.reason}')
        if text := conflict_with_known(topic.message_type, topic.types):
            raise BagError(f'{topic.name} cannot be read: {text}')
        return topic.types

    # -- opening -----------------------------------------------------------------------

    def _topic(self, name: str) -> Topic:
        if name not in self.topics:
            raise BagError(
                f'{self.path} has no topic {name}; it has {", ".join(sorted(self.topics))}'
            )
        return self.topics[name]

    def report(self, text: str) -> None:
        """Adds to the problems, each once."""
        if text not in self.problems:
            self.problems.append(text)

    def _read_folder_metadata(self) -> None:
        if not self.path.is_dir():
            return
        try:
            information = bag_information(self.path)
        except (OSError, ValueError) as error:
            self.report(f'metadata.yaml cannot be read and was ignored: {_reason(error)}')
            information = None
        if information is not None:
            self._take_facts(information.get('custom_data') or {})
            self._check_files(information)
        try:
            self.sidecar = sidecar_of(self.path)
            self._take_facts(self.sidecar.get('metadata', {}))
        except (OSError, ValueError) as error:
            self.report(f'{SIDECAR_NAME} cannot be read and was ignored: {_reason(error)}')

    def _wants_channel(self, channel: Channel) -> bool:
        return self._wants is None or self._wants(channel.message_type)

    def _take_facts(self, facts: dict[str, Any]) -> None:
        self.metadata.update({str(key): str(value) for key, value in facts.items()})

    def _check_files(self, information: dict[str, Any]) -> None:
        """Reports files listed in metadata.yaml that cannot be read."""
        names = listed_names(information)
        missing = [name for name in names if not os.path.exists(self.path / name)]
        if missing:
            self.report(f'files that metadata.yaml lists are missing: {", ".join(missing)}')
        if unlisted := [file.name for file in unlisted_files(self.path)]:
            others = ', '.join(unlisted)
            self.report(f'not read, since metadata.yaml does not list them: {others}')
        packing = str(information.get('compression_format') or 'zstd')
        if str(information.get('compression_mode')).lower() == 'message' and packing != 'zstd':
            self.report(f'messages are compressed as {packing!r}; only zstd can be read')

    def _add_mcap(self, file: McapFile) -> None:
        self.metadata.update(file.metadata.get(METADATA_RECORD, {}))
        self.problems += file.problems
        if file.is_truncated:
            self.is_truncated = True
            self.report(
                f'{file.path.name} was cut (killed recorder or incomplete copy): '
                f'{counted(len(file.rows), "message")} could be read'
            )
        every = file.take_rows()
        for channel, identities in _topics_of(file):
            if channel.encoding != CDR:
                self._leave_out(channel.topic, channel.encoding)
                continue
            rows = every[np.isin(every['channel'], identities)]
            order = np.argsort(rows['received'], kind='stable')
            rows = rows[order]
            table = table_of(
                rows['received'],
                rows['published'],
                order,
                rows['segment'],
                rows['offset'],
                rows['length'],
                file.buffer,
            )
            self._add_table(
                channel.topic,
                channel.message_type,
                channel.definition,
                channel.schema_encoding,
                table,
            )
            self.topics[channel.topic].facts |= channel.metadata

    def _add_other_storage(self, file: Path, kept: KeptBlocks) -> None:
        storage = read_other_storage(file, kept)
        self.is_truncated |= storage.is_cut
        if storage.problem:
            self.report(storage.problem if storage.is_cut else Note(storage.problem))
        if storage.lost:
            lost = counted(storage.lost, 'message')
            self.report(f'{file.name}: {lost} without a time, bytes or topic left out')
        for name, encoding in storage.other_encodings.items():
            self._leave_out(name, encoding)
        for part in storage.topics:
            places = part.places
            received, rows, blocks, offsets, lengths = (
                np.array(each, np.int64)
                for each in (
                    places.received, places.rows, places.blocks, places.offsets, places.lengths,
                )
            )  # fmt: skip
            table = table_of(received, received, rows, blocks, offsets, lengths, part.buffer)
            self._add_table(part.topic, part.message_type, part.definition, part.encoding, table)

    def _leave_out(self, topic: str, encoding: str) -> None:
        self.report(f'{topic} {LEFT_OUT} {encoding!r}, not cdr: left out')

    def _add_table(
        self, name: str, message_type: str, definition: str, encoding: str, table: MessageTable
    ) -> None:
        topic = self.topics.setdefault(name, Topic(name, message_type, definition, encoding))
        if topic.message_type != message_type:
            self.report(f'{name} has two types: {topic.message_type}, and {message_type}, left out')
            return
        topic.tables.append(table)

    def _find_types(self) -> None:
        parsed: dict[tuple[str, str], dict[str, Any]] = {}
        for topic in self.topics.values():
            if self._wants is not None and not self._wants(topic.message_type):
                topic.reason = 'its messages were not asked for'
                continue
            try:
                if not topic.definition:
                    topic.definition = fitting_definition(topic.message_type, topic.first)
                    topic.encoding = 'ros2msg'
                key = (topic.message_type, topic.definition)
                if key not in parsed:
                    parsed[key] = parse_fields(*key, topic.encoding)
                topic.types = parsed[key]
                if topic.message_type not in topic.types:
                    raise BagError(f'its definition does not define {topic.message_type}')
            except BagError as error:
                topic.types, topic.reason = {}, str(error)
                self.report(f'{topic.name} cannot be read: {error}')


def _reason(error: OSError | ValueError) -> str:
    return str(getattr(error, 'strerror', None) or error)


def _topics_of(file: McapFile) -> list[tuple[Channel, list[int]]]:
    """Returns the first channel of each topic and type of a file, and the ids of all its channels:
    publishers, and merged files, may have channels of their own."""
    found: dict[tuple[str, str, str], tuple[Channel, list[int]]] = {}
    for identity, channel in file.channels.items():
        key = (channel.topic, channel.message_type, channel.encoding)
        found.setdefault(key, (channel, []))[1].append(identity)
    return list(found.values())


def _join(parts: list[dict[str, NDArray]]) -> dict[str, NDArray]:
    filled = [part for part in parts if part]
    if len(filled) < 2:
        return filled[0] if filled else {}
    # One column alone is in memory twice.
    return {path: stack_rows([part.pop(path) for part in filled]) for path in [*filled[0]]}
