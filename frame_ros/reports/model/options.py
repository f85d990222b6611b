# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Choices of the user for a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import metric
from frame_ros.metrics.relative_pose import RTE_VARIANTS
from frame_ros.metrics.resampling import ALIGNMENTS

MATCHES = ('time', 'arc_length')


@dataclass(frozen=True)
class ReportOptions:
    """Choices of the user.

    axes: metrics of the fingerprint; empty: those of the paper and of safety that are known. match:
    what brings a pose to its place on a reference, one of MATCHES; empty: as recorded. align: how
    a trajectory is moved as a whole to a reference before ATE and RTE, one of ALIGNMENTS. rte:
    which definition of RTE, one of RTE_VARIANTS.

    Raises:
        ValueRangeError: an axis that is no metric or has no better direction; another match,
            alignment or definition.
    """

    axes: tuple[str, ...] = ()
    match: str = ''
    align: str = 'none'
    rte: str = 'paper'

    def __post_init__(self) -> None:
        check_axes(self.axes)
        if self.match not in ('', *MATCHES):
            raise ValueRangeError(f'match is {self.match!r}; one of {", ".join(MATCHES)}')
        if self.align not in ALIGNMENTS:
            raise ValueRangeError(f'align is {self.align!r}; one of {", ".join(ALIGNMENTS)}')
        if self.rte not in RTE_VARIANTS:
            raise ValueRangeError(f'rte is {self.rte!r}; one of {", ".join(RTE_VARIANTS)}')

    @property
    def changes_errors(self) -> bool:
        """True if ATE and RTE are computed differently from the live ones."""
        return bool(self.match) or self.align != 'none' or self.rte != 'paper'


def check_axes(ids: Sequence[str]) -> None:
    """Raises ValueRangeError for an id that is no metric, or one without a better direction."""
    for id in ids:
        if metric(id).higher_is_better is None:
            raise ValueRangeError(f'{id} has no better direction; it cannot be an axis')
