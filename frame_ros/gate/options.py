# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a command gate: how it reacts, and how it holds and stops the arm."""

from __future__ import annotations

from collections.abc import Sequence

from frame_ros.core.options import group, option, options
from frame_ros.gate.limits.command_limits import Excess
from frame_ros.gate.watchdogs import STOP, WatchdogOptions

CLAMP, REFUSE = 'clamp', 'refuse'
DAMPED, HOLD_STILL = 'damped', 'hold'
REACTIONS = (CLAMP, REFUSE, STOP)


@options
class ReactionOptions:
    """Reaction to a command that exceeds a limit: clamp (to what is allowed), refuse (not sent on)
    or stop (latched).
    """

    joint_limit: str = option(
        CLAMP, 'position, and inability to brake before its limit', choices=REACTIONS
    )
    velocity_limit: str = option(CLAMP, 'velocity of a joint, or of the tip', choices=REACTIONS)
    acceleration_limit: str = option(CLAMP, 'acceleration of a joint', choices=REACTIONS)
    step_limit: str = option(
        CLAMP,
        'limits.step and limits.tick; the first command is refused in any case',
        choices=REACTIONS,
    )
    workspace: str = option(CLAMP, 'box and floor', choices=REACTIONS)
    bad_command: str = option(
        REFUSE, 'command that is malformed, not finite, or out of order', choices=(REFUSE, STOP)
    )


@options
class GateRules:
    """Behaviour of a command gate."""

    rate: float = option(
        50.0,
        'rate at which the watchdogs are looked at, and a held arm gets its command again',
        unit='Hz',
        at_least=1.0,
        at_most=200.0,
    )
    stop_behaviour: str = option(
        DAMPED,
        'damped: decelerates at the acceleration limit; hold: decelerates and returns to the last '
        'command',
        choices=(DAMPED, HOLD_STILL),
    )
    stream: bool = option(
        True,
        'repeat the command that holds the arm at `rate`; false: only until the arm is at rest',
    )
    reactions: ReactionOptions = group(ReactionOptions)
    watchdogs: WatchdogOptions = group(WatchdogOptions)

    @property
    def period(self) -> float:
        """s between two looks at the watchdogs, and two commands that hold the arm."""
        return 1.0 / self.rate

    def gravest(self, excesses: Sequence[Excess]) -> tuple[str, Excess | None]:
        """The reaction to these excesses of one command, and the first excess that causes it; clamp
        and None if there are none. Catching up is clamped in any case.
        """
        found: dict[str, Excess] = {}
        for excess in excesses:
            action = CLAMP if excess.is_catching_up else getattr(self.reactions, excess.cause)
            found.setdefault(action, excess)
        action = next((action for action in (STOP, REFUSE) if action in found), CLAMP)
        return action, found.get(action)
