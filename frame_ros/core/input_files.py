# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reading files that others made: ordinary files only, and no more than a stated amount.

A few bytes can expand to gigabytes, and a named pipe may never deliver. The limits are far above
what robots record; `frame-ros ... --file-limits FACTOR`, or FRAME_ROS_FILE_LIMITS in the
environment, multiplies them all.
"""

from __future__ import annotations

import errno
import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from frame_ros.core.errors import SetupError

FACTOR_VARIABLE = 'FRAME_ROS_FILE_LIMITS'
MOST_FACTOR = 1e6
KINDS = (
    (stat.S_ISDIR, 'a folder'),
    (stat.S_ISFIFO, 'a named pipe'),
    (stat.S_ISSOCK, 'a socket'),
    (stat.S_ISCHR, 'a device'),
    (stat.S_ISBLK, 'a device'),
)
_ESCAPED_SURROGATE = re.compile(r'\\ud[89a-f]', re.IGNORECASE)
# Of a text with blanks only these show that it is a path.
_BEGINNINGS = ('/', './', '../', '~')
_ENDINGS = ('.yaml', '.yml', '.urdf', '.xml')  # of texts that can only name a file
# Brackets, and strings, in which brackets do not count.
_JSON_NESTING = re.compile(r'[\[{]|[\]}]|"(?:[^"\\]|\\.)*"', re.DOTALL)


@dataclass(frozen=True)
class Limit:
    """The largest amount of something that is read, unless the user raises all limits."""

    amount: int
    unit: str
    what: str = ''  # what is limited, in words
    is_fixed: bool = False  # Python itself sets the limit, and nobody can raise it

    @property
    def now(self) -> int:
        """The amount, multiplied by the user's factor."""
        return self.amount if self.is_fixed else max(int(self.amount * limits_factor()), 1)

    @property
    def text(self) -> str:
        """The amount without the user's factor, such as '268 MB'."""
        return self._text(self.amount)

    def excess(self, amount: float) -> str:
        """Describes an amount above the limit: '6.2 GB, above the limit of 268 MB (...)'."""
        text = f'{self._text(amount)}, above the limit of {self._text(self.now)}'
        factor = -(-amount // self.amount)
        if self.is_fixed:
            return text
        return f'{text} (--file-limits {factor:g} or {FACTOR_VARIABLE}={factor:g} allows it)'

    def _text(self, amount: float) -> str:
        if self.unit != 'bytes':
            return f'{amount:,.0f} {self.unit}'
        for size, unit in ((1e9, 'GB'), (1e6, 'MB'), (1e3, 'kB')):
            if amount >= size:
                return f'{amount / size:.3g} {unit}'
        return f'{amount:.0f} bytes'


TEXT = Limit(16 << 20, 'bytes', 'a text file: YAML, JSON, URDF')
NESTING = Limit(64, 'levels', 'YAML, JSON or messages within each other', is_fixed=True)
YAML_VALUES = Limit(
    50_000,
    'values',
    'a YAML document, or one for every 6 of its characters if that is more; an alias counts as all '
    'it stands for',
)
CHARACTERS_PER_VALUE = 6
DEFINITION = Limit(1 << 20, 'bytes', 'the definition of a message type in a bag')
FIELDS = Limit(20_000, 'fields', 'a message type, those of the types that it contains included')
ELEMENTS = Limit(200_000, 'messages', 'messages within one message')
UNPACKED_PART = Limit(256 << 20, 'bytes', 'a chunk of a bag, or a compressed message, unpacked')
UNPACKED_FILE = Limit(
    1 << 30, 'bytes', "all of a bag's file unpacked, or 100 times the file's size if that is more"
)
UNPACKED_RATIO = 100
COPIED = Limit(4 << 30, 'bytes', 'a bag of SQLite whose recorder was killed, copied to be read')
MESSAGES = Limit(
    5_000_000, 'messages', "a bag's file, or one for every 4 of its bytes if that is more"
)
BYTES_PER_MESSAGE = 4
COLUMN = Limit(
    512 << 20,
    'bytes',
    'one field of all messages of a topic, as an array, or 16 times their size if that is more',
)
COLUMN_RATIO = 16
ENTRIES = Limit(100_000, 'files and folders', 'what is searched for recordings')
ROBOT_PARTS = Limit(500, 'parts', 'the links, and the joints, of a robot description')
MESH = Limit(128 << 20, 'bytes', 'a file of the shape of a link or an obstacle')
PIXELS = Limit(64 << 20, 'pixels', 'a compressed picture')


def every_limit() -> list[Limit]:
    """All limits, in the order of this file."""
    return [value for value in globals().values() if isinstance(value, Limit)]


def limits_factor() -> float:
    """Returns the user's factor for all limits; 1 if none is set.

    Raises:
        SetupError: it is not a number above 0.
    """
    text = os.environ.get(FACTOR_VARIABLE, '') or '1'
    try:
        factor = float(text)
    except ValueError:
        factor = 0.0
    if not 0 < factor <= MOST_FACTOR:
        raise SetupError(f'{FACTOR_VARIABLE} is {text!r}; it must be a number above 0, such as 4')
    return factor


def set_limits_factor(factor: float) -> None:
    """Multiplies all limits of this process and of those that it starts."""
    os.environ[FACTOR_VARIABLE] = f'{factor:g}'


def open_file(path: str | os.PathLike[str]) -> BinaryIO:
    """Opens an ordinary file for reading, and never waits for anything else.

    Raises:
        OSError: it cannot be opened, or is a named pipe, a device, a socket or a folder.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            kind = next((name for is_kind, name in KINDS if is_kind(mode)), 'none')
            raise OSError(errno.EINVAL, f'it is {kind}, not a file', str(path))
        return os.fdopen(handle, 'rb')
    except BaseException:
        os.close(handle)
        raise


def read_bytes(path: str | os.PathLike[str], limit: Limit = TEXT) -> bytes:
    """Returns the content of an ordinary file no larger than the limit.

    Raises:
        OSError: as `open_file`, or the file is larger.
    """
    with open_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > limit.now:
            raise OSError(errno.EFBIG, f'it has {limit.excess(size)}', str(path))
        return file.read(limit.now)


def read_text(path: str | os.PathLike[str], limit: Limit = TEXT) -> str:
    """Returns the content of a UTF-8 text file.

    Raises:
        OSError: as `read_bytes`.
        UnicodeDecodeError: it is not UTF-8.
    """
    return read_bytes(path, limit).decode('utf-8')


def names_file(text: str) -> bool:
    """Returns whether a text, which may be any, is the path of an ordinary file."""
    try:
        return Path(text).expanduser().is_file()
    except (OSError, RuntimeError, ValueError):  # too long, of an unknown user, with a zero byte
        return False


def missing_file(text: str) -> str:
    """Returns, in words, why there is no file of a text that can only be a path; '' otherwise."""
    is_path = text.endswith(_ENDINGS) or ('/' in text and '://' not in text)
    if ' ' in text and not text.startswith(_BEGINNINGS):  # 1 m/s
        is_path = text.endswith(_ENDINGS)
    if not is_path or '\n' in text or names_file(text):
        return ''
    try:
        mode = Path(text).expanduser().stat().st_mode
    except (OSError, RuntimeError, ValueError):
        return f'there is no file {text!r}; the folder now is {_folder_now()}'
    kind = next((name for is_kind, name in KINDS if is_kind(mode)), 'none')
    return f'{text!r} is {kind}, not a file'


def _folder_now() -> str:
    try:
        return os.getcwd()
    except OSError:
        return 'one that was removed'


def load_json(text: str | bytes) -> Any:
    """Returns the content of a JSON document, its strings passed through `valid_text`.

    Raises:
        ValueError: it is not JSON, or nested too deep.
    """
    text = text.decode('utf-8') if isinstance(text, bytes) else text
    depth = _json_depth(text)
    if depth > NESTING.now:
        raise ValueError(f'it is nested {NESTING.excess(depth)}')
    try:
        content = json.loads(text)
    except RecursionError as error:
        raise ValueError('it is nested too deep') from error
    return _with_valid_texts(content) if _ESCAPED_SURROGATE.search(text) else content


def valid_text(text: str) -> str:
    """Replaces lone surrogates, which JSON and YAML can escape but no encoding has, by U+FFFD."""
    return text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace')


def _with_valid_texts(content: Any) -> Any:
    if isinstance(content, str):
        return valid_text(content)
    if isinstance(content, dict):
        return {_with_valid_texts(key): _with_valid_texts(part) for key, part in content.items()}
    return [*map(_with_valid_texts, content)] if isinstance(content, list) else content


def _json_depth(text: str) -> int:
    """Returns how deep the brackets of a text are nested."""
    if text.count('[') + text.count('{') <= NESTING.now:
        return 0
    depth = deepest = 0
    for match in _JSON_NESTING.finditer(text):
        mark = text[match.start()]
        depth += (mark in '[{') - (mark in ']}')
        deepest = max(deepest, depth)
    return deepest


def is_within(path: Path, folder: Path) -> bool:
    """Returns whether a path, all links followed, lies in a folder."""
    return path.resolve().is_relative_to(folder.resolve())
