# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the noise of the simulated robot's sensors."""

from __future__ import annotations

from frame_ros.core.options import option, options


@options
class NoiseOptions:
    """Noise of the sensors; what is under ground_truth/ has none."""

    depth: bool = option(
        True,
        'holes, torn edges, noise that grows with the distance: as of a D435 (at the wrist a D405)',
    )
    wrench: bool = option(True, 'noise, bias and drift of the force-torque sensor')
    effort: bool = option(
        True,
        'so101: efforts are motor currents in A, in steps of 6.5 mA, with gear friction; false: '
        'N m. fr3: noise of the torque sensors',
    )
    joint: bool = option(True, 'steps of the encoders; so101: velocities are differences of them')
    seed: int = option(
        0,
        'seed of all noise, and of how motors and sensors differ from the nominal ones',
        at_least=0,
    )
