# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The result of one trial: one policy once in one scene, as a line of JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import attrs

from frame_ros.core.errors import SetupError
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
    def from_line(cls, line: str, source: str = 'a line') -> TrialResult:
        """Reads what `line` wrote.

        Args:
            source: of errors, such as file and number of the line.

        Raises:
            SetupError: the line is no such result.
        """
        try:
            found = json.loads(line)
        except ValueError as error:
            raise SetupError(f'{source} is no JSON: {error}') from error
        known = {field.name: field for field in attrs.fields(cls)}
        if not isinstance(found, dict) or not {'scene', 'policy'} <= set(found) <= set(known):
            raise SetupError(
                f'{source} is no result of a trial; expected is an object with scene, policy and '
                f'what else there is of {", ".join(known)}'
            )
        for name in ('steps', 'times', 'metrics'):
            if not isinstance(found.get(name, {}), dict):
                raise SetupError(f'{source}: {name} is {found[name]!r}; expected is an object')
        known_rules = [*RULES, OWN_RULE]
        if unknown := set(found.get('steps', {})) - set(known_rules):
            raise SetupError(f'{source}: there is no rule {sorted(unknown)}; {known_rules} are')
        for name in ('duration', 'wall_time'):
            found[name] = _number(found.get(name))
        found['metrics'] = {n: _number(v) for n, v in found.get('metrics', {}).items()}
        found['times'] = {
            rule: {n: _number(v) for n, v in times.items()}
            for rule, times in found.get('times', {}).items()
        }
        return cls(**found)


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(each) for name, each in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
