# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulated scene's own light, friction and colours, before anything is varied."""

from __future__ import annotations

from dataclasses import dataclass

Triple = tuple[float, float, float]

# Sliding, torsional and rolling friction of what is moved, and of what stands.
OBJECT_FRICTION: Triple = (1.0, 0.02, 0.0005)
SURFACE_FRICTION: Triple = (0.8, 0.01, 0.0002)
# Of the simulated room, which no object of a scene may have.
TAKEN_NAMES = ('world', 'table', 'floor')
TABLE_COLOUR: Triple = (0.80, 0.70, 0.57)
BIN_COLOUR: Triple = (0.30, 0.36, 0.42)
LEAST_IMAGE, LARGEST_IMAGE = 16, (1280, 960)  # pixels, of an edge and of a picture
LIT: Triple = (0.15, 0.0, 0.0)  # m, the place that every lamp is directed at
LIGHT_TINT: Triple = (1.0, 1.0, 0.96)


@dataclass(frozen=True)
class Lamp:
    """A directional light.

    Attributes:
        position: m, in the base frame.
        strength: of its diffuse light, 1: as bright as a surface can be drawn.
    """

    name: str
    position: Triple
    strength: float


LAMPS = (
    Lamp('key_light', (0.9, -0.8, 1.6), 0.52),
    Lamp('fill_light', (-0.4, 1.2, 1.2), 0.26),
)
