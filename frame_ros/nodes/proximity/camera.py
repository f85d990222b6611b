# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One depth camera of the proximity node: from its topics to the distances that it measures."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import NamedTuple

from rclpy.node import Node
from sensor_msgs.msg import Image

from frame_ros.core.errors import FrameRosError
from frame_ros.core.health import Status
from frame_ros.core.stamps import RateLimit, StampGuard, Verdict
from frame_ros.core.time import stamp_ns
from frame_ros.nodes.proximity.extrinsics import Extrinsics
from frame_ros.nodes.proximity.options import ProximityOptions
from frame_ros.nodes.proximity.topics import DEPTH_IMAGES, DEPTH_INFO
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.publisher_identity import Publishers
from frame_ros.sensing.proximity.alignment_check import Checked, Seen, check
from frame_ros.sensing.proximity.cameras.trusted_padding import TrustedPadding
from frame_ros.sensing.proximity.depth.camera import DepthCamera, decode_depth
from frame_ros.sensing.proximity.depth.cloud import MarkedCloud
from frame_ros.sensing.proximity.depth.detector import DepthProximity
from frame_ros.sensing.proximity.depth.meshes.mesh_filter import mesh_filter
from frame_ros.sensing.proximity.depth.rectified import CameraModels
from frame_ros.sensing.proximity.link_distances import DistanceReading
from frame_ros.sensing.proximity.mount import Mount
from frame_ros.sensing.proximity.obstacles.planning_scene import Pose
from frame_ros.sensing.proximity.robot_at import RobotAt
from frame_ros.sensing.stream_health.image_samples import image_sample
from frame_ros.sensing.stream_health.streams import StreamHealth

IMAGE_DEPTH, INFO_DEPTH = 2, 5  # of the newest image only is made use


class Pending(NamedTuple):
    """An image that waits for the joint states. stamp: ns. arrived: when it came, or the first that
    it took the place of; s of the monotonic clock. lie: why the image is not to be trusted; '': it
    is.
    """

    image: Image
    stamp: int
    arrived: float
    lie: str = ''


