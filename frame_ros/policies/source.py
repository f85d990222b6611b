# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a policy from named options: a class with declared options, or any callable."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import attrs

from frame_ros.core.errors import PolicyError, SetupError
from frame_ros.core.options import nearest
from frame_ros.policies.base import NoOptions, Policy
from frame_ros.policies.own_policy import check_members, reported

CALLED = {'folder': 'checkpoint'}  # option -> what users call it


@dataclass(frozen=True)
class Source:
    """A maker of policies by the name `name`, which takes the options `takes`."""

    name: str
    takes: tuple[str, ...]

    def arguments(
        self, offered: Mapping[str, Any], required: Mapping[str, str], options: Mapping[str, Any]
    ) -> dict[str, Any]:
        """Returns what it takes of `offered`, and all `options`; see `make_policy`.

        Raises:
            PolicyError: it does not take what is required, or an option.
        """
        takes = f'it takes: {", ".join(self.takes) or "none"}'
        if refused := [text for key, text in required.items() if not self._accepts(key)]:
            raise PolicyError(f'policy {self.name!r} does not take {", ".join(refused)}; {takes}')
        if unknown := [name for name in options if not self._accepts(name)]:
            near = nearest(unknown[0], self.takes)
            hint = f'did you mean {near!r}? ' if near else ''
            names = ', '.join(map(repr, unknown))
            raise PolicyError(f'policy {self.name!r} does not take {names}; {hint}{takes}')
        return {**{key: offered[key] for key in self.takes if key in offered}, **options}

    def check_needs(self, values: Mapping[str, Any]) -> None:
        """Checks that what it cannot do without is given.

        Raises:
            SetupError: it is not.
        """

    def check(self, values: Mapping[str, Any]) -> None:
        """Checks what can be checked without making the policy.

        Raises:
            FrameRosError: it could not be made.
        """

    def make(self, values: Mapping[str, Any]) -> Policy:
        """Makes the policy from what `arguments` returned.

        Raises:
            FrameRosError: it cannot be made, or lacks a member of the protocol.
        """
        with reported(f'making the policy {self.name}'):
            made = self._make(values)
        check_members(made, self.name)
        return made if isinstance(made, Policy) else OwnPolicy(made)

    def _make(self, values: Mapping[str, Any]) -> object:
        raise NotImplementedError

    def _accepts(self, name: str) -> bool:
        return name in self.takes


@dataclass(frozen=True)
class DeclaredSource(Source):
    """A class of policies with declared options."""

    kind: type[Policy]

    def check_needs(self, values: Mapping[str, Any]) -> None:
        """As of Source."""
        for option, what in self.kind.needs.items():
            if not values.get(option):
                called = CALLED.get(option, option)
                raise SetupError(f'{called} of the policy {self.name} is empty; it must be {what}')

    def check(self, values: Mapping[str, Any]) -> None:
        """As of Source."""
        with reported(f'checking the policy {self.name}'):
            self.kind.check(self._options(values))

    def _make(self, values: Mapping[str, Any]) -> object:
        return self.kind.make(self._options(values))

    def _options(self, values: Mapping[str, Any]) -> Any:
        self.check_needs(values)
        return self.kind.read_options(**values)


@dataclass(frozen=True)
class BuilderSource(Source):
    """A class or function whose arguments are the options."""

    builder: Callable[..., object]

    def _make(self, values: Mapping[str, Any]) -> object:
        try:
            inspect.signature(self.builder).bind(**values)
        except TypeError as error:
            takes = ', '.join(self.takes)
            raise PolicyError(f'policy {self.name!r}: {error}; it takes: {takes}') from error
        return self.builder(**values)

    def _accepts(self, name: str) -> bool:
        kinds = [p.kind for p in inspect.signature(self.builder).parameters.values()]
        return name in self.takes or inspect.Parameter.VAR_KEYWORD in kinds


def source_of(name: str, builder: Callable[..., object]) -> Source:
    """The source of a class of policies with Options, or of any other class or function.

    Raises:
        PolicyError: its Options are not declared.
    """
    kind = builder if isinstance(builder, type) and issubclass(builder, Policy) else None
    if kind is not None and kind.Options is not NoOptions:
        if not attrs.has(kind.Options):
            raise PolicyError(
                f'Options of the policy {name} is {kind.Options!r}; it must be a class made by '
                'frame_ros.core.options.options'
            )
        return DeclaredSource(name, tuple(f.name for f in attrs.fields(kind.Options)), kind)
    return BuilderSource(name, tuple(inspect.signature(builder).parameters), builder)


class OwnPolicy(Policy):
    """An object of the user's that derives from nothing of ours.

    Whatever it lacks is the base's.
    """

    def __init__(self, own: Any) -> None:
        object.__setattr__(self, '_own', own)

    def __getattribute__(self, name: str) -> Any:
        own = object.__getattribute__(self, '_own')
        return getattr(own, name) if hasattr(own, name) else object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(object.__getattribute__(self, '_own'), name, value)
