# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the metric pipeline is told. It is recorded with every episode, so that a bag gives the same
numbers again.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, fields
from typing import Any

from frame_ros.errors import ValueRangeError


@dataclass(frozen=True)
class PipelineConfig:
    """Settings of `MetricPipeline`.

    action_names: D joints in the order of the action vector; empty: the order of the first action.
    action_lower, action_upper: D bounds each (rad or m) that normalise actions to [0, 1]; empty:
    raw actions. hold: s a step waits for streams that lag. efficiency_hold: s it waits for the
    slower inference messages. silence: s without a message after which a stream is not waited for.
    gap: s between two steps beyond which differences start anew. max_pose_age, max_contact_age,
    max_distance_age:
    s beyond which a joined value is too old to be used. static_threshold: m of TCP motion below
    which an episode counts as static. risk_floor: m, least distance used in the risk factor.
    near_distance: m, the near zone. moving_speed: m/s from which the TCP counts as moving.
    """

    action_names: tuple[str, ...] = ()
    action_lower: tuple[float, ...] = ()
    action_upper: tuple[float, ...] = ()
    hold: float = 0.05
    efficiency_hold: float = 0.25
    silence: float = 1.0
    gap: float = 0.5
    max_pose_age: float = 0.1
    max_contact_age: float = 0.5
    max_distance_age: float = 0.5
    static_threshold: float = 0.005
    risk_floor: float = 1e-3
    near_distance: float = 0.05
    moving_speed: float = 0.01

    def __post_init__(self) -> None:
        for field in fields(self):
            value, default = getattr(self, field.name), field.default
            if isinstance(default, tuple):
                self._check_tuple(field.name, value)
            elif isinstance(value, bool) or not isinstance(value, (int, float)):
                raise ValueRangeError(f'{field.name} is {value!r}; it must be a number')
            elif not (math.isfinite(value) and value >= 0):
                raise ValueRangeError(f'{field.name} is {value}; it must be finite, not negative')
        if not self.risk_floor > 0:
            raise ValueRangeError(f'risk_floor is {self.risk_floor} m; it must be more than 0')
        self._check_bounds()

    def _check_tuple(self, name: str, value: object) -> None:
        kinds = (str,) if name == 'action_names' else (int, float)
        if not isinstance(value, tuple) or not all(isinstance(item, kinds) for item in value):
            raise ValueRangeError(f'{name} is {value!r}; it must list {kinds[-1].__name__} values')

    def _check_bounds(self) -> None:
        names, lower, upper = self.action_names, self.action_lower, self.action_upper
        if len(lower) != len(upper) or (lower and len(lower) != len(names)):
            raise ValueRangeError(
                f'{len(names)} action names with {len(lower)} lower and {len(upper)} upper bounds; '
                'give as many bounds as names, or none'
            )
        for name, low, high in zip(names, lower, upper):
            if not -math.inf < low < high < math.inf:
                raise ValueRangeError(
                    f'bounds of {name} are [{low}, {high}]; both finite, lower below upper'
                )

    @property
    def bounds(self) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
        """(lower, upper), or None for raw actions."""
        return (self.action_lower, self.action_upper) if self.action_lower else None

    def to_json(self) -> str:
        """The settings as JSON text, as published on `metrics_config`."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> PipelineConfig:
        """Reads what `to_json` wrote; names that this version does not know are ignored.

        Raises:
            ValueRangeError: not a JSON object, or a value that cannot be.
        """
        try:
            given = json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueRangeError(f'pipeline settings are not JSON: {error}') from error
        if not isinstance(given, dict):
            raise ValueRangeError(f'pipeline settings are a {type(given).__name__}, not an object')
        known = {field.name for field in fields(cls)}
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in given.items()
            if name in known
        }
        return cls(**values)
