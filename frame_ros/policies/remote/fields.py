# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reading of a decoded message: every value has the expected type, or is reported."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError

REQUIRED: Any = object()


class Fields:
    """The fields of a map from the other side. owner: what it is, in words, for errors. Every
    method raises PolicyError where a field has another type, or is missing and has no default.
    """

    def __init__(self, content: Any, owner: str) -> None:
        if not isinstance(content, Mapping):
            raise PolicyError(f'{owner} is {type(content).__name__}; a map is expected')
        self._content, self._owner = content, owner

    def has(self, name: str) -> bool:
        """Returns whether the field is there, and not None."""
        return self._content.get(name) is not None

    def value(self, name: str, default: Any = REQUIRED) -> Any:
        """The field, whatever it is."""
        value = self._content.get(name)
        if value is None and default is REQUIRED:
            names = ', '.join(sorted(map(str, self._content))) or 'nothing'
            raise PolicyError(f'{self._owner} lacks {name!r}; it has {names[:300]}')
        return default if value is None else value

    def number(self, name: str, default: Any = REQUIRED) -> float:
        """A number; it may be NaN."""
        value = self.value(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise self._wrong(name, value, 'a number')
        return float(value)

    def whole(self, name: str, default: Any = REQUIRED) -> int:
        """A whole number."""
        value = self.value(name, default)
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise self._wrong(name, value, 'a whole number')
        return int(value)

    def is_true(self, name: str) -> bool:
        """A truth value; false where it is missing."""
        value = self.value(name, False)
        if not isinstance(value, bool | np.bool_):
            raise self._wrong(name, value, 'true or false')
        return bool(value)

    def text(self, name: str, default: Any = REQUIRED) -> str:
        """A text."""
        value = self.value(name, default)
        if not isinstance(value, str):
            raise self._wrong(name, value, 'a text')
        return value

    def texts(self, name: str, default: Any = REQUIRED) -> tuple[str, ...]:
        """A list of texts."""
        value = self.value(name, default)
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            raise self._wrong(name, value, 'a list of texts')
        return tuple(value)

    def numbers(self, name: str, dimensions: int, default: Any = REQUIRED) -> NDArray[np.float64]:
        """An array of numbers, with so many dimensions, as float64. Lists will do."""
        value = self.value(name, default)
        try:
            array = np.asarray(value)
        except ValueError:
            raise self._wrong(name, value, 'an array of numbers') from None
        if array.dtype.kind not in 'iuf' or array.ndim != dimensions:
            raise self._wrong(name, value, f'an array of numbers with {dimensions} dimensions')
        return array.astype(np.float64)

    def fields(self, name: str, default: Any = REQUIRED) -> Fields:
        """A map."""
        return Fields(self.value(name, default), f'{name!r} of {self._owner}')

    def items(self) -> list[tuple[str, Any]]:
        """All fields, whose names must be texts."""
        if wrong := [name for name in self._content if not isinstance(name, str)]:
            raise PolicyError(f'{self._owner} has the key {wrong[0]!r}; a text is expected')
        return list(self._content.items())

    def _wrong(self, name: str, value: Any, expected: str) -> PolicyError:
        return PolicyError(
            f'{name!r} of {self._owner} is {_described(value)}; {expected} is expected'
        )


def _described(value: Any) -> str:
    """Returns a value in words that are the same for each message of its form."""
    if isinstance(value, np.ndarray):
        return f'an array of {value.dtype} {value.shape}'
    if isinstance(value, Mapping):
        keys = ', '.join(repr(key)[:30] for key in list(value)[:8])
        return f'a map with the keys {keys}' if keys else 'an empty map'
    if isinstance(value, bytes):
        return f'{len(value)} bytes'
    if isinstance(value, list | tuple):
        return f'a list of {len(value)}'
    return repr(value)[:80]
