# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of how chunks of actions are executed."""

from __future__ import annotations

from frame_ros.core.options import option, options, rule

NOW, FIRST = ALIGNMENTS = ('now', 'first')
SYNCHRONOUS, ASYNCHRONOUS, ENSEMBLING = EXECUTION_MODES = (
    'synchronous',
    'asynchronous',
    'ensembling',
)
AUTOMATIC = -1
# Zhao et al. 2023, "Learning Fine-Grained Bimanual Manipulation with Low-Cost Hardware" (ACT),
# section IV-B.
ENSEMBLE_COEFFICIENT = 0.01


@options
class ExecutionOptions:
    """Execution of chunks."""

    execution: str = option(
        ASYNCHRONOUS,
        'synchronous: infers when no action is left, and holds meanwhile; asynchronous: before '
        'that; ensembling: at every tick, and averages',
        choices=EXECUTION_MODES,
    )
    alignment: str = option(
        NOW,
        'a new chunk is executed from the step that matches now, or from its first',
        choices=ALIGNMENTS,
    )
    blend: int = option(
        0, 'ticks over which a new chunk replaces the former, linearly; 0: at once', at_least=0
    )
    ensemble_coefficient: float = option(
        ENSEMBLE_COEFFICIENT,
        'coefficient in the weights exp(-coefficient i) of ensembling, i = 0 the oldest chunk; 0: '
        'all alike; below 0: newest most',
    )
    interpolate: bool = option(
        True,
        'steps of a chunk further apart than the ticks go out in a straight line; false: whole, '
        'then repeated',
    )
    n_action_steps: int = option(
        0,
        "steps to execute before planning again; 0: the policy's own number, or all; ensembling: "
        'every step',
        at_least=0,
    )
    prefetch: int = option(
        AUTOMATIC,
        'asynchronous: begin the next inference when so many actions are left; -1: automatic',
        at_least=-1,
    )

    @rule('prefetch', '-1 or 0: synchronous execution infers when no action is left')
    def _is_synchronous(self) -> bool:
        return self.execution != SYNCHRONOUS or self.prefetch in (AUTOMATIC, 0)

    @rule('prefetch', '-1: ensembling infers as often as it can')
    def _is_often(self) -> bool:
        return self.execution != ENSEMBLING or self.prefetch == AUTOMATIC

    @rule('alignment', 'now: the chunks that ensembling averages are aligned by time')
    def _is_aligned(self) -> bool:
        return self.execution != ENSEMBLING or self.alignment == NOW

    @rule('blend', '0: ensembling averages all chunks')
    def _is_unblended(self) -> bool:
        return self.execution != ENSEMBLING or self.blend == 0
