# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Noise of depth cameras as others measured it.

Along the optical axis and across it: Nguyen, Izadi, Lovell, Modeling Kinect Sensor Noise for
Improved 3D Reconstruction and Tracking, 3DIMPVT 2012, whose fits are functions of distance and
angle of incidence. Nearer than they measured, where the wrist camera looks, the formula is
extrapolated; it gives 1.2 to 1.5 mm there, more than cameras made for that range have. A pixel's
lateral error takes the depth of another place, whole or mixed with its neighbours' (Handa et al., A
Benchmark for RGB-D Visual Odometry, 3D Reconstruction and SLAM, ICRA 2014, shift pixels likewise);
mixed ones at an edge fly between its two sides. Holes, steep surfaces and the shadow of the
baseline are those of `depth_noise`, whose noise of depth is not used.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.scenes.simulation.noise.depth_noise import D405, D435, DepthNoise
from frame_ros.scenes.simulation.rendering import Intrinsics

Depth = NDArray[np.float32]
MIXED = 0.25  # share of pixels that mix the depths of their neighbours
_STEEPEST = 1.4  # rad, incidence up to which the formulas are used
_HOLES_ONLY: dict[str, Any] = {'subpixel': 0.0, 'scale_error': 0.0, 'flying': 0.0, 'fattened': 0.0}
SENSORS = {'front': replace(D435, **_HOLES_ONLY), 'wrist': replace(D405, **_HOLES_ONLY)}


class MeasuredNoise:
    """Makes the pictures of one camera out of clean ones; the same seed gives the same pictures."""

    def __init__(self, camera: Intrinsics, sensor: str, seed: int) -> None:
        """sensor: a key of SENSORS."""
        self._camera = camera
        self._holes = DepthNoise(camera, SENSORS[sensor], seed)
        self._rng = np.random.default_rng((seed, 0x3D))
        self._columns, self._rows = np.meshgrid(
            np.arange(camera.width, dtype=np.float32), np.arange(camera.height, dtype=np.float32)
        )

    def __call__(self, depth: Depth, lost: NDArray[np.bool_] | None = None) -> NDArray[np.uint16]:
        """Returns (H, W) mm, 0 where nothing was measured.

        Args:
            depth: (H, W) m, clean.
            lost: (H, W) further pixels that give none.
        """
        clean = np.ascontiguousarray(depth, np.float32)
        is_there = self._holes(clean) > 0
        if lost is not None:
            is_there &= ~lost
        angle = self._incidence(clean)
        steepness = angle / (np.float32(np.pi / 2) - angle)
        lateral = np.asarray(0.8 + 0.035 * steepness, np.float32)
        noisy = self._shifted(clean, lateral)
        noise = self._rng.standard_normal(clean.shape, np.float32)
        noisy += axial_deviation(clean, angle) * noise
        noisy *= 1000.0
        noisy[~is_there | (noisy < 0.0) | (noisy > 65535.0)] = 0.0
        return np.rint(noisy).astype(np.uint16)

    def _incidence(self, depth: Depth) -> Depth:
        """(H, W) rad, between the surface's normal and the optical axis."""
        across = cv2.Sobel(depth, cv2.CV_32F, 1, 0, ksize=3, scale=0.125)
        down = cv2.Sobel(depth, cv2.CV_32F, 0, 1, ksize=3, scale=0.125)
        slope = cv2.magnitude(across, down) * np.float32(self._camera.focal) / depth
        return np.minimum(np.arctan(slope), np.float32(_STEEPEST))

    def _shifted(self, depth: Depth, deviation: Depth) -> Depth:
        """Takes the depth of a place `deviation` (H, W) pixels away."""
        shape = depth.shape
        columns = self._columns + deviation * self._rng.standard_normal(shape, np.float32)
        rows = self._rows + deviation * self._rng.standard_normal(shape, np.float32)
        border = cv2.BORDER_REPLICATE
        whole = cv2.remap(depth, columns, rows, cv2.INTER_NEAREST, borderMode=border)
        mixed = cv2.remap(depth, columns, rows, cv2.INTER_LINEAR, borderMode=border)
        is_mixed = self._rng.random(shape, np.float32) < MIXED
        return np.asarray(np.where(is_mixed, mixed, whole), np.float32)


def axial_deviation(depth: Depth, angle: Depth) -> Depth:
    """Returns the standard deviation of depth, m, at depths (m) and angles of incidence (rad below
    pi/2): Nguyen, Izadi, Lovell 2012.
    """
    steep = 1e-4 / np.sqrt(depth) * angle**2 / (np.float32(np.pi / 2) - angle) ** 2
    deviation = 0.0012 + 0.0019 * (depth - 0.4) ** 2
    # Their last term begins to count at 60 degrees.
    return np.asarray(deviation + np.where(angle > np.pi / 3, steep, 0.0), np.float32)


def blobs(shape: tuple[int, ...], share: float, size: int, seed: int) -> NDArray[np.bool_]:
    """Returns (H, W) a random pattern that is true in `share` of the pixels, in patches of about
    `size` pixels: holes as those of a mesh, a grid or a shiny surface.
    """
    rng = np.random.default_rng((seed, 0xB0))
    coarse = rng.standard_normal((shape[0] // size + 2, shape[1] // size + 2)).astype(np.float32)
    whole = (shape[1], shape[0])
    smooth = np.asarray(cv2.resize(coarse, whole, interpolation=cv2.INTER_CUBIC), np.float32)
    return np.asarray(smooth < np.quantile(smooth, share))
