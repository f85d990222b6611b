# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Choices of the user for a report."""

from __future__ import annotations

from frame_ros.core.options import option, options, rule
from frame_ros.metrics import metric
from frame_ros.metrics.error_options import ErrorOptions


@options
class ReportOptions(ErrorOptions):
    """Choices of the user for a report."""

    axes: tuple[str, ...] = option(
        (), 'metrics of the fingerprint; none: those of the paper and of safety that are known'
    )

    @rule('axes', 'metrics that have a better direction')
    def _are_directed(self) -> bool:
        return all(metric(id).higher_is_better is not None for id in self.axes)
