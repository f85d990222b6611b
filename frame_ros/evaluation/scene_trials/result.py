# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The result of one trial: one policy once in one scene, as a line of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

import attrs

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import load_json
from frame_ros.scenes.tasks.rules import OWN_RULE, RULES

# Problems of the computer that ran a trial, by their first words: the trial is run again.
KILLED, ENDED, TOO_LONG = 'its process was ended', 'its process ended', 'it took more than'
WALL_CLOCK = ('wall_time',)  # fields that differ between two runs of the same trial


@attrs.frozen(kw_only=True)
class TrialResult:
    """One trial and its outcome.

    Attributes:
        scene: its name, in the campaign's file of scenes.
        policy: its name.
        repeat: number of the run of the same scene, from 0; each has another policy seed.
        policy_seed: of this run.
        instruction: that the policy got.
        mutation: name of what was changed against the scene `base`; '': nothing.
        base: scene that was changed or run again with another instruction; '': none.
        problem: why the trial does not count, such as a diverged simulation; '': it counts. Such a
            trial is no failure of the policy.
        steps: rule -> step -> whether it was reached; empty with a problem.
        times: rule -> step -> s at which it was first reached, NaN: never.
        metrics: metric id -> the value of the episode; NaN: unavailable.
        duration: s of simulated time.
        wall_time: s that the trial took.
        note: how the policy broke down after its first actions, in a trial that counts; '': not.
        episode: file of its recorded episode, relative to the campaign's folder; '': none.
    """

    scene: str
    policy: str
    repeat: int = 0
    policy_seed: int = 0
    instruction: str = ''
    mutation: str = ''
    base: str = ''
    problem: str = ''
    steps: Mapping[str, Mapping[str, bool]] = attrs.field(factory=dict)
    times: Mapping[str, Mapping[str, float]] = attrs.field(factory=dict)
    metrics: Mapping[str, float] = attrs.field(factory=dict)
    duration: float = math.nan
    wall_time: float = math.nan
    episode: str = ''
    note: str = ''

    @property
    def is_valid(self) -> bool:
        """Returns whether the trial counts."""
        return not self.problem

    @property
    def is_final(self) -> bool:
        """Returns whether it need not run again: no worker died, and no time limit passed."""
        return not self.problem.startswith((KILLED, ENDED, TOO_LONG))

    @property
    def has_died(self) -> bool:
        """Returns whether its process died."""
        return self.problem.startswith((KILLED, ENDED))

    @property
    def key(self) -> tuple[str, str, int, str]:
        """The identity of the trial in its campaign."""
        return self.scene, self.policy, self.repeat, self.instruction

    def is_success(self, rule: str = 'paper') -> bool:
        """Returns whether the task was done, by a rule; False for a trial that does not count."""
        return self.steps.get(rule, {}).get('success', False)

    def line(self) -> str:
        """Returns a line of JSON; NaN is null."""
        return json.dumps(_without_nan(attrs.asdict(self)), sort_keys=True)

    @classmethod
    def from_line(cls, line: str | bytes, source: str = 'a line') -> TrialResult:
        """Reads what `line` wrote.

        Args:
            line: in UTF-8.
            source: of errors, such as file and number of the line.

        Raises:
            SetupError: the line is no such result.
        """
        try:
            found = load_json(line)
        except ValueError as error:
            raise SetupError(f'{source} is no JSON: {error}') from error
        known = {field.name: field for field in attrs.fields(cls)}
        if not isinstance(found, dict) or not {'scene', 'policy'} <= set(found) <= set(known):
            raise SetupError(
                f'{source} is no result of a trial; expected is an object with scene, policy and '
                f'what else there is of {", ".join(known)}'
            )
        try:
            return cls(**{name: _READ.get(name, _text)(name, v) for name, v in found.items()})
        except SetupError as error:
            raise SetupError(f'{source}: {error}') from error


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(name: str, value: Any) -> float:
    if value is None:
        return math.nan
    try:
        return float(_of_type(name, value, (int, float), 'a number or null'))
    except OverflowError as error:  # a whole number beyond all floating-point ones
        raise SetupError(f'{name} is too large for a number') from error


def _text(name: str, value: Any) -> str:
    return str(_of_type(name, value, (str,), 'a text'))


def _whole(name: str, value: Any) -> int:
    return int(_of_type(name, value, (int,), 'a whole number'))


def _flag(name: str, value: Any) -> bool:
    return bool(_of_type(name, value, (bool,), 'true or false'))


def _numbers(name: str, value: Any) -> dict[str, float]:
    given = _of_type(name, value, (dict,), 'an object')
    return {each: _number(f'{name}.{each}', v) for each, v in given.items()}


def _of_rules(name: str, value: Any) -> dict[str, Mapping[str, Any]]:
    """Rule -> step -> what `name` says of it."""
    given, known = _of_type(name, value, (dict,), 'an object'), (*RULES, OWN_RULE)
    if unknown := sorted(set(given) - set(known)):
        raise SetupError(f'{name}: there is no rule {unknown[0]!r}; there are {", ".join(known)}')
    found: dict[str, Mapping[str, Any]] = {}
    for rule, each in given.items():
        steps = _of_type(f'{name}.{rule}', each, (dict,), 'an object')
        read: Callable[[str, Any], Any] = _flag if name == 'steps' else _number
        found[rule] = {step: read(f'{name}.{rule}.{step}', v) for step, v in steps.items()}
    return found


def _of_type(name: str, value: Any, types: tuple[type, ...], expected: str) -> Any:
    if type(value) not in types:  # true is no number
        raise SetupError(f'{name} is {value!r}; expected is {expected}')
    return value


# Field -> how it is read.
_READ: Mapping[str, Callable[[str, Any], Any]] = {
    'repeat': _whole, 'policy_seed': _whole, 'steps': _of_rules, 'times': _of_rules,
    'metrics': _numbers, 'duration': _number, 'wall_time': _number,
}  # fmt: skip
