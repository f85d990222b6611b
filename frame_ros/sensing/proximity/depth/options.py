# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Criteria of an obstacle in a depth image."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.options import option, options, rule

Array = NDArray[np.float64]
FARTHEST = 65.0  # m that 16UC1 can express


@dataclass(frozen=True)
class Plane:
    """Of the base frame: only what has normal . p > offset (m) counts. normal: unit vector."""

    normal: tuple[float, float, float]
    offset: float


@options
class DepthParameters:
    """Criteria of an obstacle in a depth image."""

    padding: float = option(
        0.01,
        'distance from any link within which a pixel is the robot itself, unless it belongs to an'
        ' obstacle that begins farther out, down to half of it',
        unit='m',
        at_least=0.0,
        live=True,
    )
    depth_noise: float = option(
        0.01,
        'error of a depth of 1 m, growing with its square, as that of stereo cameras does; '
        'a pixel that would be within the padding, or below the surface, with such an '
        'error, is no obstacle; 0: depths are right',
        unit='m',
        at_least=0.0,
        live=True,
    )
    min_range: float = option(
        0.1,
        'smallest depth along the optical axis; nearer was not measured',
        unit='m',
        above=0.0,
        live=True,
    )
    max_range: float = option(
        3.0, 'largest depth', unit='m', above=0.0, at_most=FARTHEST, live=True
    )
    surface_margin: float = option(
        0.01, 'height above the surface up to which nothing is an obstacle', unit='m', live=True
    )
    smoothing: int = option(
        3,
        'side in pixels of the square whose median is taken; 1: none',
        choices=(1, 3, 5),
        live=True,
    )
    min_support: int = option(
        7,
        "neighbours of a pixel's 8 that must be at about its depth for it to count, or as large a "
        'share of the 7 x 7 about it on one plane with it; 0: single pixels count',
        at_least=0,
        at_most=8,
        live=True,
    )
    outline: float = option(
        0.022,
        "angle about the robot's outline within which a camera mixes it with what is behind: what"
        ' is seen there counts for nothing unless it is nearer to the camera than the robot;'
        ' 0: none is mixed',
        unit='rad',
        at_least=0.0,
        at_most=0.1,
        live=True,
    )
    thin_support: int = option(
        8,
        'pixels along a line at about its depth that one of a thin thing needs; with half of '
        'them it counts if it was there in the images before; 0: nothing thin is looked for',
        at_least=0,
        at_most=225,
        live=True,
    )
    tolerance: float = option(
        0.004,
        'difference of two depths up to which they are about the same',
        unit='m',
        at_least=0.0,
        live=True,
    )
    relative_tolerance: float = option(
        0.008,
        'share of the nearer depth, added to it; for depths in mm it counts in whole 256ths',
        at_least=0.0,
        live=True,
    )
    min_valid_fraction: float = option(
        0.1,
        'share of the pixels with a depth within range that anything measured needs; '
        'likewise around a link',
        at_least=0.0,
        at_most=1.0,
        live=True,
    )
    surroundings: float = option(
        0.05,
        'width around a link that must be in view for its distance to be measured',
        unit='m',
        at_least=0.0,
        live=True,
    )
    needs_links_in_view: bool = option(
        True,
        'a link that is out of view counts as not measured; false: the distance to what is '
        'seen stands for it',
        live=True,
    )

    hidden_size: float = option(
        0.03,
        'diameter of the smallest obstacle that is looked for where nothing was seen: hidden, '
        'out of view, behind holes; 0: such places are not looked for',
        unit='m',
        at_least=0.0,
        live=True,
    )
    hidden_reach: float = option(
        0.3,
        'distance from a link up to which places that were not seen are looked for',
        unit='m',
        above=0.0,
        live=True,
    )
    partial_margin: float = option(
        0.01,
        'by which a place that was not seen must be nearer than what was seen to make the '
        'distance partial',
        unit='m',
        at_least=0.0,
        live=True,
    )

    @rule('min_range', 'below max_range')
    def _has_range(self) -> bool:
        return self.min_range < self.max_range


@options
class DepthOptions(DepthParameters):
    """Criteria of an obstacle in a depth image.

    Attributes:
        surface_height: m, z in the base frame of a table or floor that the robot stands at; None:
            none. Lower points, and those up to surface_margin above it, are no obstacle.
        workspace: corners ((x, y, z), (x, y, z)) in m in the base frame, the lower first; points
            outside are no obstacle. None: no limit.
        planes: further limits; only points beyond each of them count.
    """

    surface_height: float | None = None
    workspace: tuple[tuple[float, ...], tuple[float, ...]] | None = None
    planes: tuple[Plane, ...] = ()

    @rule('workspace', 'its lower and its upper corner, each x, y, z in m')
    def _is_box(self) -> bool:
        if self.workspace is None:
            return True
        lower, upper = (np.asarray(corner, np.float64) for corner in self.workspace)
        return lower.shape == upper.shape == (3,) and bool((lower < upper).all())

    def half_spaces(self) -> tuple[Array, Array]:
        """normals (P, 3) and offsets (P,) in m, in the base frame: what counts has
        normal . p > offset for all of them.
        """
        rows = [(*plane.normal, plane.offset) for plane in self.planes]
        if self.surface_height is not None:
            rows.append((0.0, 0.0, 1.0, self.surface_height + self.surface_margin))
        if self.workspace is not None:
            for axis in np.eye(3):
                lower, upper = (float(axis @ corner) for corner in self.workspace)
                rows += [(*axis, lower), (*-axis, -upper)]
        table = np.array(rows, np.float64).reshape(-1, 4)
        return table[:, :3], table[:, 3]
