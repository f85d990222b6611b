# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks whether a depth camera sees the robot where kinematics puts it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import nan

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.options import OptionError, option, options
from frame_ros.core.time import SECOND
from frame_ros.robots.shapes.link_shapes import PlacedShapes
from frame_ros.sensing.proximity.cameras.offset import Agreement, Displacement, SeenRobot
from frame_ros.sensing.proximity.cameras.posture_agreement import OfPosture, posture_agreement
from frame_ros.sensing.proximity.cameras.robot_view import RobotView, view_robot
from frame_ros.sensing.proximity.depth.camera import SATURATED, Depth, DepthCamera
from frame_ros.sensing.proximity.depth.options import DepthParameters

Array = NDArray[np.float64]
COLUMNS = 128  # of the grid of pixels that are looked at
FOUND, PLAIN = 0.6, 0.8  # share of the visible points that match: an offset is found, and surely
MEASURED = 0.5  # share of the points that must have a depth: where few have, edges decide
COMPARED = 100  # points whose distance to the surface is measured
SEED = 7
PADDING = DepthParameters().padding  # m


@options
class AlignmentOptions:
    """Criteria of an aligned camera.

    What counts is by how much the robot's surface is seen elsewhere than kinematics puts it: what
    is displaced by more than the padding of the self-filter would be taken for an obstacle.
    """

    tolerance: float = option(
        0.0,
        "displacement of the robot's surface as it is seen from which a camera counts as "
        'misaligned, at most the padding; 0: the padding',
        unit='m',
        at_least=0.0,
        live=True,
    )
    withhold: bool = option(True, 'distances of a misaligned camera are not used', live=True)
    growth: float = option(
        0.02,
        "most by which a camera's padding grows by the displacement that it may have; one that "
        'needs more is refused as misaligned',
        unit='m',
        at_least=0.0,
        live=True,
    )
    cautious_growth: float = option(
        0.02,
        'by which the padding is larger until a check was conclusive',
        unit='m',
        at_least=0.0,
        live=True,
    )
    is_corrected: bool = option(
        True,
        'the estimated offset is taken out of the extrinsics, once `postures` agree on one that is '
        'larger than its own error',
        live=True,
    )
    correctable: float = option(
        0.025,
        "largest displacement of the robot's surface as it is seen that is corrected; a camera "
        'displaced by more is refused as misaligned',
        unit='m',
        at_least=0.0,
        live=True,
    )
    postures: int = option(
        3,
        'images with different poses of the arm that must agree on an offset before it is '
        'corrected, at most `frames`',
        at_least=2,
        live=True,
    )
    least: int = option(
        60,
        'points of the grid that must show the robot, with a depth and not hidden',
        at_least=1,
        live=True,
    )
    hidden: float = option(
        0.8,
        'share of the points with something nearer in front from which the result is unknown',
        above=0.0,
        at_most=1.0,
        live=True,
    )
    confirmations: int = option(
        3, 'images in a row that must contradict a verdict to change it', at_least=1, live=True
    )
    frames: int = option(
        5,
        'images with different poses of the arm that the offset is estimated from',
        at_least=1,
        live=True,
    )
    spacing: float = option(
        0.05,
        'distance that any part of the arm must have moved between two of them',
        unit='m',
        above=0.0,
        live=True,
    )
    age: float = option(
        120.0, 'time after which they are forgotten', unit='s', above=0.0, live=True
    )

    def tolerance_within(self, padding: float) -> float:
        """Returns the tolerance, m, for a padding of the self-filter, m.

        Raises:
            OptionError: it is above the padding.
        """
        if self.tolerance > padding:
            raise OptionError(
                'alignment.tolerance',
                f'is {self.tolerance:g} m; it must be at most the padding of {padding:g} m: the '
                'robot itself, displaced by more than that, is taken for an obstacle',
            )
        return self.tolerance or padding

    def check_postures(self) -> None:
        """Raises OptionError: more postures must agree than images are kept."""
        if self.postures > self.frames:
            raise OptionError(
                'alignment.postures',
                f'is {self.postures}; it must be at most alignment.frames, {self.frames}: no more '
                'images are kept',
            )


