# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Padding that a camera's images need by what its alignment shows, or the reason to refuse them."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from frame_ros.core.health import Level, Status
from frame_ros.robots.shapes.link_shapes import PlacedShapes
from frame_ros.sensing.proximity.cameras.alignment import (
    Alignment,
    AlignmentOptions,
    CameraAlignment,
)
from frame_ros.sensing.proximity.cameras.correction import AGREED, Correction, Offset
from frame_ros.sensing.proximity.depth.camera import Depth, DepthCamera

Array = NDArray[np.float64]


class TrustedPadding:
    """Padding of a camera's self-filter, from one check of its alignment to the next. Not
    thread-safe.

    Until a check is conclusive the padding is the cautious one. Then it is the declared padding and
    what the robot's surface may be displaced by, the largest of the last checks; a camera that is
    misaligned, or would need more than the declared growth, is refused. Of one whose offset is
    taken out (see `Correction`) the padding grows by the error that is left, and it is not refused.

    Attributes:
        camera: its pinhole model.
        newest: result of the last check; None: there was none.
        refusal: why the camera's distances are not to be used; '': they are.
        padding: m, of its images now.
        correction: what is taken out of its pose.
    """

    def __init__(
        self,
        camera: DepthCamera,
        padding: float,
        settings: AlignmentOptions | None = None,
    ) -> None:
        """padding: m, of a camera that stands where it is said to.

        Raises:
            OptionError: the tolerance is above the padding.
        """
        self.settings = AlignmentOptions() if settings is None else settings
        self.camera = camera
        self._checker = CameraAlignment(camera, self.settings, padding)
        self._least, self._tolerance = padding, self.settings.tolerance_within(padding)
        self.reset()

    def reset(self) -> None:
        """Forgets everything, as after a change of the camera's assumed pose."""
        self._checker.reset()
        self._bounds: deque[float] = deque(maxlen=self.settings.confirmations)
        self._offset = Offset(np.eye(3), np.zeros(3))  # by the last check
        self.correction = Correction(self.settings)
        self._conclusive = Alignment(0)
        self.newest: Alignment | None = None
        self.refusal = ''
        self.padding = self._least + self.settings.cautious_growth

    def check(
        self, stamp: int, depth: Depth, shapes: PlacedShapes, rotation: Array, translation: Array
    ) -> Alignment:
        """Takes an image, as `CameraAlignment.update`, and returns the result of its check:
        aligned only if the camera is not refused.

        Raises:
            DepthError: the image is not of the camera's size.
        """
        found = self._checker.update(stamp, depth, shapes, rotation, translation)
        if not found.unavailable:
            places = (shapes.translations - translation) @ rotation
            found = self._judged(found, rotation, places)
        elif found.contradiction > AGREED and self.correction.offset is not None:
            # Nothing is known but that the postures do not bear out what is taken out.
            self.correction.end()
            self._apply()
        self.newest = found
        return found

    def pose(self, rotation: Array, translation: Array) -> tuple[Array, Array]:
        """Returns the pose to measure with, for the assumed one of the optical frame, (3, 3), (3,)
        m: the same unless an offset is taken out.
        """
        offset = self.correction.offset
        return (rotation, translation) if offset is None else offset.pose(rotation, translation)

    def found_pose(self, rotation: Array, translation: Array) -> tuple[Array, Array]:
        """Returns the true pose, as it was estimated last, for the assumed one of the optical
        frame; the same before that.
        """
        return self._offset.pose(rotation, translation)

    def _judged(self, found: Alignment, rotation: Array, places: Array) -> Alignment:
        """Returns the result of a check, aligned only if the camera is not refused. places: (S, 3)
        m, of the robot's shapes in the assumed optical frame.
        """
        is_known = bool(np.isfinite(found.translation).all())
        if is_known:
            turn = Rotation.from_rotvec(rotation.T @ found.rotation).as_matrix()
            self._offset = Offset(turn, rotation.T @ found.translation)
        self._bounds.append(found.bound if is_known else math.inf)
        self.correction.take(found, self._offset if is_known else None, places)
        self._conclusive = found
        return replace(found, is_aligned=self._apply())

    def _apply(self) -> bool:
        """Sets padding and refusal by the last conclusive check; returns whether the camera is
        where it is said to be, or corrected.
        """
        found, most = self._conclusive, self.settings.growth
        is_corrected = self.correction.offset is not None
        is_small = min(self._bounds) <= most
        is_trusted = is_corrected or (found.is_aligned and is_small)
        is_refused = self.settings.withhold and not is_trusted
        self.refusal = self._reason(found, is_small) if is_refused else ''
        needs = self.correction.needs if is_corrected else self._bounds
        self.padding = self._least + min(max(needs), most)
        return is_trusted

    def _reason(self, found: Alignment, is_small: bool) -> str:
        if not found.is_aligned and found.displacement <= self._tolerance:
            return (
                f'misaligned until {self.settings.confirmations} checks in a row show the robot '
                f'where it is; the last one shows it {_mm(found.displacement)} from there'
            )
        text = misalignment(found)
        if found.is_aligned and not is_small:
            most = self._least + self.settings.growth
            needed = self._least + found.bound
            text += f' (the padding would be {_mm(needed)}, more than {_mm(most)})'
        return text

    def status(self, name: str) -> Status:
        """Returns how the camera of this name is, for diagnostics."""
        found = self.newest
        values = {'padding, m': f'{self.padding:.4f}'}
        if found is not None and np.isfinite(found.bound):
            values |= {
                'displacement, m': f'{found.displacement:.4f}',
                'bound of displacement, m': f'{found.bound:.4f}',
            }
        if self.refusal:
            return Status(f'camera {name}', Level.WARN, self.refusal, values)
        if not self._bounds:
            why = found.unavailable if found is not None else 'no image has come'
            text = f'not checked: {why or "unknown"}; padding {_mm(self.padding)} until it is'
            return Status(f'camera {name}', Level.WARN, text, values)
        grown = self.padding - self._least
        text = f'padding {_mm(self.padding)}, of that {_mm(grown)} for its pose'
        source = self.correction.source
        if source is not None:
            text += f'; {_offset(source)} taken out: its extrinsics are wrong by that'
        return Status(f'camera {name}', Level.OK, text, values)


def misalignment(alignment: Alignment) -> str:
    """In words, by how much a camera is elsewhere than its extrinsics say."""
    if not np.isfinite(alignment.translation).all():
        return (
            'misaligned: the robot is not seen where it is, nor nearby, so its distances would be '
            'false'
        )
    return (
        f'misaligned by {_offset(alignment)}: the robot is seen '
        f'{_mm(alignment.displacement)} from where it is, so its distances would be false'
    )


def _offset(alignment: Alignment) -> str:
    """In words, in the base frame."""
    shift = ', '.join(f'{1000 * value:+.0f}' for value in alignment.translation)
    turn = ', '.join(f'{math.degrees(value):+.1f}' for value in alignment.rotation)
    return f'({shift}) mm and ({turn}) degrees'


def _mm(length: float) -> str:
    return f'{1000 * length:.0f} mm'
