# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A field of the settings: its default, its meaning, and the values it can have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import MISSING, Field, field, fields
from typing import Any

from frame_ros.core.errors import SetupError


def option(default: Any, text: str, choices: Sequence[str] = ()) -> Any:
    """A field of the settings: its default and what it means to a user.

    choices: every value it can have; empty: there is no such list.
    """
    metadata = {'help': text, 'choices': tuple(choices)}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def default_of(setting: Field[Any]) -> Any:
    """The default of a field made by `option`."""
    if setting.default_factory is not MISSING:
        return setting.default_factory()
    return setting.default


def check_choices(settings: Any) -> None:
    """Raises SetupError for a setting that is none of its choices."""
    for setting in fields(settings):
        value, choices = getattr(settings, setting.name), setting.metadata['choices']
        if choices and value not in choices:
            listed = ', '.join(choice or 'empty' for choice in choices)
            raise SetupError(f'{setting.name} is {value!r}; it must be one of {listed}')
