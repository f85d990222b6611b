# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Least distances between the links of a robot and what a depth camera sees near them.

Pixels out of range are not valid; the others are smoothed; what lies outside the space that is
looked at is cropped (depth_crop); what is within the padding of any link, or of what the robot
holds, is the robot (depth_self_filter); of the rest, what flies alone at edges is dropped
(depth_edges). All that is left are obstacles, and of them the nearest of each link is found exactly
(depth_search).
"""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.link_shapes import PlacedShapes
from frame_ros.sensing.depth_camera import Depth, DepthCamera
from frame_ros.sensing.depth_cloud import MarkedCloud, marked_cloud
from frame_ros.sensing.depth_crop import DepthCrop, DepthRange
from frame_ros.sensing.depth_edges import EdgeFilter
from frame_ros.sensing.depth_scan import DepthScan, Scan
from frame_ros.sensing.depth_settings import DepthSettings
from frame_ros.sensing.depth_shapes import CameraShapes
from frame_ros.sensing.depth_view import seen_fractions
from frame_ros.sensing.reading import DistanceReading

Array = NDArray[np.float64]

TOO_FEW_VALID = 'too few pixels have a depth within range'
OUT_OF_VIEW = 'no link of the robot is in view'
NOTHING_NEAR = 'nothing but the robot, and what is not looked at, is in view'


class DepthProximity:
    """Distances from one camera's images.

    Not thread-safe: it owns buffers, and keeps the crop of the camera's last pose.
    """

    def __init__(self, camera: DepthCamera, settings: DepthSettings | None = None) -> None:
        self.camera = camera
        self.settings = settings = settings or DepthSettings()
        self._range = DepthRange(settings.min_range, settings.max_range)
        self._crop = DepthCrop(camera, *settings.half_spaces(), settings.depth_noise)
        self._scan = DepthScan(camera, settings.padding, settings.depth_noise)
        self._edges = EdgeFilter(settings, self._scan.grid)
        self._images: dict[np.dtype[np.generic], tuple[Depth, Depth]] = {}

    def measure(
        self,
        depth: Depth,
        shapes: PlacedShapes,
        rotation: Array,
        translation: Array,
        held: PlacedShapes | None = None,
    ) -> DistanceReading:
        """The least distance of each link to what the image shows besides the robot.

        Distances are to the links themselves, not to the padding around them; below the padding
        there are none. A link whose surroundings are not in view, or have too few valid pixels, is
        not measured: NaN. If none was, `unavailable` says why.

        Args:
            depth: (H, W) uint16 mm or float32 m, as `decode_depth` gives it. Not changed.
            shapes: of the robot at the image's stamp, in the base frame.
            rotation: (3, 3), and translation: (3,) m, pose of the camera's optical frame in the
                base frame at that stamp.
            held: what the robot holds, in the base frame: no obstacle.

        Raises:
            DepthError: the image is not of the camera's size or of another type.
        """
        image, valid = self._valid(self.camera.checked(depth))
        fraction = valid / depth.size
        if not valid or fraction < self.settings.min_valid_fraction:
            why = f'{TOO_FEW_VALID}: {fraction:.1%} of them'
            return self._missing(shapes, why, fraction)
        seen = CameraShapes(shapes, rotation, translation, held)
        is_measured = self._is_measured(image, seen)
        if not is_measured.any():
            return self._missing(shapes, OUT_OF_VIEW, fraction)
        if self._crop.is_limited:
            area = image[: self.camera.height, : self.camera.width]
            self._crop.apply(area, rotation, translation)
        edges = self._edges if self.settings.min_support else None
        scan = self._scan.run(image, _scale(depth), seen, edges)
        reading = self._reading(shapes.links, scan, is_measured, rotation, translation)
        return replace(reading, valid_fraction=fraction, occluded_fraction=scan.own / depth.size)

    def points(
        self,
        depth: Depth,
        shapes: PlacedShapes,
        rotation: Array,
        translation: Array,
        held: PlacedShapes | None = None,
        step: int = 8,
    ) -> MarkedCloud:
        """Every `step`th point in both directions, with what it counts as; see `marked_cloud`."""
        return marked_cloud(
            self.camera, self.settings, depth, shapes, rotation, translation, held, step
        )

    def _valid(self, depth: Depth) -> tuple[Depth, int]:
        """A copy of the image filled up to whole blocks, filtered; and how many valid pixels there
        were.
        """
        own, filled = self._buffers(depth.dtype)
        self._range.apply(depth, own)
        valid = int(cv2.countNonZero(own))
        if filled is not own:
            filled[: depth.shape[0], : depth.shape[1]] = own
        self._edges.smooth(filled)
        return filled, valid

    def _buffers(self, kind: np.dtype[np.generic]) -> tuple[Depth, Depth]:
        """An image of the camera's size, and one of whole blocks; the same where they may be."""
        if kind not in self._images:
            grid = self._scan.grid
            filled = np.zeros((grid.height, grid.width), kind)
            size = (self.camera.height, self.camera.width)
            own = filled if filled.shape == size else np.zeros(size, kind)
            self._images[kind] = own, filled
        return self._images[kind]

    def _is_measured(self, image: Depth, seen: CameraShapes) -> NDArray[np.bool_]:
        """(L,) whether enough of what is around each link was measured."""
        settings = self.settings
        fractions = seen_fractions(
            self.camera, self._scan.grid, image, seen.exact, settings.surroundings
        )
        out_of_view = np.isnan(fractions) & (not settings.needs_links_in_view)
        return out_of_view | (fractions > 0) & (fractions >= settings.min_valid_fraction)

    def _missing(self, shapes: PlacedShapes, why: str, valid: float) -> DistanceReading:
        reading = DistanceReading.missing(shapes.links, why)
        return replace(reading, valid_fraction=valid)

    def _reading(
        self, names: tuple[str, ...], scan: Scan, is_measured: NDArray[np.bool_], rotation: Array,
        translation: Array,
    ) -> DistanceReading:  # fmt: skip
        nearest, hidden = scan.nearest, ~is_measured
        distances = np.where(hidden, np.nan, nearest.distances)
        on_robot = nearest.surface @ rotation.T + translation
        on_obstacle = nearest.points @ rotation.T + translation
        on_robot[hidden] = on_obstacle[hidden] = np.nan
        why = '' if np.isfinite(distances).any() else NOTHING_NEAR
        return DistanceReading(
            names, distances, on_robot, on_obstacle, ('',) * len(names), unavailable=why
        )


def _scale(depth: Depth) -> float:
    """m per unit."""
    return 1e-3 if depth.dtype == np.uint16 else 1.0
