# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One depth camera of the proximity node: from its topics to the distances that it measures."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from rclpy.node import Node
from sensor_msgs.msg import Image

from frame_ros.core.errors import FrameRosError
from frame_ros.core.stamps import RateLimit, StampGuard, Verdict
from frame_ros.core.time import stamp_ns
from frame_ros.nodes.proximity.extrinsics import Extrinsics
from frame_ros.nodes.proximity.options import ProximityOptions
from frame_ros.nodes.proximity.topics import DEPTH_IMAGES, DEPTH_INFO
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.sensing.proximity.alignment_check import Checked, Seen, check
from frame_ros.sensing.proximity.cameras.alignment import CameraAlignment
from frame_ros.sensing.proximity.depth.camera import DepthCamera, decode_depth
from frame_ros.sensing.proximity.depth.cloud import MarkedCloud
from frame_ros.sensing.proximity.depth.detector import DepthProximity
from frame_ros.sensing.proximity.depth.rectified import CameraModels
from frame_ros.sensing.proximity.link_distances import DistanceReading
from frame_ros.sensing.proximity.mount import Mount
from frame_ros.sensing.proximity.robot_at import RobotAt

IMAGE_DEPTH, INFO_DEPTH = 2, 5  # of the newest image only is made use


class Pending(NamedTuple):
    """An image that waits for the joint states. stamp: ns. arrived: when it came, or the first that
    it took the place of; s of the monotonic clock.
    """

    image: Image
    stamp: int
    arrived: float


