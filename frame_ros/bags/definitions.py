# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Message definitions of installed packages as rosbag2 stores them: full text and type hash."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from frame_ros.core.errors import BagError, MissingExtraError, install_hint
from frame_ros.core.input_files import DEFINITION, FIELDS, NESTING

SEPARATOR = '=' * 80
FIELD_TYPE = re.compile(r'^\s*([A-Za-z][A-Za-z0-9_/]*)(?:<=\d+)?(?:\[[^\]]*\])?\s+[A-Za-z]')
TYPE_NAME = re.compile(r'([A-Za-z][A-Za-z0-9_]*)/(?:(msg|srv|action)/)?([A-Za-z][A-Za-z0-9_]*)')
# Parsed definitions that are kept: bags of one folder have the same ones.
MOST_KEPT = 256
PRIMITIVES = frozenset(
    ['bool', 'byte', 'char', 'string', 'wstring', 'float32', 'float64']
    + [f'{sign}int{bits}' for sign in ('', 'u') for bits in (8, 16, 32, 64)]
)


@dataclass(frozen=True)
class MessageDefinition:
    """One message type as a bag stores it."""

    message_type: str  # 'package/msg/Name'
    text: str  # its .msg file, then each dependency after a `MSG: package/Name` line
    type_hash: str  # RIHS01 hash of REP-2011
    encoding: str = 'ros2msg'  # of the text


def find_definition(message_type: str) -> MessageDefinition:
    """Returns the definition of a type of any installed package, else of those that `rosbags`
    knows.

    Packages are looked for in `share/` of each prefix in AMENT_PREFIX_PATH; frame_ros's own files
    also next to the code. Contained types may again come from `rosbags`.

    Raises:
        BagError: no definition is found, or one of its dependencies has none.
    """
    return _find_definition(message_type, os.environ.get('AMENT_PREFIX_PATH', ''))


@lru_cache(maxsize=512)
def _find_definition(message_type: str, prefix_path: str) -> MessageDefinition:
    path = _definition_file(message_type, prefix_path)
    if path is None:
        return _known_definition(message_type)
    own = path.read_text(encoding='utf-8')
    text = complete_text(message_type, own, prefix_path)
    return MessageDefinition(message_type, text, _type_hash(message_type, path, text))


def _definition_file(message_type: str, prefix_path: str) -> Path | None:
    match = TYPE_NAME.fullmatch(message_type)
    if match is None:
        raise BagError(
            f'{message_type!r} is not the name of a message type, like std_msgs/msg/String'
        )
    package, kind, name = match[1], match[2] or 'msg', match[3]
    for folder in _share_folders(package, prefix_path):
        path = folder / kind / f'{name}.msg'
        if path.is_file():
            return path
    return None


def _share_folders(package: str, prefix_path: str) -> Iterator[Path]:
    for prefix in filter(None, prefix_path.split(os.pathsep)):
        yield Path(prefix) / 'share' / package
    if package == 'frame_ros':
        yield Path(__file__).resolve().parents[2]
        yield Path(sys.prefix) / 'share' / package


def complete_text(message_type: str, text: str, prefix_path: str = '') -> str:
    """Returns the type's own text, then those of all its dependencies, depth first, each once.

    Raises:
        BagError: a dependency has no definition.
    """
    texts = [text]
    seen = {_short_name(message_type)}

    def append_dependencies(text: str, package: str) -> None:
        """Adds the text of each type that `text` names and that is missing, depth first."""
        for name in _dependencies(text, package):
            if name in seen:
                continue
            seen.add(name)
            found = _definition_file(name, prefix_path)
            content = found.read_text(encoding='utf-8') if found else _known_text(name)
            if not content:
                raise BagError(f'{message_type} needs {name}, whose definition is not installed')
            texts.append(f'MSG: {name}\n{content}')
            append_dependencies(content, name.split('/')[0])

    append_dependencies(text, message_type.split('/')[0])
    return ('\n' + SEPARATOR + '\n').join(texts)


def _dependencies(text: str, package: str) -> list[str]:
    names: list[str] = []
    for line in text.splitlines():
        match = FIELD_TYPE.match(line.split('#')[0])
        if match is None or match[1] in PRIMITIVES:
            continue
        name = match[1] if '/' in match[1] else f'{package}/{match[1]}'
        names.append(_short_name(name))
    return names


def full_name(message_type: str) -> str:
    """Returns 'package/msg/Name' of 'package/Name', as some writers of MCAP files call a type; and
    other texts as they are.
    """
    match = TYPE_NAME.fullmatch(message_type)
    return message_type if match is None or match[2] else f'{match[1]}/msg/{match[3]}'


def _short_name(message_type: str) -> str:
    parts = message_type.split('/')
    return f'{parts[0]}/{parts[-1]}'


def _type_hash(message_type: str, path: Path, text: str) -> str:
    """Returns the hash that rosidl wrote next to the definition; computed if there is none."""
    try:
        hashes = json.loads(path.with_suffix('.json').read_text())['type_hashes']
        return {entry['type_name']: entry['hash_string'] for entry in hashes}[message_type]
    except (OSError, ValueError, KeyError, TypeError):
        return typestore_of(message_type, text).hash_rihs01(message_type)


