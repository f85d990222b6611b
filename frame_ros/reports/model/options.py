# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Choices of the user for a report."""

from __future__ import annotations

from dataclasses import dataclass

from frame_ros.core.errors import ValueRangeError
from frame_ros.episodes.episode_errors import ErrorOptions
from frame_ros.metrics import metric


@dataclass(frozen=True)
class ReportOptions(ErrorOptions):
    """Choices of the user.

    axes: metrics of the fingerprint; empty: those of the paper and of safety that are known.

    Raises:
        ValueRangeError: an axis that is no metric or has no better direction; see `ErrorOptions`.
    """

    axes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        for id in self.axes:
            if metric(id).higher_is_better is None:
                raise ValueRangeError(f'{id} has no better direction; it cannot be an axis')
