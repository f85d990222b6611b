# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Settings as the texts of launch files, and back; lists and mappings are YAML."""

from __future__ import annotations

import json
import typing
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import BOOLEANS, parse_list, parse_mapping

Settings = TypeVar('Settings')


def settings_from_text(kind: type[Settings], texts: Mapping[str, str]) -> Settings:
    """Settings from what a launch file or a command line gives: a text per field.

    Raises:
        SetupError: a text is not of its field's type, or no field has the name.
    """
    types = typing.get_type_hints(kind)
    known = [setting.name for setting in fields(kind)]  # type: ignore[arg-type]
    unknown = sorted(set(texts) - set(known))
    if unknown:
        raise SetupError(f'no setting {unknown[0]!r}; there are {", ".join(known)}')
    return kind(**{name: _parse(name, types[name], text) for name, text in texts.items()})


def _parse(name: str, kind: Any, text: str) -> Any:
    origin = typing.get_origin(kind)
    if origin is tuple:
        return parse_list(name, text, typing.get_args(kind)[0])
    if origin is not None:
        return parse_mapping(name, text)
    if kind is bool:
        if text not in BOOLEANS:
            raise SetupError(f'{name} is true or false, not {text!r}')
        return BOOLEANS[text]
    try:
        return kind(text)
    except ValueError:
        raise SetupError(f'{name} must be of type {kind.__name__}, not {text!r}') from None


def assignments(values: Mapping[str, Any]) -> list[str]:
    """Name and value as nodes take them in a list of texts: name=value, the value JSON or else
    text.
    """
    return [f'{name}={_assigned(value)}' for name, value in values.items()]


def _assigned(value: Any) -> str:
    if not isinstance(value, str):
        return json.dumps(value)
    try:
        json.loads(value)
    except ValueError:
        return value
    return json.dumps(value)  # a text that would be read as a number stays one


def spaced(name: str, values: Mapping[str, Any]) -> list[str]:
    """Of every camera a list of words and numbers, as nodes take it: 'front=base_link 0 0 1 0 0 0'.

    Raises:
        SetupError: a value is no list.
    """
    for camera, value in values.items():
        if not isinstance(value, Sequence) or isinstance(value, str):
            raise SetupError(
                f'{name} of {camera} must be a YAML list, such as '
                f'{{{camera}: [base_link, 0, 0, 1, 0, 0, 0]}}, not {value!r}'
            )
    return [f'{camera}={" ".join(map(str, value))}' for camera, value in values.items()]


def check_qualities(qualities: Iterable[float]) -> None:
    """Raises SetupError for a quality that does not lie between 0 and 1."""
    wrong = [quality for quality in qualities if not 0.0 <= quality <= 1.0]
    if wrong:
        raise SetupError(f'a quality lies between 0 and 1; {wrong[0]} does not')


def parse_qualities(text: str) -> tuple[float, ...]:
    """Numbers between 0 and 1, separated by commas, as on a command line; empty: none.

    Raises:
        SetupError: one of them is not such a number.
    """
    try:
        qualities = tuple(float(part) for part in text.split(',') if part.strip())
    except ValueError:
        raise SetupError(
            f'qualities are numbers separated by commas, such as 1.0,0.5; not {text!r}'
        ) from None
    check_qualities(qualities)
    return qualities
