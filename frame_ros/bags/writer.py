# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One rosbag2 bag (MCAP storage) per episode, as `ros2 bag` and `rosbags` read it.

While it grows the bag is the folder `<name>.partial`; finished, it is renamed to `<name>`. Each has
`<name>_0.mcap` and the sidecar `episode.json`; a finished one also `metadata.yaml`. The sidecar's
`state` is `recording`, `finished`, or `failed` with a `problem`; a failed bag stays partial.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import yaml

from frame_ros.bags.definitions import MessageDefinition, find_definition
from frame_ros.bags.storage.mcap_writer import COMPRESSION_LEVEL, McapWriter, check_level
from frame_ros.core.errors import BagError
from frame_ros.core.output_files import replacing

PARTIAL_SUFFIX = '.partial'
SIDECAR_NAME = 'episode.json'
METADATA_NAME = 'metadata.yaml'
TEMPORARY_SUFFIX = '.tmp'
METADATA_RECORD = 'frame_ros'
METADATA_VERSION = 9
INFINITE = {'sec': 9223372036, 'nsec': 854775807}


@dataclass(frozen=True)
class TopicQos:
    """The quality of service that a publisher offers, in rosbag2's words."""

    reliability: str = 'reliable'
    durability: str = 'volatile'
    history: str = 'keep_last'
    depth: int = 10
    liveliness: str = 'automatic'

    def to_dict(self) -> dict[str, Any]:
        """Returns it in the form of metadata.yaml, version 9."""
        return {
            'history': self.history,
            'depth': self.depth,
            'reliability': self.reliability,
            'durability': self.durability,
            'deadline': dict(INFINITE),
            'lifespan': dict(INFINITE),
            'liveliness': self.liveliness,
            'liveliness_lease_duration': dict(INFINITE),
            'avoid_ros_namespace_conventions': False,
        }


@dataclass
class _Topic:
    name: str
    definition: MessageDefinition
    qos: list[TopicQos] = field(default_factory=list)


