# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Settings as the texts of launch files and command lines, and back."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

from frame_ros.errors import SetupError

Settings = TypeVar('Settings')


def settings_from_text(kind: type[Settings], texts: Mapping[str, str]) -> Settings:
    """Settings from what a launch file or a command line gives: a text per field.

    Raises:
        SetupError: a text is not of its field's type, or no field has the name.
    """
    types = typing.get_type_hints(kind)
    known = [setting.name for setting in fields(kind)]
    unknown = sorted(set(texts) - set(known))
    if unknown:
        raise SetupError(f'no setting {unknown[0]!r}; there are {", ".join(known)}')
    return kind(**{name: _parse(name, types[name], text) for name, text in texts.items()})


def _parse(name: str, kind: type, text: str) -> Any:
    if kind is bool:
        words = {'true': True, '1': True, 'yes': True, 'false': False, '0': False, 'no': False}
        if text.lower() not in words:
            raise SetupError(f'{name} is true or false, not {text!r}')
        return words[text.lower()]
    try:
        return kind(text)
    except ValueError:
        raise SetupError(f'{name} must be of type {kind.__name__}, not {text!r}') from None


def text_of(value: Any) -> str:
    """The text that `settings_from_text` reads back."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def parse_assignments(what: str, text: str) -> dict[str, str]:
    """'a=1; b=2' -> {'a': '1', 'b': '2'}.

    Raises:
        SetupError: a part is not of that form, or names one thing twice.
    """
    pairs: dict[str, str] = {}
    for part in filter(None, map(str.strip, text.split(';'))):
        name, sign, value = (word.strip() for word in part.partition('='))
        if not (name and sign and value) or name in pairs:
            raise SetupError(
                f'{what} holds {part!r}; it must be name=value; name=value, each name once'
            )
        pairs[name] = value
    return pairs


def parse_qualities(text: str) -> list[float]:
    """Numbers between 0 and 1, separated by commas; empty: none.

    Raises:
        SetupError: one of them is not such a number.
    """
    try:
        qualities = [float(part) for part in text.split(',') if part.strip()]
    except ValueError:
        raise SetupError(
            f'qualities are numbers separated by commas, such as 1.0,0.5; not {text!r}'
        ) from None
    wrong = [quality for quality in qualities if not 0.0 <= quality <= 1.0]
    if wrong:
        raise SetupError(f'a quality lies between 0 and 1; {wrong[0]} does not')
    return qualities
