# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parsing of name=value texts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

from frame_ros.core.errors import SetupError


def parse_options(parameter: str, texts: Iterable[str]) -> dict[str, Any]:
    """Parses 'name=value' texts into {name: value}; a value that is JSON is decoded, any other
    stays text.

    Raises:
        SetupError: a text is not of that form, or names one option twice.
    """
    return {name: decoded(text) for name, text in parse_pairs(parameter, tuple(texts)).items()}


def option_texts(values: Mapping[str, Any]) -> list[str]:
    """Returns the 'name=value' texts that `parse_options` reads back."""
    return [f'{name}={_text(value)}' for name, value in values.items()]


def _text(value: Any) -> str:
    is_plain = isinstance(value, str) and decoded(value) == value  # not read as a number, say
    return value if is_plain else json.dumps(value)


def parse_pairs(parameter: str, texts: list[str] | tuple[str, ...]) -> dict[str, str]:
    """Parses 'a=b' texts into {a: b}; empty texts are left out.

    Raises:
        SetupError: a text is not of that form, or names one thing twice.
    """
    pairs: dict[str, str] = {}
    for text in filter(None, map(str.strip, texts)):
        name, sign, value = (part.strip() for part in text.partition('='))
        if not (name and sign and value) or name in pairs:
            raise SetupError(
                f'parameter {parameter} holds {text!r}; it must hold name=value, each name once'
            )
        pairs[name] = value
    return pairs


def decoded(text: str) -> Any:
    """The value that a text stands for as JSON; a text that is no JSON is itself."""
    try:
        return json.loads(text, parse_constant=_no_constant)
    except ValueError:
        return text


def _no_constant(name: str) -> NoReturn:
    """Rejects NaN and Infinity, which are not JSON."""
    raise ValueError(name)