def _known_text(name: str) -> str:
    """Returns the text of a type 'package/Name' known to `rosbags`; '' if unknown."""
    try:
        return _known_definition(name.replace('/', '/msg/')).text.split(SEPARATOR)[0]
    except BagError:
        return ''


def _known_definition(message_type: str) -> MessageDefinition:
    typesys = _typesys()
    store = typesys.get_typestore(typesys.Stores.ROS2_JAZZY)
    if message_type not in store.fielddefs:
        raise BagError(
            f'no definition of {message_type}: its package is in no prefix of AMENT_PREFIX_PATH; '
            'source the workspace that has it'
        )
    text, _ = store.generate_msgdef(message_type, ros_version=2)
    return MessageDefinition(message_type, text, store.hash_rihs01(message_type))


@lru_cache(maxsize=MOST_KEPT)
def typestore_of(message_type: str, text: str, encoding: str = 'ros2msg') -> Any:
    """Returns a rosbags typestore with the types of one stored definition; the same one for the
    same definition, as in the next bag of a folder: nothing may be registered in it.

    Raises:
        BagError: the text is not a message definition.
        MissingExtraError: rosbags is not installed.
    """
    typesys = _typesys()
    store = typesys.get_typestore(typesys.Stores.EMPTY)
    types = parse_fields(message_type, text, encoding)
    try:
        store.register(types)
    except Exception as error:  # rosbags makes classes of them, as the text leads it to
        raise _unreadable(message_type, error) from error
    return store


def parse_fields(message_type: str, text: str, encoding: str = 'ros2msg') -> dict[str, Any]:
    """Returns type name -> (constants, fields), as rosbags describes them, for a type and all that
    it contains.

    Raises:
        BagError: the text is not a message definition, or its encoding is neither ros2msg nor
        ros2idl.
        MissingExtraError: rosbags is not installed.
    """
    return dict(_parsed(message_type, text, encoding))


@lru_cache(maxsize=MOST_KEPT)
def _parsed(message_type: str, text: str, encoding: str) -> dict[str, Any]:
    if encoding not in ('ros2msg', 'ros2idl', 'omgidl'):
        raise BagError(
            f'the definition of {message_type} is in {encoding!r}; known are ros2msg and ros2idl'
        )
    if len(text) > DEFINITION.now:
        raise BagError(f'the definition of {message_type} has {DEFINITION.excess(len(text))}')
    typesys = _typesys()
    types: dict[str, Any] = {}
    try:
        text = text.replace('\r\n', '\n')  # as of Windows
        if encoding == 'ros2msg':
            types = typesys.get_types_from_msg(text, message_type)
        else:
            for part in _idl_parts(text):
                types.update(typesys.get_types_from_idl(part))
        _count_fields(message_type, types, {}, 1)
    except Exception as error:  # rosbags' parser raises whatever the text leads it to
        raise _unreadable(message_type, error) from error
    return types


def _unreadable(message_type: str, error: Exception) -> BagError:
    return BagError(f'the definition of {message_type} in the bag cannot be read: {error}')


def known_types(message_type: str) -> dict[str, Any]:
    """Returns the fields, as `parse_fields`, of an installed type, if known."""
    try:
        return parse_fields(message_type, find_definition(message_type).text)
    except BagError:
        return {}


def _typesys() -> Any:
    try:
        import rosbags.typesys
    except ImportError as error:
        raise MissingExtraError(f'bags need rosbags ({error}): {install_hint()}') from error
    return rosbags.typesys


def _count_fields(name: str, types: dict[str, Any], known: dict[str, int], level: int) -> int:
    """Returns the number of fields of a type, including contained ones.

    known: those counted so far; 0 for one that is being counted.

    Raises:
        ValueError: a used type is not defined, contains itself, or is too large.
    """
    if name not in types:
        raise ValueError(f'{name} is not defined')
    if known.get(name) == 0:
        raise ValueError(f'{name} contains itself')
    if level > NESTING.now:
        raise ValueError(f'its types are nested {NESTING.excess(level)}')
    if name in known:
        return known[name]
    known[name] = count = 0
    for _, (kind, detail) in types[name][1]:
        # rosbags' kinds: 1 a number or text, 2 a message, 3 and 4 so many, and any number, of them.
        number = detail[1] if kind == 3 else 1
        if number < 1:
            raise ValueError(f'{name} has an array of {number}')
        kind, detail = detail[0] if kind > 2 else (kind, detail)
        if kind == 2:
            count += number * _count_fields(detail, types, known, level + 1)
        else:  # numbers of one array are read together, texts one by one
            count += number if 'string' in detail[0] else 1
        if count > FIELDS.now:
            raise ValueError(f'{name} has {FIELDS.excess(count)}')
    known[name] = max(count, 1)
    return known[name]


def _idl_parts(text: str) -> list[str]:
    marker = SEPARATOR + '\nIDL: '
    if not text.startswith(marker):
        return [text]
    return [part.split('\n', 1)[1] for part in text.split(marker)[1:]]
