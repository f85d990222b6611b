# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a command gate is set to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from frame_ros.core.errors import ValueRangeError
from frame_ros.gate.limits.command_limits import Excess
from frame_ros.gate.watchdogs import STOP, WatchdogRules

CLAMP, REFUSE = 'clamp', 'refuse'
DAMPED, HOLD_STILL = 'damped', 'hold'


@dataclass(frozen=True)
class GateRules:
    """What a gate does about what. on_*: clamp, refuse or stop; a bad command cannot be clamped.

    stop_behaviour: 'damped' (decelerates to rest) or 'hold' (decelerates, then comes back to the
    last command). is_streaming: holding and stopping repeat their command once per `period` (s),
    not only until the arm rests.
    is_simulated: velocities are by the robot's clock, which is simulated.

    Raises:
        ValueRangeError: a value is not one of these, or the period is not above 0.
    """

    watch: WatchdogRules = field(default_factory=WatchdogRules)
    on_joint_limit: str = CLAMP
    on_velocity_limit: str = CLAMP
    on_acceleration_limit: str = CLAMP
    on_step_limit: str = CLAMP
    on_workspace: str = CLAMP
    on_bad_command: str = REFUSE
    stop_behaviour: str = DAMPED
    is_streaming: bool = True
    period: float = 0.02
    is_simulated: bool = False

    def __post_init__(self) -> None:
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            allowed = [REFUSE, STOP] if name == 'on_bad_command' else [CLAMP, REFUSE, STOP]
            if name.startswith('on_') and value not in allowed:
                raise ValueRangeError(f'{name} is {value!r}; it must be {" or ".join(allowed)}')
        if self.stop_behaviour not in (DAMPED, HOLD_STILL):
            raise ValueRangeError(
                f'stop_behaviour is {self.stop_behaviour!r}; it must be {DAMPED} or {HOLD_STILL}'
            )
        if not self.period > 0.0:
            raise ValueRangeError(f'period is {self.period} s; it must be above 0')

    def gravest(self, excesses: Sequence[Excess]) -> tuple[str, Excess | None]:
        """What follows on these excesses of one command, and the first that it follows on; clamp
        and None if there are none. Who only catches up is clamped, whatever is set.
        """
        found: dict[str, Excess] = {}
        for excess in excesses:
            action = CLAMP if excess.is_catching_up else getattr(self, f'on_{excess.cause}')
            found.setdefault(action, excess)
        action = next((action for action in (STOP, REFUSE) if action in found), CLAMP)
        return action, found.get(action)
