# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Causes for which a command gate limits, refuses, holds or stops, with their meanings."""

from __future__ import annotations

from frame_ros.core.meanings import MeaningEnum


class Cause(MeaningEnum):
    """A cause; its value is what GateIntervention and GateState carry, its meaning is in words."""

    JOINT_LIMIT = 'joint_limit', 'a joint would leave its range, or could not brake before its end'
    VELOCITY_LIMIT = 'velocity_limit', 'a joint or the tip would be too fast'
    ACCELERATION_LIMIT = 'acceleration_limit', 'a joint would change its speed too fast'
    STEP_LIMIT = 'step_limit', 'too far from the measured position or from the previous command'
    WORKSPACE = 'workspace', 'the tip would leave its box, or a link would come below the floor'
    NOT_FINITE = 'not_finite', 'a position is NaN or infinite'
    MALFORMED = 'malformed', 'names, length or stamp are not those of a command'
    OUT_OF_ORDER = 'out_of_order', 'stamped before the previous command, or far ahead'
    SECOND_PUBLISHER = (
        'second_publisher',
        'commands or joint states of another publisher than the one that is followed',
    )
    COMMAND_FLOOD = 'command_flood', 'more commands arrive than any policy sends'
    IMPLAUSIBLE_JOINT_STATES = (
        'implausible_joint_states',
        'measured positions that cannot be: not finite, out of range, faster than the joint can '
        'move, or far from where it was sent',
    )
    CLOCK_SET_BACK = 'clock_set_back', 'the simulated clock was set back'
    STALE_COMMAND = 'stale_command', 'no command for too long'
    STALE_JOINT_STATES = 'stale_joint_states', 'no new joint states for too long'
    STALE_OBSERVATION = 'stale_observation', 'the action comes from an observation that is too old'
    HEARTBEAT = 'heartbeat', 'no heartbeat of the policy node for too long'
    POLICY_PROBLEM = 'policy_problem', 'the policy reports that it cannot act'
    OPERATOR = 'operator', 'the user requested it'
    EPISODE_STOP = 'episode_stop', 'a STOP event of another node'
    INTERNAL_ERROR = 'internal_error', 'an exception inside the gate'
