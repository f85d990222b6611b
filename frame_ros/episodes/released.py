# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Episodes whose arrays are released, so that many bags need no more memory than one: what is asked
of an episode later is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any, TypeVar

from frame_ros.core.errors import FrameRosError
from frame_ros.episodes.episode import Episode
from frame_ros.metrics import REGISTRY

_Result = TypeVar('_Result')
_KEPT: list[tuple[str, Callable[[Episode], Any]]] = []


class ReleasedError(FrameRosError):
    """An array was asked of an episode that has released it."""


class Released(Mapping[str, Any]):
    """Names of arrays that were released."""

    def __init__(self, names: Mapping[str, Any]) -> None:
        self._names = dict.fromkeys(names)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        raise ReleasedError(f'{name!r} was released; ask before `release`')

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


def outlasting(function: Callable[[Episode], _Result]) -> Callable[[Episode], _Result]:
    """Decorates a function of an episode whose result stays known when the arrays are released."""
    name = f'{function.__module__}.{function.__qualname__}'
    _KEPT.append((name, function))

    @wraps(function)
    def known(episode: Episode) -> _Result:
        if name in episode.kept:
            result: _Result = episode.kept[name]
            return result
        return function(episode)

    return known


def release(episode: Episode) -> None:
    """Releases the arrays of an episode; its values, and the results of functions that are
    `outlasting`, stay known.
    """
    kept = {name: function(episode) for name, function in _KEPT}
    kept |= {entry.id: episode.value(entry.id) for entry in REGISTRY.values() if entry.of_moments}
    episode.kept = kept
    for name in ('streams', 'live', 'metrics'):
        setattr(episode, name, Released(getattr(episode, name)))
