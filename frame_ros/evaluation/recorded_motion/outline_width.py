# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The width about the robot's outline within which a camera mixes it with what is behind
(`depth.outline`), from images of the arm alone in an empty scene.

Nothing is near the arm there, so a distance below NEAR is false. An image needs the least width
with which it has none. The largest of N images says by itself how sure it is: whatever the
distribution, at most 1 - 0.05^(1/N) of the images like them need more, with 95 % confidence.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.options import evolved
from frame_ros.core.time import SECOND
from frame_ros.sensing.proximity.cameras.alignment import AlignmentOptions
from frame_ros.sensing.proximity.cameras.trusted_padding import TrustedPadding
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import NOTHING_NEAR, DepthProximity
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.mount import Mount
from frame_ros.sensing.proximity.robot_at import WatchedRobot

Array = NDArray[np.float64]
NEAR = 0.1  # m
WIDEST = 0.05  # rad; what is still near then is not the outline
RISK = 0.05  # one less the confidence


@dataclass(frozen=True)
class SeenArm:
    """One image of the arm alone.

    Attributes:
        depth: (H, W) m, or uint16 mm; 0 where there is none.
        positions: (J,) rad or m, of the joints of the robot's frames.
    """

    depth: NDArray[Any]
    positions: Array


@dataclass(frozen=True)
class ImageNeed:
    """One image.

    Attributes:
        width: rad that it needs, half a pixel below whole ones, to which the node rounds it up;
            infinite: something is near even at WIDEST; NaN: not measured.
        reason: why it is not measured, or which link is near what; '': neither.
    """

    width: float
    reason: str = ''


@dataclass(frozen=True)
class OutlineWidth:
    """The needs of the images of one camera."""

    needs: tuple[ImageNeed, ...]

    @property
    def widths(self) -> Array:
        """(N,) rad, of the images that were measured and need no more than WIDEST."""
        found = np.array([each.width for each in self.needs], np.float64)
        return found[np.isfinite(found)]

    @property
    def largest(self) -> float:
        """rad; NaN: none was measured."""
        return float(self.widths.max(initial=-math.inf)) if len(self.widths) else math.nan

    @property
    def share_beyond(self) -> float:
        """Largest share of such images that need more than the largest width, with 95 %."""
        return 1.0 - float(RISK ** (1.0 / len(self.widths))) if len(self.widths) else 1.0


def different_postures(
    robot: WatchedRobot, positions: Iterable[Array], spacing: float
) -> Iterator[int]:
    """Yields the numbers of those in which a shape's middle is `spacing` m or more from where it is
    in each that was yielded before.
    """
    kept: list[Array] = []
    for number, each in enumerate(positions):
        places = robot.at(each).shapes.translations.copy()
        if all(np.linalg.norm(places - other, axis=1).max() >= spacing for other in kept):
            kept.append(places)
            yield number


def spread_order(count: int) -> list[int]:
    """Returns the numbers below `count` in an order of which every beginning is spread over all:
    0, the middle, the quarters, and so on.
    """
    digits = max(count - 1, 1).bit_length()
    return sorted(range(count), key=lambda number: int(f'{number:0{digits}b}'[::-1], 2))


def outline_width(
    robot: WatchedRobot,
    camera: DepthCamera,
    mount: Mount,
    images: Sequence[SeenArm],
    settings: DepthOptions,
    alignment: AlignmentOptions | None = None,
) -> OutlineWidth:
    """Returns what each image needs, as the proximity node measures with its check of the camera,
    once that has had every image: postures a second apart.

    settings, alignment: those of the node; its outline counts for nothing. None: the defaults.
    """
    trusted = TrustedPadding(camera, settings.padding, alignment)
    widths = _Widths(camera, settings)
    found = []
    for number in range(2 * len(images)):
        image = images[number % len(images)]
        at = robot.at(image.positions)
        pose = at.pose(mount)
        trusted.check((number + 1) * SECOND, image.depth, at.shapes, *pose)
        if number < len(images):
            continue
        if trusted.refusal:
            found.append(ImageNeed(math.nan, trusted.refusal))
        else:
            given = image.depth, at.shapes, *trusted.pose(*pose), None, trusted.padding, at.surfaces
            found.append(widths.need(given, robot.links))
    return OutlineWidth(tuple(found))


class _Widths:
    """Measures images with one width after another, of whole pixels."""

    def __init__(self, camera: DepthCamera, settings: DepthOptions) -> None:
        self._camera, self._settings = camera, settings
        self._pixel = 1.0 / max(camera.fx, camera.fy)
        self._detectors: dict[int, DepthProximity] = {}

    def need(self, given: tuple[Any, ...], links: Sequence[str]) -> ImageNeed:
        """Returns what an image needs. given: as `DepthProximity.measure` takes it."""
        distances: Array = np.empty(0)
        for pixels in range(math.floor(WIDEST / self._pixel) + 1):
            reading = self._detector(pixels).measure(*given)
            if reading.unavailable not in ('', NOTHING_NEAR):
                return ImageNeed(math.nan, reading.unavailable)
            distances = np.asarray(reading.distances)
            if not (distances < NEAR).any():
                return ImageNeed(self._angle(pixels))
        at = int(np.nanargmin(distances))
        return ImageNeed(math.inf, f'{links[at]} is {1e3 * distances[at]:.0f} mm from something')

    def _angle(self, pixels: int) -> float:
        return max(pixels - 0.5, 0.0) * self._pixel

    def _detector(self, pixels: int) -> DepthProximity:
        if pixels not in self._detectors:
            settings = evolved(self._settings, outline=self._angle(pixels))
            self._detectors[pixels] = DepthProximity(self._camera, settings)
        return self._detectors[pixels]
