# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Settings of the metrics that follow from the robot: the joints of its actions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any


def action_settings(
    limits: Mapping[str, tuple[float, float]], continuous: Sequence[str]
) -> dict[str, Any]:
    """The action's names, bounds and continuous joints for PipelineOptions.

    A robot with a joint that has no limits gives no bounds: its actions stay raw.

    Args:
        limits: joint -> lower and upper limit, rad or m, of every joint that can be commanded.
        continuous: joints that turn without end.
    """
    found: dict[str, Any] = {'action_names': tuple(limits), 'continuous': tuple(continuous)}
    if not all(math.isfinite(low) and math.isfinite(high) for low, high in limits.values()):
        return found
    return found | {
        'action_lower': tuple(float(low) for low, _ in limits.values()),
        'action_upper': tuple(float(high) for _, high in limits.values()),
    }