@dataclass(frozen=True)
class Alignment:
    """The result for one image; the fields are those of the message CameraAlignment.

    Attributes:
        stamp: ns.
        unavailable: the reason for an unknown result; then is_aligned is False and the rest NaN,
            but contradiction where that is known.
        translation: (3,) m, the camera's true position less the assumed one, in the robot's base
            frame; NaN where the robot is not seen where it should be and was not found nearby
            either.
        rotation: (3,) rad: the true orientation is exp([rotation]x) times the assumed one, so it is
            the rotation vector of the difference in base axes; NaN likewise.
        displacement: m, from where the robot's surface is expected to where it is seen, root mean
            square over the surface seen; NaN likewise.
        bound: m, by which none of the surface seen is displaced by more, with two standard
            deviations.
        uncertainty: m, these two deviations, largest over the surface seen; more where postures
            contradict each other.
        contradiction, apart: of the postures that the offset is estimated from, see
            `PostureAgreement`.
        error: m, median distance of the robot's pixels to its expected surface.
        error_after: the same with the offset removed.
        pixels: of the grid, that were found to be the robot's.
        frames: images that the offset is estimated from.
    """

    stamp: int
    unavailable: str = ''
    is_aligned: bool = False
    translation: Array = field(default_factory=lambda: np.full(3, nan))
    rotation: Array = field(default_factory=lambda: np.full(3, nan))
    displacement: float = nan
    bound: float = nan
    uncertainty: float = nan
    contradiction: float = nan
    apart: float = nan
    error: float = nan
    error_after: float = nan
    pixels: int = 0
    frames: int = 0


@dataclass(frozen=True)
class _Frame:
    """One image and its expected content."""

    stamp: int
    view: RobotView
    image: NDArray[np.float32]
    places: Array  # (S, 3) m, of the shapes, camera's axes
    shown: OfPosture | None = None  # by this image alone; None: not known yet