class ProximityCamera:
    """Takes the images of one camera and measures.

    name: the camera. pending: the image that waits. newest: stamp and distances of the last one
    measured. seen: what it showed. problem: what was wrong with the last images that were not
    used. last_image: when the newest one came, s of the monotonic clock. skipped: images that a
    newer one replaced before they were measured.
    """

    def __init__(
        self, node: Node, name: str, settings: ProximityOptions, extrinsics: Extrinsics
    ) -> None:
        self.name, self._settings, self._extrinsics = name, settings, extrinsics
        image_topic, info_topic = settings.topics(name)
        self.images = FittingSubscription(
            node, DEPTH_IMAGES.at(image_topic), depth=IMAGE_DEPTH,
            reliability=settings.image_reliability, is_required=True, is_steady=True,
        )  # fmt: skip
        self._infos = FittingSubscription(
            node, DEPTH_INFO.at(info_topic), depth=INFO_DEPTH, is_required=True, is_steady=True
        )
        self._models = CameraModels(settings.is_rectified(image_topic))
        self._guard = StampGuard()
        self._limit = RateLimit(settings.rate)
        self.change(settings)
        self._camera: DepthCamera | None = None  # it and the mount: what the two below are for
        self._mount: Mount | None = None
        self._checker: CameraAlignment | None = None
        self._is_checked = False
        self._first_check: Checked | None = None
        self._is_misaligned = ''  # by how much, in words
        self.pending: Pending | None = None
        self.newest: tuple[int, DistanceReading] | None = None
        self.seen: Seen | None = None
        self.problem = ''
        self.last_image = -math.inf
        self.skipped = 0

    def change(self, settings: ProximityOptions) -> None:
        """Takes other values of the options that are live, from the next image on."""
        self._settings = settings
        self._alignment_limit = RateLimit(settings.alignment.rate)
        self._proximity: DepthProximity | None = None

    def poll(self) -> bool:
        """Takes what has arrived; returns whether the images' clock was reset."""
        for info, _ in self._infos.take(100):
            self._models.take(info)
        is_new_clock = False
        for image, _ in self.images.take(100):
            is_new_clock = self._take(image) or is_new_clock
        return is_new_clock

    def _take(self, image: Image) -> bool:
        stamp = stamp_ns(image.header.stamp)
        verdict = self._guard.check(stamp)
        if verdict is Verdict.DROP:
            self.problem = (
                'its images have stamps that do not increase'
                if stamp > 0
                else 'its images have no header.stamp, the time at which they were taken'
            )
            return False
        is_new_clock = verdict is Verdict.RESET
        if is_new_clock:
            self._limit.reset()
            self._alignment_limit.reset()
            self.newest = None
        self.last_image, self.problem = time.monotonic(), ''
        if self._settings.rate and not self._limit.is_due(stamp):
            return is_new_clock
        # An image in place of another waits no longer than that one would have: each must not put
        # off the next for ever.
        waits_since = self.pending.arrived if self.pending is not None else self.last_image
        self.skipped += self.pending is not None
        self.pending = Pending(image, stamp, waits_since)
        return is_new_clock

    @property
    def lacks_info(self) -> bool:
        """True if no camera_info has come yet."""
        return self._models.is_empty

    def silence(self, now: float) -> str:
        """Returns why no image is used, in words; now: s of the monotonic clock."""
        why = self.problem or self.images.silence()
        since = now - self.last_image
        silence = f'no image for {since:.1f} s' if math.isfinite(since) else 'no image has come'
        return f'camera {self.name}: {silence}' + (f': {why}' if why else '')

    def measure(
        self, pending: Pending, robot: RobotAt | None, links: tuple[str, ...], unavailable: str
    ) -> DistanceReading:
        """The distances that an image shows.

        robot: at the image's stamp; None: not known, for the reason `unavailable`.
        """
        self.seen = None
        try:
            reading = self._measure(pending, robot) if robot is not None else None
        except FrameRosError as error:
            reading, unavailable = None, str(error)
        if reading is None or reading.unavailable:
            why = unavailable if reading is None else reading.unavailable
            fractions = (
                (math.nan, math.nan)
                if reading is None
                else (reading.valid_fraction, reading.occluded_fraction)
            )
            reading = self._missing(links, why, fractions)
        elif self._is_misaligned:
            fractions = (reading.valid_fraction, reading.occluded_fraction)
            reading = self._missing(links, self._is_misaligned, fractions)
        else:
            reading = replace(reading, sources=(self.name,))
        self.newest = pending.stamp, reading
        return reading

    def _missing(
        self, links: tuple[str, ...], why: str, fractions: tuple[float, float]
    ) -> DistanceReading:
        missing = DistanceReading.missing(links, f'camera {self.name}: {why}', (self.name,))
        return replace(missing, valid_fraction=fractions[0], occluded_fraction=fractions[1])

    def _measure(self, pending: Pending, robot: RobotAt) -> DistanceReading:
        image = pending.image
        model = self._models.of_image(image.width, image.height, image.header.frame_id)
        depth = decode_depth(
            image.data, image.encoding, image.height, image.width, image.step,
            bool(image.is_bigendian),
        )  # fmt: skip
        depth = model.undistorted(depth)
        frame = image.header.frame_id
        mount = self._extrinsics.mount(self.name, frame, pending.stamp)
        if isinstance(mount, str):
            return DistanceReading.missing(robot.shapes.links, mount)
        proximity = self._prepared(model.camera, mount)
        self.seen = Seen(pending.stamp, frame, depth, mount, robot)
        self._check_first(self.seen)
        return proximity.measure(depth, robot.shapes, *robot.pose(mount), robot.held)

    def _prepared(self, camera: DepthCamera, mount: Mount) -> DepthProximity:
        """The core for this camera, remade if its camera_info, extrinsics or options have
        changed.
        """
        is_moved = mount.is_fixed and not mount.is_as(self._mount)
        self._mount = mount
        if self._proximity is None or camera != self._camera or is_moved:
            self._camera = camera
            self._proximity = DepthProximity(camera, self._settings.depth_options(self.name))
            self._checker, self._is_checked = None, False
            self._is_misaligned = ''
            if self._settings.alignment.rate:
                self._checker = CameraAlignment(camera, self._settings.alignment)
        return self._proximity

    def check_alignment(self) -> Checked | None:
        """Returns where the robot is seen in the image that was measured last; None: that was not
        looked at, as it is not time to.
        """
        found, self._first_check = self._first_check, None
        seen, checker = self.seen, self._checker
        if seen is not None and checker is not None and self._alignment_limit.is_due(seen.stamp):
            found = check(self.name, checker, seen)
            self._take_verdict(found)
        return found

    def _take_verdict(self, found: Checked) -> None:
        """Takes the result of a check: whether distances are given from now on."""
        alignment = found.alignment
        if found.checker is self._checker and not alignment.unavailable:
            is_withheld = not alignment.is_aligned and self._settings.alignment.withhold
            self._is_misaligned = misalignment(alignment) if is_withheld else ''

    def _check_first(self, seen: Seen) -> None:
        """Before any distance that might be false: the first image is looked at here and now."""
        checker = self._checker
        if checker is None or self._is_checked:
            return
        self._is_checked = True
        self._alignment_limit.is_due(seen.stamp)  # the next is due a period after this one
        self._first_check = check(self.name, checker, seen)
        self._take_verdict(self._first_check)

    def points(self, count: int) -> MarkedCloud | None:
        """About `count` points of the image measured last, in the base frame, and what each counts
        as.
        """
        seen, proximity = self.seen, self._proximity
        if seen is None or proximity is None:
            return None
        step = max(1, math.ceil(math.sqrt(seen.depth.size / count)))
        pose = seen.robot.pose(seen.mount)
        return proximity.points(seen.depth, seen.robot.shapes, *pose, seen.robot.held, step)


def misalignment(alignment: Any) -> str:
    """In words, by how much a camera is elsewhere than its extrinsics say."""
    if not np.isfinite(alignment.translation).all():
        return (
            'misaligned: the robot is not seen where it is, nor nearby, so its distances would be '
            'false'
        )
    shift = ', '.join(f'{1000 * value:+.0f}' for value in alignment.translation)
    turn = ', '.join(f'{math.degrees(value):+.1f}' for value in alignment.rotation)
    return (
        f'misaligned by ({shift}) mm and ({turn}) degrees: the robot is seen '
        f'{1000 * alignment.error:.0f} mm from where it is, so its distances would be false'
    )
