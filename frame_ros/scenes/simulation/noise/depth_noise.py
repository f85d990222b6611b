# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A seeded, causal noise model of stereo depth cameras."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.scenes.simulation.rendering import Intrinsics

Depth = NDArray[np.float32]


@dataclass(frozen=True)
class DepthNoiseOptions:
    """A stereo depth camera; the defaults are an Intel RealSense D435 at 640 x 480.

    baseline: m. subpixel: RMS of the disparity, pixels of `native_focal` (pixels): the RMS of depth
    is z^2 * subpixel / (native_focal * baseline) (Grunnet-Jepsen, Sweetser, Woodfill, Best-Known-
    Methods for Tuning Intel RealSense D400 Depth Cameras: 0.08 on a well-textured target), here
    over the cosine of incidence, as it grows for Kinect (Nguyen, Izadi, Lovell, Modeling Kinect
    Sensor Noise, 3DIMPVT 2012). correlation: pixels over which it is smooth, as stereo matches
    blocks. scale_error: RMS of the camera's own, constant, relative error of depth.

    unit: m of one step of the picture. minimum, maximum: m that it measures (D400 series data
    sheet: 0.175 m at 640 x 480; beyond some metres the noise drowns everything).

    holes: share of small random holes. steep: cosine of incidence under which nothing is matched.
    dark, dark_holes: brightness (0 to 1) under which a share of pixels has no depth.
    edge: relative step of depth between neighbours that is an edge. Of its pixels the share
    `flying` lies between its two sides, `fattened` on the nearer one, `edge_holes` are empty.
    has_shadow: pixels hidden from the second imager are empty: a band next to nearer ones, and at
    the left border.
    delay: s from the picture's stamp to its arrival.
    """

    baseline: float = 0.05
    subpixel: float = 0.08
    native_focal: float = 640.0
    correlation: int = 2
    scale_error: float = 0.002
    unit: float = 0.001
    minimum: float = 0.175
    maximum: float = 6.0
    holes: float = 0.004
    steep: float = 0.18
    dark: float = 0.06
    dark_holes: float = 0.4
    edge: float = 0.03
    flying: float = 0.2
    fattened: float = 0.25
    edge_holes: float = 0.2
    has_shadow: bool = True
    delay: float = 0.02

    def __post_init__(self) -> None:
        """Raises ValueRangeError for an impossible camera."""
        shares = (self.holes, self.dark_holes, self.flying, self.fattened, self.edge_holes)
        edge_share = self.flying + self.fattened + self.edge_holes
        if not all(0.0 <= share <= 1.0 for share in (*shares, edge_share)):
            raise ValueRangeError(f'shares of pixels must lie, also together, in 0 to 1: {self}')
        if min(self.baseline, self.native_focal, self.unit) <= 0 or self.correlation < 1:
            raise ValueRangeError(f'baseline, focal length, unit must be positive: {self}')
        if not 0.0 <= self.minimum < self.maximum <= 65535 * self.unit:
            raise ValueRangeError(
                f'a range of {self.minimum} to {self.maximum} m in steps of {self.unit} m'
            )


D435 = DepthNoiseOptions()
# For larger distances: 95 mm of baseline (D400 series data sheet).
D455 = DepthNoiseOptions(baseline=0.095, minimum=0.4)
# 18 mm of baseline, made for 7 to 50 cm (D400 series data sheet): what hangs at a wrist.
D405 = DepthNoiseOptions(baseline=0.018, minimum=0.07, maximum=2.0)
# Only range and whole millimetres.
IDEAL_DEPTH = DepthNoiseOptions(
    subpixel=0.0, scale_error=0.0, minimum=0.01, holes=0.0, steep=0.0, dark_holes=0.0, flying=0.0,
    fattened=0.0, edge_holes=0.0, has_shadow=False, delay=0.0,
)  # fmt: skip

DEPTH_SENSORS = {'D435': D435, 'D455': D455, 'D405': D405, 'ideal': IDEAL_DEPTH}