class ProximityCamera:
    """Takes the images of one camera and measures.

    name: the camera. pending: the image that waits. newest: stamp and distances of the last one
    measured. seen: what it showed. problem: what was wrong with the last images that were not
    used. last_image: when the newest one came, s of the monotonic clock. skipped: images that a
    newer one replaced before they were measured.
    """

    def __init__(
        self,
        node: Node,
        name: str,
        settings: ProximityOptions,
        extrinsics: Extrinsics,
        health: StreamHealth | None = None,
    ) -> None:
        """health: judges its images; None: nothing does."""
        self._health = health
        self.name, self._settings, self._extrinsics = name, settings, extrinsics
        image_topic, info_topic = settings.topics(name)
        self.images = FittingSubscription(
            node, DEPTH_IMAGES.at(image_topic), depth=IMAGE_DEPTH,
            reliability=settings.image_reliability, is_required=True, is_steady=True,
            is_identified=True,
        )  # fmt: skip
        self._publishers = Publishers(node)
        self._infos = FittingSubscription(
            node, DEPTH_INFO.at(info_topic), depth=INFO_DEPTH, is_required=True, is_steady=True
        )
        self._models = CameraModels(settings.is_rectified(image_topic))
        self._guard = StampGuard()
        self._limit = RateLimit(settings.rate)
        self.change(settings)
        self._camera: DepthCamera | None = None  # it and the mount: what the two below are for
        self._mount: Mount | None = None
        self._trusted: TrustedPadding | None = None
        self._is_checked = False
        self._first_check: Checked | None = None
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
        for image, info in self.images.take(100):
            arrival = info.get('received_timestamp', 0)
            self._compare(image, arrival, info.get('publisher'))
            is_new_clock = self._take(image, arrival) or is_new_clock
        return is_new_clock

    def _compare(self, image: Image, arrival: int, gid: bytes | None) -> None:
        """Compares an image with those of other publishers of its topic."""
        if self._health is not None and arrival and gid:
            publisher = self._publishers.named(self.images.topic_name, gid)
            stamp, frame = stamp_ns(image.header.stamp), image.header.frame_id
            self._health.publishers.image(self.name, publisher, arrival, stamp, frame)

    def _take(self, image: Image, arrival: int) -> bool:
        stamp = stamp_ns(image.header.stamp)
        if self._health is not None and arrival:
            self._health.on_arrival(self.name, stamp, arrival)
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
        lie = self._judge(image, stamp)
        stamp = stamp if self._health is None else self._health.corrected(self.name, stamp)
        if self._settings.rate and not self._limit.is_due(stamp):
            return is_new_clock
        # An image in place of another waits no longer than that one would have: each must not put
        # off the next for ever.
        waits_since = self.pending.arrived if self.pending is not None else self.last_image
        self.skipped += self.pending is not None
        self.pending = Pending(image, stamp, waits_since, lie)
        return is_new_clock

    def _judge(self, image: Image, stamp: int) -> str:
        """Returns why an image is not to be trusted; '' if it is."""
        size = image.height * image.step
        if self._health is None or not size or len(image.data) < size:
            return ''
        sample = image_sample(
            image.data, image.height, image.width, image.step, image.encoding,
            bool(image.is_bigendian),
        )  # fmt: skip
        return self._health.on_image(self.name, stamp, sample).unavailable

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
            unavailable = pending.lie or unavailable
            is_seen = robot is not None and not pending.lie
            reading = self._measure(pending, robot) if is_seen and robot is not None else None
        except FrameRosError as error:
            reading, unavailable = None, str(error)
        self.newest = pending.stamp, self._judged(reading, links, unavailable)
        return self.newest[1]

    def _judged(
        self, reading: DistanceReading | None, links: tuple[str, ...], unavailable: str
    ) -> DistanceReading:
        """Returns a reading as of this camera, without distances if it is not where it is said to
        be. One that has none keeps what it did not see.
        """
        refusal = self._trusted.refusal if self._trusted is not None else ''
        if reading is None:
            return self._missing(links, unavailable)
        if not reading.unavailable and not refusal:
            return replace(reading, sources=(self.name,))
        why, is_blind = reading.unavailable, bool(reading.blind)
        if refusal and not is_blind:
            why, is_blind = refusal, True
        return replace(
            self._missing(links, why, is_blind),
            valid_fraction=reading.valid_fraction,
            occluded_fraction=reading.occluded_fraction,
            unseen=None if is_blind else reading.unseen,
        )

    def _missing(self, links: tuple[str, ...], why: str, is_blind: bool = True) -> DistanceReading:
        why = f'camera {self.name}: {why}'
        return DistanceReading.missing(links, why, (self.name,), is_blind)

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
            return DistanceReading.missing(robot.shapes.links, mount, is_blind=True)
        proximity = self._prepared(model.camera, mount, robot)
        self.seen = Seen(pending.stamp, frame, depth, mount, robot)
        self._check_first(self.seen)
        pose, padding = self._trusted_pose(robot.pose(mount))
        return proximity.measure(
            depth, robot.shapes, *pose, robot.held, padding, surfaces=robot.surfaces
        )

    def _trusted_pose(self, pose: Pose) -> tuple[Pose, float | None]:
        """The pose and the padding to measure with, of the assumed pose."""
        trusted = self._trusted
        return (pose, None) if trusted is None else (trusted.pose(*pose), trusted.padding)

    def _prepared(self, camera: DepthCamera, mount: Mount, robot: RobotAt) -> DepthProximity:
        """The core for this camera, remade if its camera_info, extrinsics or options have
        changed.
        """
        is_moved = mount.is_fixed and not mount.is_as(self._mount)
        self._mount = mount
        if self._proximity is None or camera != self._camera or is_moved:
            self._camera = camera
            depth, alignment = self._settings.depth_options(self.name), self._settings.alignment
            meshes = mesh_filter(camera, robot.surfaces, self._settings.meshes, depth)
            self._proximity = DepthProximity(camera, depth, meshes)
            self._trusted, self._is_checked = None, False
            if alignment.rate:
                self._trusted = TrustedPadding(camera, depth.padding, alignment)
        return self._proximity

    def check_alignment(self) -> Checked | None:
        """Returns where the robot is seen in the image that was measured last; None: that was not
        looked at, as it is not time to.
        """
        found, self._first_check = self._first_check, None
        seen, trusted = self.seen, self._trusted
        if seen is not None and trusted is not None and self._alignment_limit.is_due(seen.stamp):
            found = check(self.name, trusted, seen)
        return found

    def _check_first(self, seen: Seen) -> None:
        """Before any distance that might be false: the first image is looked at here and now."""
        trusted = self._trusted
        if trusted is None or self._is_checked:
            return
        self._is_checked = True
        self._alignment_limit.is_due(seen.stamp)  # the next is due a period after this one
        self._first_check = check(self.name, trusted, seen)

    def statuses(self) -> list[Status]:
        """Returns whether it stands where it is said to, and the padding of its images."""
        return [] if self._trusted is None else [self._trusted.status(self.name)]

    def points(self, count: int) -> MarkedCloud | None:
        """About `count` points of the image measured last, in the base frame, and what each counts
        as.
        """
        seen, proximity = self.seen, self._proximity
        if seen is None or proximity is None:
            return None
        step = max(1, math.ceil(math.sqrt(seen.depth.size / count)))
        pose, padding = self._trusted_pose(seen.robot.pose(seen.mount))
        robot = seen.robot
        return proximity.points(
            seen.depth, robot.shapes, *pose, robot.held, step, padding, surfaces=robot.surfaces
        )