class CameraAlignment:
    """Compares a camera's images with the robot's shapes, one after another, and remembers.

    The offset is one of the camera in its mount, so it is the same in all images, even of a camera
    on the arm; images with different poses of the arm make more of it certain. The first conclusive
    image decides; then a verdict changes once `confirmations` images in a row contradict it. Not
    thread-safe.
    """

    def __init__(
        self,
        camera: DepthCamera,
        settings: AlignmentOptions | None = None,
        padding: float = PADDING,
    ) -> None:
        """padding: m, of the self-filter.

        Raises:
            OptionError: the tolerance is above the padding, or more postures must agree than images
                are kept.
        """
        self.camera = camera
        self.settings = AlignmentOptions() if settings is None else settings
        self._tolerance = self.settings.tolerance_within(padding)
        self.settings.check_postures()
        self._certain = max(self.settings.growth / 2, self._tolerance)
        self._spacing = max(1, round(camera.width / COLUMNS))
        self.reset()

    def reset(self) -> None:
        """Forgets everything, as after a change of the camera's assumed pose."""
        self._frames: list[_Frame] = []
        self._last: Displacement | None = None
        self._is_aligned: bool | None = None
        self._contradictions = 0

    def update(
        self, stamp: int, depth: Depth, shapes: PlacedShapes, rotation: Array, translation: Array
    ) -> Alignment:
        """Returns the result for an image.

        Args:
            stamp: ns.
            depth: (H, W) uint16 mm or float32 m.
            shapes: of all the robot, in its base frame, at the image's stamp.
            rotation, translation: (3, 3), (3,) m, the assumed pose of the camera's optical frame in
                the base frame.

        Raises:
            DepthError: the image is not of the camera's size.
        """
        image = _metres(self.camera.checked(depth))
        seen = shapes.seen_from(rotation, translation)
        view = view_robot(self.camera, seen, self._spacing)
        frame = _Frame(stamp, view, image, seen.translations)
        if len(view) < self.settings.least:
            return Alignment(
                stamp,
                f'the robot fills {len(view)} points of the image if the camera stands as '
                f'assumed; {self.settings.least} are needed',
            )
        alone = self._robot([frame])
        agreement = alone.agreement(alone.none())
        if agreement.count < max(self.settings.least, MEASURED * alone.count):
            return Alignment(
                stamp,
                f'{agreement.count} points with a depth of {alone.count} where the robot should be '
                'seen',
            )
        return self._compared(frame, alone, agreement, seen, np.asarray(rotation))

    def _robot(self, frames: Sequence[_Frame]) -> SeenRobot:
        images = np.stack([frame.image for frame in frames])
        return SeenRobot(self.camera, [frame.view for frame in frames], images)

    def _compared(
        self, frame: _Frame, alone: SeenRobot, before: Agreement, seen: PlacedShapes,
        rotation: Array,
    ) -> Alignment:  # fmt: skip
        found = self._best(alone)
        after = alone.agreement(found)
        is_found = after.visible_match >= FOUND and after.hidden <= self.settings.hidden
        if not is_found or after.matched * after.count < self.settings.least / 2:
            if before.hidden > self.settings.hidden / 2 or before.transparent < 0.5:
                return Alignment(
                    frame.stamp,
                    f'{before.hidden:.0%} of the robot is hidden, and the rest does not show where '
                    'it is',
                )
            return Alignment(frame.stamp, is_aligned=self._verdict(False))
        frame = replace(frame, shown=OfPosture(found, alone.points))
        pooled = self._pooled(frame, alone, found, after)
        move, turn = pooled.camera_offset()
        displacement = _displacement(alone, pooled)
        older = (each.shown for each in self._frames if each is not frame and each.shown)
        agreed = posture_agreement(pooled, [*older, OfPosture(found, alone.points)])
        lengths, doubts = pooled.bounds(alone.points)
        doubts = agreed.spread * doubts
        uncertainty = float(doubts.max())
        if uncertainty > self._certain:
            return Alignment(
                frame.stamp,
                f'the part of the robot that is seen shows its place to {1000 * uncertainty:.0f} '
                f'mm only; {1000 * self._certain:.0f} mm are needed',
                contradiction=agreed.contradiction,
            )
        result = Alignment(
            frame.stamp, '', self._verdict(displacement <= self._tolerance), rotation @ move,
            rotation @ turn, displacement, float((lengths + doubts).max()), uncertainty,
            agreed.contradiction, agreed.apart, frames=len(self._frames),
        )  # fmt: skip
        return _with_errors(result, alone, pooled, seen.select(np.unique(frame.view.rows)))

    def _best(self, robot: SeenRobot) -> Displacement:
        """Refines the last offset, or none; searches if neither fits."""
        starts = [] if self._last is None else [self._last.about(robot.centre)]
        candidates = []
        for start in (*starts, robot.none()):
            refined = robot.refine(start)
            agreement = robot.agreement(refined)
            if agreement.visible_match >= PLAIN:
                return refined
            candidates.append((agreement.matched, refined))
        searched = robot.refine(robot.search(np.random.default_rng(SEED)))
        candidates.append((robot.agreement(searched).matched, searched))
        return max(candidates, key=lambda each: each[0])[1]

    def _pooled(
        self, frame: _Frame, alone: SeenRobot, found: Displacement, agreement: Agreement
    ) -> Displacement:
        """Returns the offset by all images that agree with the newest one."""
        oldest = frame.stamp - int(self.settings.age * SECOND)
        kept = [each for each in self._frames if oldest <= each.stamp < frame.stamp]
        kept = [each for each in kept if each.places.shape == frame.places.shape]
        is_new = all(
            np.abs(each.places - frame.places).max() > self.settings.spacing for each in kept
        )
        together = found
        if kept:
            robot = self._robot([*kept, frame])
            together = robot.refine(found.about(robot.centre))
            # Images that disagree were taken before the camera was moved.
            alike = alone.agreement(together).visible_match > agreement.visible_match - 0.1
            if not alike or robot.agreement(together).visible_match < FOUND:
                kept, together, is_new = [], found, True
        if is_new:
            kept = [*kept, frame][-self.settings.frames :]
        self._frames, self._last = kept, together
        return together

    def _verdict(self, is_within: bool) -> bool:
        """Returns the verdict after one more image."""
        if self._is_aligned is None:
            self._is_aligned = is_within
        self._contradictions = 0 if is_within == self._is_aligned else self._contradictions + 1
        if self._contradictions >= self.settings.confirmations:
            self._is_aligned, self._contradictions = is_within, 0
        return self._is_aligned


def _with_errors(
    result: Alignment, robot: SeenRobot, found: Displacement, seen: PlacedShapes
) -> Alignment:
    points = robot.matched_points(found)
    few = points[:: max(1, len(points) // COMPARED)]
    before, after = (
        float(np.median(np.abs(seen.shape_distances(place).min(axis=1)))) if len(few) else nan
        for place in (few, found.undo(few))
    )
    return replace(result, error=before, error_after=after, pixels=len(points))


def _metres(depth: Depth) -> NDArray[np.float32]:
    """m; 0 where invalid."""
    if depth.dtype == np.uint16:
        return np.where(depth < SATURATED, depth, 0).astype(np.float32) * np.float32(1e-3)
    metres = depth.astype(np.float32)
    return np.where(np.isfinite(metres) & (metres > 0), metres, np.float32(0))


def _displacement(robot: SeenRobot, found: Displacement) -> float:
    """Returns m, root mean square over the robot's surface points."""
    moved = found.apply(robot.points) - robot.points
    return float(np.sqrt(np.einsum('nk,nk->n', moved, moved).mean()))
