# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the errors of whole episodes against their references."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.metrics.relative_pose import RTE_VARIANTS
from frame_ros.metrics.resampling import ALIGNMENTS, MATCHES


@options
class ErrorOptions:
    """Measurement of an episode against its references."""

    match: str = option(
        '',
        'bring a reference to the poses by time since the start, or by the way travelled; none: '
        'as the live metrics did',
        choices=('', *MATCHES),
    )
    align: str = option(
        'none',
        'move each trajectory as a whole to its reference before ATE and RTE',
        choices=ALIGNMENTS,
    )
    rte: str = option(
        'paper',
        'paper: of displacements in the common frame, FRAME eq. 10; evo: of relative poses, as '
        'evo_rpe has it',
        choices=RTE_VARIANTS,
    )

    @property
    def changes_errors(self) -> bool:
        """True if ATE and RTE are computed differently from the live ones."""
        return (self.match, self.align, self.rte) != ('', 'none', 'paper')
