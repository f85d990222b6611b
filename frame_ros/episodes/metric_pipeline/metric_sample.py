# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Metric samples, the output of the pipeline."""

from __future__ import annotations

from typing import Any


class MetricSample:
    """Output of the pipeline: one metric message without ROS.

    kind: 'quality', 'safety', 'efficiency', 'confidence' or 'summary'. stamp: ns. fields: the
    message's field names. row: their values, in that order. A tuple rather than a mapping, since
    one is made at every control step.
    """

    __slots__ = ('kind', 'stamp', 'episode_id', 'fields', 'row')

    def __init__(
        self, kind: str, stamp: int, episode_id: str, fields: tuple[str, ...], row: tuple
    ) -> None:
        self.kind = kind
        self.stamp = stamp
        self.episode_id = episode_id
        self.fields = fields
        self.row = row

    @property
    def values(self) -> dict[str, Any]:
        """Field name -> value."""
        return dict(zip(self.fields, self.row))