class BagWriter:
    """Writes one bag.

    Args:
        folder: the finished bag's folder; its parent is made if missing.
        metadata: facts about the episode, written into the bag and the sidecar at once, so that a
        cut bag has them.
        chunk_size: bytes after which data is handed to the operating system.
        flush_period: s after which it is, if `flush_if_due` or `write` is called often enough.
        compression_level: of zstd; 0: no compression.

    Raises:
        BagError: the folder, or its partial form, exists or cannot be made.
        ValueRangeError: there is no such level of compression.
    """

    def __init__(
        self,
        folder: str | Path,
        metadata: Mapping[str, object] | None = None,
        chunk_size: int = 4 << 20,
        flush_period: float = 0.25,
        compression_level: int = COMPRESSION_LEVEL,
    ) -> None:
        check_level(compression_level)
        self.folder = Path(folder)
        self.partial = self.folder.with_name(self.folder.name + PARTIAL_SUFFIX)
        self._file_name = f'{self.folder.name}_0.mcap'
        self._topics: dict[int, _Topic] = {}
        self._schemas: dict[tuple[str, str], int] = {}  # by type and definition
        self._is_finished = False
        self.metadata = _texts(metadata or {})
        self._refuse_existing(self.folder, self.partial)
        is_made = False
        try:
            self.partial.mkdir(parents=True)
            is_made = True
            # Another recorder may have finished a bag of this name just now.
            self._refuse_existing(self.folder)
            self._mcap = McapWriter(
                self.partial / self._file_name,
                chunk_size=chunk_size,
                flush_period=flush_period,
                compression_level=compression_level,
            )
            self._mcap.add_metadata(METADATA_RECORD, self.metadata)
            self._write_sidecar('recording', {})
        except (OSError, BagError) as error:
            if is_made:
                self.discard()
            raise BagError(f'cannot make the bag {self.partial}: {error}') from error
        except KeyboardInterrupt:
            if is_made:
                self.discard()
            else:  # it may have come right behind the folder
                with contextlib.suppress(OSError):
                    self.partial.rmdir()
            raise

    @staticmethod
    def _refuse_existing(*folders: Path) -> None:
        for folder in folders:
            if os.path.lexists(folder):
                raise BagError(f'{folder} exists: nothing is overwritten')

    @property
    def size(self) -> int:
        """Bytes so far."""
        return self._mcap.size

    def counts(self) -> dict[str, int]:
        """Returns topic -> messages written so far."""
        return {topic.name: self._mcap.counts[channel] for channel, topic in self._topics.items()}

    def dropped(self) -> dict[str, int]:
        """Returns topic -> messages accepted that could not be written, where there are any."""
        dropped = self._mcap.dropped
        return {topic.name: dropped[i] for i, topic in self._topics.items() if dropped[i]}

    def add_topic(
        self,
        topic: str,
        message_type: str,
        definition: MessageDefinition | None = None,
        qos: Sequence[TopicQos] = (TopicQos(),),
    ) -> int:
        """Returns the channel number of a new topic.

        Args:
            topic: its absolute name.
            message_type: 'package/msg/Name'.
            definition: where the caller has it already; otherwise it is looked for.
            qos: that of each publisher.

        Raises:
            BagError: the type's definition is not found.
            OSError: the disk is full or gone; there is no such channel.
        """
        found = definition or find_definition(message_type)
        schema = (message_type, found.text)
        if schema not in self._schemas:
            self._schemas[schema] = self._mcap.add_schema(
                message_type, found.encoding, found.text.encode()
            )
        offered = _yaml([profile.to_dict() for profile in qos]) if qos else ''
        channel = self._mcap.add_channel(
            topic,
            self._schemas[schema],
            {'offered_qos_profiles': offered, 'topic_type_hash': found.type_hash},
        )
        self._topics[channel] = _Topic(topic, found, list(qos))
        return channel

    def write(
        self,
        channel: int,
        received: int,
        data: bytes | memoryview,
        published: int = 0,
        keep: bool = False,
    ) -> None:
        """Adds one serialised message (CDR). received, published: ns; published 0: unknown.

        keep: tried again if it could not be written.

        Raises:
            BagError: received is out of range; the message is not added.
            OSError: the disk is full or gone. The message was accepted; what was not written is
            counted in `dropped`. Writing may be tried again.
        """
        self._mcap.write(channel, received, data, published, keep)

    def flush(self) -> None:
        """Hands everything written so far to the operating system. Raises: OSError, as `write`."""
        self._mcap.flush()

    def settle(self) -> None:
        """Writes what it can and counts the rest as dropped, finally."""
        self._mcap.settle()

    def flush_if_due(self) -> None:
        """Flushes if the oldest pending message is older than the flush period."""
        self._mcap.flush_if_due()

    def finish(self, metadata: Mapping[str, object] | None = None, **facts: Any) -> Path:
        """Closes the bag, writes its metadata and gives it its final name.

        Args:
            metadata: facts known only now (outcome, notes), added to those given at the start.
            facts: further entries of the sidecar.

        Returns:
            The bag's folder.

        Raises:
            BagError: something cannot be written, or the name is taken by now; what is there stays
            in the partial folder, whose sidecar has the state `failed` if it can be written.
        """
        self.metadata.update(_texts(metadata or {}))
        try:
            self._finish_files()
            self._write_sidecar('finished', facts)
            self._take_final_name()
        except OSError as error:
            self._mark_failed(f'it could not be finished: {error}', facts)
            raise BagError(f'cannot finish the bag {self.partial}: {error}') from error
        self._is_finished = True
        return self.folder

    def abandon(
        self, problem: str, metadata: Mapping[str, object] | None = None, **facts: Any
    ) -> None:
        """Closes the bag with as much as can be written, and leaves it partial, with the state
        `failed` and the problem. Arguments as for `finish`; raises nothing of the disk's."""
        self.metadata.update(_texts(metadata or {}))
        with contextlib.suppress(OSError):
            self._finish_files()
        self._mark_failed(problem, facts)

    def discard(self) -> None:
        """Deletes the partial bag, as far as possible."""
        if hasattr(self, '_mcap'):
            self._mcap.close()
        small = (SIDECAR_NAME, METADATA_NAME)
        for name in (self._file_name, *small, *(each + TEMPORARY_SUFFIX for each in small)):
            with contextlib.suppress(OSError):
                (self.partial / name).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self.partial.rmdir()

    def _finish_files(self) -> None:
        self._mcap.settle()
        self._mcap.add_metadata(METADATA_RECORD, self.metadata)
        information = self._information()
        self._mcap.add_metadata('rosbag2', {'serialized_metadata': _yaml(information)})
        self._mcap.finish()
        text = _yaml({'rosbag2_bagfile_information': information})
        _replace(self.partial / METADATA_NAME, text)

    def _take_final_name(self) -> None:
        """Renames the folder. Making the final folder first fails if the name is taken; renaming
        over an empty folder does not.
        """
        self.folder.mkdir()
        try:
            os.rename(self.partial, self.folder)
        except OSError:
            with contextlib.suppress(OSError):
                self.folder.rmdir()
            raise

    def _mark_failed(self, problem: str, facts: Mapping[str, Any]) -> None:
        with contextlib.suppress(OSError):
            self.close()
        with contextlib.suppress(OSError):
            self._write_sidecar('failed', {**facts, 'problem': problem})

    def close(self) -> None:
        """Closes the file. Not finished, it stays as `<name>.partial`."""
        if not self._is_finished:
            self._mcap.close()

    def __enter__(self) -> BagWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None and not self._is_finished:
            self.finish()
        self.close()

    def _information(self) -> dict[str, Any]:
        start = self._mcap.start or 0
        times = {
            'duration': {'nanoseconds': max(0, self._mcap.end - start)},
            'starting_time': {'nanoseconds_since_epoch': start},
        }
        count = self._mcap.message_count
        return {
            'version': METADATA_VERSION,
            'storage_identifier': 'mcap',
            **times,
            'message_count': count,
            'topics_with_message_count': [
                {
                    'topic_metadata': _topic_metadata(topic),
                    'message_count': self._mcap.counts[channel],
                }
                for channel, topic in self._topics.items()
            ],
            'compression_format': '',
            'compression_mode': '',
            'relative_file_paths': [self._file_name],
            'files': [{'path': self._file_name, **times, 'message_count': count}],
            'custom_data': self.metadata or None,
            'ros_distro': os.environ.get('ROS_DISTRO', 'jazzy'),
        }

    def _write_sidecar(self, state: str, facts: Mapping[str, Any]) -> None:
        topics = {
            topic.name: {
                'type': topic.definition.message_type,
                'messages': self._mcap.counts[channel],
            }
            for channel, topic in self._topics.items()
        }
        content = {'state': state, 'metadata': self.metadata, 'topics': topics, **facts}
        _replace(self.partial / SIDECAR_NAME, json.dumps(content, indent=2) + '\n')


def _topic_metadata(topic: _Topic) -> dict[str, Any]:
    return {
        'name': topic.name,
        'type': topic.definition.message_type,
        'serialization_format': 'cdr',
        'offered_qos_profiles': [qos.to_dict() for qos in topic.qos],
        'type_description_hash': topic.definition.type_hash,
    }


def _texts(values: Mapping[str, object]) -> dict[str, str]:
    return {str(key): str(value) for key, value in values.items()}


def _yaml(content: Any) -> str:
    return yaml.dump(content, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True)


class _PlainDumper(yaml.SafeDumper):
    """YAML without anchors: rosbag2's reader is plain."""

    def ignore_aliases(self, data: Any) -> bool:
        """Never refers back to an equal value."""
        return True


def _replace(path: Path, text: str) -> None:
    """Writes a small file whole or not at all."""
    with replacing(path, path.with_name(path.name + TEMPORARY_SUFFIX)) as part:
        part.write_text(text, encoding='utf-8')
