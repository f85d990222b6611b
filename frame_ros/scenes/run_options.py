# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of runs of a policy in scenes."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.scenes.world_names import OURS, WORLD_NAMES

RATES = (10.0, 250.0)  # Hz, of control steps


@options
class SceneRunOptions:
    """Runs of a policy in scenes."""

    rate: float = option(
        30.0, 'control steps per second', unit='Hz', at_least=RATES[0], at_most=RATES[1]
    )
    timeout: float = option(20.0, 'after which a trial ends', unit='s', above=0.0)
    timestep: float = option(0.002, 'of the physics, about', unit='s', at_least=1e-4, at_most=5e-3)
    is_checked: bool = option(True, 'a scene that breaks a constraint is invalid, and not run')
    world: str = option(
        OURS, "simulated world: this package's, or one that others made", choices=WORLD_NAMES
    )
    with_depth: bool = option(False, 'depth is drawn with every image, and thrown away')