class DepthNoise:
    """Makes the pictures of one depth camera out of true ones. Pictures of the same seed come out
    the same, in the same order.
    """

    def __init__(
        self, camera: Intrinsics, settings: DepthNoiseOptions = D435, seed: int = 0
    ) -> None:
        """camera: that rendered the true depth.

        Raises:
            ValueRangeError: the seed is negative.
        """
        if seed < 0:
            raise ValueRangeError(f'noise needs a seed of 0 or more, not {seed}')
        self.camera, self.settings = camera, settings
        self._rng = np.random.default_rng((seed, 0xDE))
        self._scale = np.float32(1.0 + settings.scale_error * self._rng.standard_normal())
        self._columns = np.arange(camera.width, dtype=np.float32)
        self._waiting: deque[tuple[float, NDArray[np.uint16]]] = deque()

    def __call__(self, depth: Depth, rgb: NDArray[np.uint8] | None = None) -> NDArray[np.uint16]:
        """Returns (H, W) uint16 in steps of `unit` (mm), 0 where nothing was measured.

        Args:
            depth: (H, W) m along the optical axis.
            rgb: (H, W, 3), for dark surfaces.

        Raises:
            ShapeError: the picture is not of the camera's size.
        """
        shape = (self.camera.height, self.camera.width)
        if depth.shape != shape:
            raise ShapeError(f'a depth picture of {depth.shape}, the camera has {shape}')
        settings = self.settings
        clean = np.ascontiguousarray(depth, np.float32)
        near: Depth = np.asarray(cv2.erode(clean, _SQUARE), np.float32)
        far: Depth = np.asarray(cv2.dilate(clean, _SQUARE), np.float32)
        is_edge = far - near > settings.edge * near
        noisy = clean * self._scale
        is_lost = (clean < settings.minimum) | (clean > settings.maximum)
        if settings.subpixel or settings.steep:
            cosine = self._incidence(clean)
            self._blur(noisy, cosine)
            is_lost |= (cosine < settings.steep) & ~is_edge
        self._tear_edges(noisy, near, far, is_edge, is_lost)
        self._punch_holes(is_lost, rgb)
        if settings.has_shadow:
            is_lost |= self._shadow(clean)
        noisy[is_lost] = 0.0
        noisy *= np.float32(1.0 / settings.unit)
        return _whole(noisy)

    def put(self, stamp: float, depth: Depth, rgb: NDArray[np.uint8] | None = None) -> None:
        """A picture was taken at `stamp`, s; it comes out of `take` after the delay. Arguments and
        errors otherwise as of a call.
        """
        self._waiting.append((stamp, self(depth, rgb)))

    def take(self, now: float) -> list[tuple[float, NDArray[np.uint16]]]:
        """(stamp, picture) of all that have arrived until `now`, s, and were not taken yet."""
        arrived = []
        while self._waiting and self._waiting[0][0] + self.settings.delay <= now:
            arrived.append(self._waiting.popleft())
        return arrived

    def _incidence(self, depth: Depth) -> Depth:
        """(H, W) cosine of the angle between the surface and the direction to the camera, near the
        optical axis: 1 where it is seen face on.
        """
        across = cv2.Sobel(depth, cv2.CV_32F, 1, 0, ksize=3, scale=0.125)
        down = cv2.Sobel(depth, cv2.CV_32F, 0, 1, ksize=3, scale=0.125)
        slope: Depth = np.asarray(cv2.magnitude(across, down), np.float32)
        slope *= np.float32(self.camera.focal) / depth
        return 1.0 / np.sqrt(1.0 + slope * slope)

    def _blur(self, noisy: Depth, cosine: Depth) -> None:
        """Adds the noise along the optical axis."""
        settings, camera = self.settings, self.camera
        step = settings.correlation
        coarse = self._rng.standard_normal(
            (-(-camera.height // step) + 1, -(-camera.width // step) + 1), np.float32
        )
        size = (coarse.shape[1] * step, coarse.shape[0] * step)
        spread = _interpolated_spread(step)
        wave = cv2.resize(coarse, size, interpolation=cv2.INTER_LINEAR)
        wave = wave[: camera.height, : camera.width]
        factor = settings.subpixel / (settings.native_focal * settings.baseline * spread)
        wave = wave * noisy * noisy
        wave *= np.float32(factor)
        wave /= np.maximum(cosine, 0.1)
        noisy += wave

    def _tear_edges(
        self,
        noisy: Depth,
        near: Depth,
        far: Depth,
        is_edge: NDArray[np.bool_],
        is_lost: NDArray[np.bool_],
    ) -> None:
        """Pixels at edges of depth: between the two sides, on the nearer side, or empty."""
        settings = self.settings
        places = np.flatnonzero(is_edge)
        fate = self._rng.random(len(places), np.float32)
        share = self._rng.random(len(places), np.float32)
        nearer, further = near.ravel()[places], far.ravel()[places]
        flying = fate < settings.flying
        fat = ~flying & (fate < settings.flying + settings.fattened)
        flat = noisy.ravel()
        flat[places[flying]] = (nearer + share * (further - nearer))[flying]
        flat[places[fat]] = nearer[fat]
        lost = fate > 1.0 - settings.edge_holes
        is_lost.ravel()[places[lost]] = True

    def _punch_holes(self, is_lost: NDArray[np.bool_], rgb: NDArray[np.uint8] | None) -> None:
        """Small random holes, and those of dark surfaces."""
        settings, camera = self.settings, self.camera
        cells = self._rng.random((-(-camera.height // 4), -(-camera.width // 4)), np.float32)
        if settings.holes:
            # A hole is a cell of 4 x 4 pixels.
            holes = (cells < settings.holes).view(np.uint8)
            size = (4 * cells.shape[1], 4 * cells.shape[0])
            large = cv2.resize(holes, size, interpolation=cv2.INTER_NEAREST)
            is_lost |= large[: camera.height, : camera.width].view(np.bool_)
        if rgb is not None and settings.dark_holes:
            grey = cv2.cvtColor(np.ascontiguousarray(rgb), cv2.COLOR_RGB2GRAY)
            places = np.flatnonzero(grey < settings.dark * 255)
            gone = self._rng.random(len(places), np.float32) < settings.dark_holes
            is_lost.ravel()[places[gone]] = True

    def _shadow(self, depth: Depth) -> NDArray[np.bool_]:
        """Returns the pixels whose place the second imager, at +x by the baseline, does not see:
        something further right, so nearer, is at or before the same column there; or it is left of
        its picture.
        """
        disparity = np.float32(self.camera.focal * self.settings.baseline) / depth
        column = self._columns - disparity
        # The least column of everything further right in the first picture.
        least = np.minimum.accumulate(column[:, ::-1], axis=1)[:, ::-1]
        hidden = column < 0.0
        # Half a pixel: neighbours on a steep surface are no shadow.
        hidden[:, :-1] |= column[:, :-1] > least[:, 1:] + 0.5
        return hidden


_SQUARE = np.ones((3, 3), np.uint8)


def _interpolated_spread(factor: int) -> float:
    """RMS of independent normal numbers after bilinear interpolation to `factor` times the size in
    both directions: it takes variance away.
    """
    share = np.abs((np.arange(factor) + 0.5) / factor - 0.5)
    return float(np.mean(share**2 + (1.0 - share) ** 2))


def _whole(values: Depth) -> NDArray[np.uint16]:
    """Rounded; larger than uint16 counts as nothing measured."""
    values[values > 65535.0] = 0.0
    return np.rint(values).astype(np.uint16)
