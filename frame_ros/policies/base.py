# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The base class of every policy, with a default for all that a policy may leave out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, get_args, get_origin

import attrs

from frame_ros.core.options import check_names, options
from frame_ros.policies.known_scene import KnownScene
from frame_ros.policies.protocol import Inference, Observation


@options
class NoOptions:
    """No declared options: the arguments of the constructor are the options."""


class Policy:
    """A producer of actions: `infer` is called from one thread.

    Its options are the fields of its class `Options`, made by `frame_ros.core.options.options`.
    Those that are called as what every policy is offered (see `offered_of`) are filled from there.

    Attributes:
        needs: Option that must be given -> what it must be.
        name: Of the policy, in reports and messages; every policy has one.
        checkpoint: Folder or address of its weights, as reports show it; '' without one.
        cameras: The cameras it needs.
        poses: The poses it needs.
        needs_instruction: An inference without an instruction is refused.
        needs_scene: It acts only where `know` is called, as `frame-ros scenes run` does.
        n_action_steps: Steps of a chunk to execute before the next chunk; 0: its caller decides.
        samples: Chunks sampled with each inference, which a caller may change between two episodes;
            None: it cannot be changed.
        quality: Share of success to aim at, which a caller may change between two episodes; None:
            it cannot be chosen.
        needs_history: `observe` is called every `history_period` s while an episode runs.
        history_steps: Observations in one inference of a policy that needs a history.
        history_period: Time between two of them, s.
        fingerprint: `weights` and `normaliser` -> SHA-256 of each; empty: unknown.
        notes: Warnings about how it was made.
        facts: Further facts about how it was made.
    """

    Options: ClassVar[type[Any]] = NoOptions
    needs: ClassVar[Mapping[str, str]] = MappingProxyType({})

    name: str
    checkpoint: str = ''
    cameras: tuple[str, ...] = ()
    poses: tuple[str, ...] = ()
    needs_instruction: bool = False
    needs_scene: bool = False
    n_action_steps: int = 0
    samples: int | None = None
    quality: float | None = None
    needs_history: bool = False
    history_steps: int = 2
    history_period: float = 0.0
    fingerprint: Mapping[str, str] = MappingProxyType({})
    notes: Sequence[str] = ()
    facts: Sequence[str] = ()

    @classmethod
    def read_options(cls, **values: Any) -> Any:
        """Makes an object of `Options`; one text with commas stands for a list of texts.

        Raises:
            OptionError: a value is of another type or out of range, or no option has the name.
        """
        fields = {field.name: field for field in attrs.fields(cls.Options)}
        check_names(values, fields)
        return cls.Options(**{name: _plain(fields[name].type, v) for name, v in values.items()})

    @classmethod
    def make(cls, options: Any) -> Policy:
        """Makes the policy from an object of `Options`.

        Raises:
            FrameRosError: the options do not fit each other, the robot or the checkpoint.
        """
        made: Policy = cls(options)  # type: ignore[call-arg]
        return made

    @classmethod
    def check(cls, options: Any) -> None:
        """Checks what can be checked without loading weights or connecting to anything.

        Raises:
            FrameRosError: the policy could not be made.
        """

    def reset(self, seed: int | None = None) -> None:
        """Forgets the last episode. seed: of all that is drawn in the next one; None: drawn on."""

    def know(self, scene: KnownScene) -> None:
        """Takes note of the true scene of the next episode, before its reset. Only simulated scenes
        are known; a policy that perceives has no use for it.
        """

    def infer(self, observation: Observation) -> Inference:
        """Returns the next chunk.

        Raises:
            PolicyError: the observation lacks something, or the policy gave something unusable.
        """
        raise NotImplementedError(f'{type(self).__name__} has no infer(observation)')

    def observe(self, observation: Observation) -> None:
        """Takes note of an observation between two inferences.

        It is called from another thread than `infer` and must return at once.
        """

    def warm_up(self) -> None:
        """Makes a first call, outside an episode."""

    def close(self) -> None:
        """Releases connections and processes."""


def _plain(kind: Any, value: Any) -> Any:
    """A path as a text, and a text with commas as a list where `kind` is one of texts."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, str) and get_origin(kind) is tuple and get_args(kind)[0] is str:
        return tuple(map(str.strip, value.split(','))) if value.strip() else ()
    return value
