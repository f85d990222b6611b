# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of how the operations of an episode follow from its events."""

from __future__ import annotations

from frame_ros.core.options import option, options

SUCCESS, ENDING, START = 'success', 'ending', 'start'
SAFETY_STOP, CENSORED, COUNTED = 'safety_stop', 'censored', 'counted'


@options
class OperationOptions:
    """Operations of an episode by its events."""

    begins: str = option(
        SUCCESS,
        'begin of an operation: the success before it (PhAIL), the ending before it of any kind, '
        'or its own OPERATION_START; the first, and one without, begins with the episode or the '
        'ending before it',
        choices=(SUCCESS, ENDING, START),
    )
    interventions: str = option(
        SAFETY_STOP,
        'an operation in which an operator drove: a hard failure at the takeover (PhAIL), censored '
        "at the takeover, or counted as if it were the policy's",
        choices=(SAFETY_STOP, CENSORED, COUNTED),
    )
    every_success: bool = option(
        False,
        'every SUCCESS event is an operation; otherwise SUCCESS is of the task, OPERATION_SUCCESS '
        'of an operation',
    )
    repeat_time: float = option(
        0.5,
        'two equal events of one operation this close are one event, sent twice',
        unit='s',
        at_least=0.0,
    )
    clock_jump: float = option(
        1.0, 'smallest jump of the clock of the stamps that is believed', unit='s', above=0.0
    )
