# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reviewed rephrasings of instructions, for prompt ensembles: YAML that people read and sign.

The file maps each instruction to its list, who reviewed it, and when::

    pick up the cube:
      reviewed_by: Ada
      reviewed_on: 2026-05-04
      rephrasings:
        - grasp the cube and lift it
"""

from __future__ import annotations

import datetime
import itertools
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import read_text
from frame_ros.core.output_files import write_whole
from frame_ros.core.strict_yaml import load_yaml

# Characters of an instruction; a longer one is no instruction.
MOST_CHARACTERS = 300
# Larger files are not lists that anybody has read.
MOST_BYTES = 1_000_000
COUNT = 20  # of an ensemble by default (VLA calibration, section 4.3)
FIELDS = ('reviewed_by', 'reviewed_on', 'rephrasings')
HEADER = (
    '# Rephrasings of instructions for prompt ensembles, each confirmed by a reader.\n'
    '# frame-ros rephrase adds to it.\n'
)


@dataclass(frozen=True)
class ReviewedList:
    """The rephrasings of one instruction.

    reviewed_by, reviewed_on: who confirmed them, and when.
    """

    instruction: str
    rephrasings: tuple[str, ...]
    reviewed_by: str
    reviewed_on: datetime.date


def load_rephrasings(path: str | Path) -> dict[str, tuple[str, ...]]:
    """Returns instruction -> its reviewed rephrasings; raises as `load_reviewed`.

    Raises:
        SetupError: as of `load_reviewed`.
    """
    return {each.instruction: each.rephrasings for each in load_reviewed(path)}


def load_reviewed(path: str | Path) -> list[ReviewedList]:
    """Returns the lists of a file.

    Raises:
        SetupError: the file is missing or invalid; an instruction or field is given twice, is
            missing or unknown; a rephrasing is empty, given twice, the instruction itself, too long
            or has control characters.
    """
    place = Path(path).expanduser()
    try:
        if place.stat().st_size > MOST_BYTES:
            raise SetupError(f'{place} has more than {MOST_BYTES} bytes; nobody has read that')
        content = load_yaml(read_text(place))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SetupError(f'the rephrasings {place} cannot be read: {error}') from error
    if not isinstance(content, dict) or not content:
        raise SetupError(f'{place} must map instructions to their lists; see {__name__}')
    return [_reviewed(place, instruction, entry) for instruction, entry in content.items()]


def save_reviewed(path: str | Path, lists: Iterable[ReviewedList]) -> None:
    """Writes a file for `load_reviewed` whole or not at all, keeping its head comment.

    Raises:
        SetupError: a list that could not be read again, or the file cannot be written.
    """
    place = Path(path).expanduser()
    content = {}
    for each in lists:
        entry = {
            'reviewed_by': each.reviewed_by,
            'reviewed_on': each.reviewed_on,
            'rephrasings': list(each.rephrasings),
        }
        _reviewed(place, each.instruction, entry)
        if each.instruction in content:
            raise SetupError(f'{each.instruction!r} has two lists; one is expected')
        content[each.instruction] = entry
    text = yaml.safe_dump(content, allow_unicode=True, sort_keys=False, width=1000)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        header = _header(place)
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f'{place} cannot be written: {error}') from error
    write_whole(place, header + text, 'the reviewed list')


def merged(lists: Iterable[ReviewedList], added: ReviewedList) -> list[ReviewedList]:
    """Returns the lists with one more; new rephrasings of an existing instruction follow the old
    ones, under the new review.
    """
    found, is_new = [], True
    for each in lists:
        if each.instruction == added.instruction:
            keys = {key_of(text) for text in each.rephrasings}
            fresh = tuple(text for text in added.rephrasings if key_of(text) not in keys)
            together = each.rephrasings + fresh
            each = ReviewedList(each.instruction, together, added.reviewed_by, added.reviewed_on)
            is_new = False
        found.append(each)
    return [*found, added] if is_new else found


def cleaned(text: str) -> str:
    """Returns an unreviewed text as one line: without control and formatting characters (which
    could change a terminal's display), with single blanks, cut to MOST_CHARACTERS.
    """
    plain = ''.join(' ' if c.isspace() else c for c in text)
    plain = ''.join(c for c in plain if not _is_control(c))
    return ' '.join(plain.split())[:MOST_CHARACTERS].strip()


def key_of(text: str) -> str:
    """Returns what identifies a text: letters and digits, regardless of case."""
    return ' '.join(
        ''.join(c if c.isalnum() else ' ' for c in unicodedata.normalize('NFKC', text)).split()
    ).casefold()


def problem_of(text: str, instruction: str, others: Iterable[str] = ()) -> str:
    """Returns why a text is not a further rephrasing of an instruction; '' if it is."""
    if not key_of(text):
        return 'it is empty'
    if len(text) > MOST_CHARACTERS:
        return f'it has {len(text)} characters; at most {MOST_CHARACTERS} are an instruction'
    if any(_is_control(c) for c in text) or text != text.strip():
        return 'it holds control characters, or blanks around it'
    if key_of(text) == key_of(instruction):
        return 'it is the instruction itself'
    if key_of(text) in {key_of(other) for other in others}:
        return 'it occurs twice'
    return ''


def _is_control(character: str) -> bool:
    return unicodedata.category(character) in ('Cc', 'Cf', 'Cs', 'Co', 'Cn', 'Zl', 'Zp')


def _reviewed(place: Path, instruction: Any, entry: Any) -> ReviewedList:
    def refuse(why: str) -> SetupError:
        return SetupError(f'{place}: {instruction!r}: {why}')

    if not isinstance(instruction, str) or problem_of(instruction, ''):
        raise refuse('an instruction must be a text of one line')
    if not isinstance(entry, Mapping) or set(entry) != set(FIELDS):
        given = ', '.join(map(str, entry)) if isinstance(entry, Mapping) else repr(entry)
        raise refuse(f'it has {given}; {", ".join(FIELDS)} are expected')
    reviewer, date, texts = (entry[name] for name in FIELDS)
    if not isinstance(reviewer, str) or not reviewer.strip():
        raise refuse(f'reviewed_by is {reviewer!r}; the name of who read them is expected')
    if not isinstance(date, datetime.date) or isinstance(date, datetime.datetime):
        raise refuse(f'reviewed_on is {date!r}; a date such as 2026-05-04 is expected')
    if not isinstance(texts, (list, tuple)) or not texts:
        raise refuse(f'rephrasings are {texts!r}; a list of texts is expected')
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise refuse(f'rephrasing {index + 1} is {text!r}; a text is expected')
        if problem := problem_of(text, instruction, texts[:index]):
            raise refuse(f'rephrasing {index + 1}, {text[:80]!r}: {problem}')
    return ReviewedList(instruction, tuple(texts), reviewer, date)


def _header(place: Path) -> str:
    if not place.exists():
        return HEADER
    lines = read_text(place).splitlines(keepends=True)
    return ''.join(itertools.takewhile(lambda line: line.startswith('#'), lines))
