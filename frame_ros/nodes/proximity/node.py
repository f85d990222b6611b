# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The proximity node: how near the robot's links are to anything that is neither the robot nor held
by it, by depth cameras and by what is known of its surroundings.

It monitors; it is no certified safety function.
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import replace

import cv2
from rclpy.node import Node

from frame_ros.core.health import Status
from frame_ros.core.repeated_warnings import RepeatedWarnings
from frame_ros.core.stamps import RateLimit
from frame_ros.core.thread_priority import raise_priority
from frame_ros.core.time import SECOND
from frame_ros.nodes.proximity import topics
from frame_ros.nodes.proximity.camera import Pending, ProximityCamera
from frame_ros.nodes.proximity.extrinsics import Extrinsics, SceneMounts, TransformListener
from frame_ros.nodes.proximity.fusion import fused, source_of
from frame_ros.nodes.proximity.messages import alignment_message, cloud_message, proximity_message
from frame_ros.nodes.proximity.obstacles import KnownObstacleSource
from frame_ros.nodes.proximity.options import ProximityOptions
from frame_ros.nodes.proximity.topics import JOINT_STATES
from frame_ros.nodes.runtime.endpoints import published
from frame_ros.nodes.runtime.grasp_input import GraspInput
from frame_ros.nodes.runtime.joint_states import JointStateInput
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.parameters import declare_options
from frame_ros.nodes.runtime.publisher_identity import Publishers
from frame_ros.nodes.runtime.spinning import poll_with_services, run_node
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.robots.robot import Robot
from frame_ros.sensing.proximity.depth.detector import NOTHING_NEAR, compile_loops
from frame_ros.sensing.proximity.joint_history import JointHistory, JointsAt
from frame_ros.sensing.proximity.link_distances import DistanceReading
from frame_ros.sensing.proximity.mount import Mount
from frame_ros.sensing.proximity.obstacles.known import SOURCE
from frame_ros.sensing.proximity.obstacles.planning_scene import Pose
from frame_ros.sensing.proximity.robot_at import RobotAt
from frame_ros.sensing.stream_health.streams import StreamHealth

JOINT_DEPTH = 500
HISTORY = 2.0  # s of joint states that are kept
POLL_PERIOD = 0.002  # s
IMAGE_WAIT = 0.005  # s; joint states and transforms are taken as often
CLOCK_STEP = SECOND  # ns; a stamp that lies further back is of another clock
SLOW_COMPILATION = 1.0  # s, above which it is logged


class ProximityNode(Node):
    """Subscribes joint_states, grasp and, of every camera, depth/image_raw and depth/camera_info;
    tf and tf_static where tf2_msgs is installed, and the planning scene where asked to.

    Publishes proximity at every image, camera_alignment slowly, and proximity/points while somebody
    listens to it.
    """

    def __init__(self) -> None:
        """Raises FrameRosError for a robot, a file or a parameter that cannot be used."""
        super().__init__('proximity')
        self.settings = settings = declare_options(
            self, ProximityOptions, self._change, ProximityOptions.check
        )
        settings.check()
        robot = settings.load_robot()
        self._base = robot.base_link
        names = settings.frames
        self._base_frame = names.of(self._base)
        self._robot = settings.watched(robot)
        self._log_meshes(robot.name)
        self._joints = JointHistory(
            self._robot.frames.joint_names, settings.assumed, HISTORY,
            settings.joint_age, settings.joint_gap, robot.continuous,
        )  # fmt: skip
        self._tf = TransformListener(
            self, robot.links, robot.base_link, names, settings.transform_age
        )
        self._problem = ''
        self._health = _health_of(settings, robot)
        self._readiness = Readiness(
            self,
            robot.name,
            lambda: self._problem,
            self._statuses,
        )
        self._cameras: list[ProximityCamera] = []
        if settings.cameras:
            self._compile()
        topic = settings.scene_topic
        self._scene = SceneMounts(self, topic, robot.links) if topic else None
        extrinsics = Extrinsics(settings.mounts(robot), self._tf, self._scene)
        self._cameras = [
            ProximityCamera(self, name, settings, extrinsics, self._health)
            for name in settings.cameras
        ]
        self._model = (
            KnownObstacleSource(self, settings, (self._base, self._base_frame), self._place)
            if settings.has_model
            else None
        )
        self._model_limit = RateLimit(settings.obstacles.rate)
        self._cloud_limit = RateLimit(settings.cloud.rate)
        self._subscribe_joints()
        self._grasp = GraspInput(self)
        self._publisher = self.create_publisher(*published(topics.PROXIMITY))
        self._alignment = self.create_publisher(*published(topics.ALIGNMENT))
        self._cloud = self.create_publisher(*published(topics.POINTS))
        self._last_stamp = 0  # of what was published of images or joint states, ns
        self._last_time = time.monotonic()  # when anything was published
        self._warnings = RepeatedWarnings(self.get_logger())
        self.counts = {'published': 0, 'unavailable': 0}
        self._problem = 'it has published no distance yet'  # until the first one
        self.get_logger().info(
            f'{robot.name}: {len(self._robot.links)} links; cameras: '
            f'{", ".join(settings.cameras) or "none"}; this monitors, it is no certified '
            'safety function'
        )

    def _log_meshes(self, robot: str) -> None:
        if self._robot.surfaces is None:
            return
        found, logger = self._robot.surfaces.surfaces, self.get_logger()
        logger.info(
            f'meshes of {len(found.links)} links of {robot}: {found.triangle_count} triangles, '
            f'within {1000 * found.residual:.2f} mm of those of the files'
        )
        if found.unplaced:
            logger.warning(
                f'meshes left out, as no link of {robot} carries them: {", ".join(found.unplaced)}'
            )

    def _compile(self) -> None:
        logger = self.get_logger()
        self._problem = 'it loads its loops over depth images; the first start compiles them'
        self._readiness.publish()
        logger.info(self._problem)
        took = compile_loops()
        if took > SLOW_COMPILATION:
            logger.info(f'the loops over depth images took {took:.1f} s')

    def _statuses(self) -> list[Status]:
        """Of the streams and the cameras, for diagnostics."""
        streams = self._health.statuses() if self._health is not None else []
        return [*streams, *(each for camera in self._cameras for each in camera.statuses())]

    def _change(self, options: ProximityOptions) -> None:
        before, self.settings = self.settings, options
        self._cloud_limit = RateLimit(options.cloud.rate)
        self._model_limit = RateLimit(options.obstacles.rate)
        if (before.depth, before.alignment, before.meshes) != (
            options.depth, options.alignment, options.meshes,
        ):  # fmt: skip
            for camera in self._cameras:
                camera.change(options)

    def _subscribe_joints(self) -> None:
        gripper = self.settings.gripper_topic
        self._senders = Publishers(self)
        self._joint_inputs = [
            JointStateInput(self, topic, depth=JOINT_DEPTH, is_identified=True)
            for topic in (JOINT_STATES, *([topics.GRIPPER_STATES.at(gripper)] if gripper else ()))
        ]

    # What arrives.

    def poll(self) -> None:
        """Takes all that has arrived, and publishes what can be measured."""
        self._take_joints()
        self._grasp.poll()
        self._tf.poll()
        if self._scene is not None:
            self._scene.poll()
        if self._model is not None:
            self._model.poll()
        self._measure_images()
        if self._model is not None and self._is_model_alone():
            self._measure_model()

    def _take_joints(self) -> None:
        for subscription in self._joint_inputs:
            is_first = subscription is self._joint_inputs[0]
            for state, info in subscription.take(500):
                arrival = info.get('received_timestamp', 0)
                if is_first and self._health is not None and arrival:
                    self._health.on_arrival(JOINT_STATES.name, state.stamp, arrival)
                self._compare(subscription.topic_name, state, arrival, info.get('publisher'))
                if self._is_true(subscription.topic_name, state):
                    self._joints.add(state.stamp, state.names, state.positions)

    def _compare(self, topic: str, state: FullJointState, arrival: int, gid: bytes | None) -> None:
        """Compares a joint state with those of other publishers of its topic."""
        if self._health is not None and arrival and gid:
            publisher = self._senders.named(topic, gid)
            self._health.publishers.joints(
                topic, publisher, arrival, state.stamp, state.names, state.positions
            )

    def _is_true(self, topic: str, state: FullJointState) -> bool:
        """Returns whether a joint state says something new: the images wait for others."""
        lengths = {len(state.velocities), len(state.efforts), len(state.names)}
        is_sound = len(state.positions) == len(state.names) and lengths <= {0, len(state.names)}
        if self._health is None or not is_sound:
            return True
        found, _ = self._health.on_joints(
            state.stamp, state.names, state.positions, state.velocities, state.efforts, topic
        )
        if found.unavailable:
            self._joints.problem = f'{topic} {found.unavailable}'
        return not (found.unavailable or found.is_repeat)

    def _measure_images(self) -> None:
        """Of every camera at most one. What came while another's was measured goes into the same
        message: cameras that are triggered together have one stamp.
        """
        measured: dict[ProximityCamera, tuple[int, RobotAt | None]] = {}
        turns = 1 if len(self._cameras) == 1 else 2
        for camera in self._cameras * turns:
            if camera in measured:
                continue
            self._take_images(camera)
            pending = camera.pending
            joints = self._joints.at(pending.stamp) if pending is not None else None
            if pending is None or joints is None or self._is_early(camera, pending, joints):
                continue
            camera.pending = None
            robot = self._robot_at(pending.stamp, joints)
            camera.measure(pending, robot, self._robot.links, joints.unavailable)
            measured[camera] = pending.stamp, robot
        if measured:
            self._publish_fused(max(measured.values(), key=lambda each: each[0])[1])
        for camera in measured:
            self._do_slow_work(camera)

    def _robot_at(self, stamp: int, joints: JointsAt) -> RobotAt | None:
        if joints.positions is None:
            return None
        return self._robot.at(joints.positions, self._grasp.history.at(stamp))

    def _take_images(self, camera: ProximityCamera) -> None:
        if camera.poll():  # its clock was reset: other images are of the old one
            self._last_stamp = 0
            for each in self._cameras:
                each.newest = None

    def _is_early(self, camera: ProximityCamera, pending: Pending, joints: JointsAt) -> bool:
        """Returns whether more is still waited for: the joints at the image's stamp, or the
        camera_info.
        """
        is_incomplete = joints.is_waiting or camera.lacks_info
        return is_incomplete and time.monotonic() - pending.arrived < self.settings.joint_wait

    def _publish_fused(self, robot: RobotAt | None) -> None:
        newest = {camera.name: camera.newest for camera in self._cameras}
        stamp = self._stamp_of_cameras()
        if stamp is None or not self._is_next(stamp):
            return  # a camera that lags behind: its reading counts with the next image
        model = None
        if self._model is not None and robot is not None:
            model = self._model.measure(robot)
        settings = self.settings
        reading = fused(
            self._robot.links, newest, stamp, settings.camera_age, settings.needs_all_cameras,
            model,
        )  # fmt: skip
        self._publish(stamp, reading)
        for _, each in filter(None, newest.values()):
            self._warn(each.sources[0], each.unavailable)
        if model is not None:
            self._warn('model', model.unavailable)

    def _warn(self, kind: str, why: str) -> None:
        """Logs why a distance is unavailable; that nothing is near is no fault."""
        is_fault = not why.endswith(NOTHING_NEAR)
        (self._warnings.warn_once_started if is_fault else self._warnings.inform)(kind, why)

    def _stamp_of_cameras(self) -> int | None:
        """ns, of the newest reading. One that is unavailable must not give those of the others a
        stamp that is not theirs, nor, where its camera's clock is wrong, make them old.
        """
        since = time.monotonic() - self.settings.camera_age
        every, measured = [], []
        for camera in self._cameras:
            if camera.newest is None:
                continue
            stamp, reading = camera.newest
            every.append(stamp)
            if not reading.unavailable and camera.last_image >= since:
                measured.append(stamp)
        is_each_needed = self.settings.needs_all_cameras or not measured
        return max(every if is_each_needed else measured, default=None)

    def _is_next(self, stamp: int) -> bool:
        """Returns whether to publish at this stamp: stamps go up, unless the clock is another
        one.
        """
        if 0 <= self._last_stamp - stamp <= CLOCK_STEP:
            return False
        self._last_stamp = stamp
        return True

    def _publish(self, stamp: int, reading: DistanceReading) -> None:
        message = proximity_message(stamp, self._base_frame, source_of(reading), reading)
        self._publisher.publish(message)
        self._last_time = time.monotonic()
        self.counts['published'] += 1
        self.counts['unavailable'] += bool(reading.unavailable)
        if self._problem:
            self._problem = reading.unavailable

    # What is known without a camera.

    def _is_model_alone(self) -> bool:
        """Returns whether no camera sets the pace."""
        since = time.monotonic() - self.settings.silence
        return all(camera.last_image < since for camera in self._cameras)

    def _measure_model(self) -> None:
        newest = self._joints.newest
        if newest is None or (self._cameras and self.settings.needs_all_cameras):
            return
        stamp = newest[0]
        if self._last_stamp - stamp > CLOCK_STEP:
            self._model_limit.reset()
        if not self._model_limit.is_due(stamp) or not self._is_next(stamp):
            return
        assert self._model is not None
        joints = self._joints.at(stamp)
        robot = self._robot_at(stamp, joints)
        if robot is None:
            why = f'{SOURCE}: {joints.unavailable}'
            reading = DistanceReading.missing(self._robot.links, why, (SOURCE,))
        else:
            reading = self._model.measure(robot)
        silences = {each.name: each.silence(time.monotonic()) for each in self._cameras}
        self._publish(stamp, replace(reading, blind='; '.join(silences.values())))
        self._warn('model', reading.unavailable)
        for name, silence in silences.items():
            self._warn(name, silence)

    def _place(self, frame: str) -> Pose | str:
        """The pose of a frame in the base frame, with the newest joint state; or why it is not
        known.
        """
        frame = frame.lstrip('/') or self._base_frame
        newest = self._joints.newest
        mount = self._mount(frame, newest[0] if newest else 0)
        if isinstance(mount, str):
            return mount
        if mount.link == self._base:
            return mount.rotation, mount.translation
        if newest is None:
            return f'{self._joints.problem or "no joint state has come"}; it is in {frame!r}'
        return self._robot.at(newest[1]).pose(mount)

    def _mount(self, frame: str, stamp: int) -> Mount | str:
        found = self._tf.mount(frame, stamp)
        return f'its frame {frame!r} is not known: {found}' if isinstance(found, str) else found

    # What can wait until the distances are out.

    def _do_slow_work(self, camera: ProximityCamera) -> None:
        found = camera.check_alignment()
        if found is not None:
            message = alignment_message(found.camera, found.frame, found.alignment)
            self._alignment.publish(message)
        seen = camera.seen
        if seen is None:
            return
        is_wanted = self.settings.cloud.rate and self._cloud.get_subscription_count()
        if is_wanted and self._cloud_limit.is_due(seen.stamp):
            cloud = camera.points(self.settings.cloud.points)
            if cloud is not None:
                self._cloud.publish(cloud_message(seen.stamp, self._base_frame, cloud))

    def look(self) -> None:
        """Publishes the reason of a silence, and looks for changes of frames, now and then."""
        if self._model is not None:
            self._model.look()
        now = time.monotonic()
        if now - self._last_time > self.settings.silence:
            self._publish_silence(now)

    def _publish_silence(self, now: float) -> None:
        reasons = [camera.silence(now) for camera in self._cameras]
        sources = [camera.name for camera in self._cameras]
        if self._model is not None and not (self._cameras and self.settings.needs_all_cameras):
            why = 'no joint state has come' if self._joints.newest is None else (
                'no new joint state has come'
            )  # fmt: skip
            reasons.append(self._joints.problem or why)
            sources.append(SOURCE)
        why = '; '.join(reasons)
        self._warn('silence', why)
        reading = DistanceReading.missing(self._robot.links, why, sources)
        self._publish(self.get_clock().now().nanoseconds, reading)

    # The loop.

    def wait(self, stop: threading.Event) -> None:
        """Until something may have arrived."""
        if any(camera.pending is not None for camera in self._cameras):
            self._joint_inputs[0].wait(POLL_PERIOD)
        elif len(self._cameras) == 1:
            self._cameras[0].images.wait(IMAGE_WAIT)
        else:
            stop.wait(POLL_PERIOD)

    def spin(self, stop: threading.Event) -> None:
        """Polls until `stop`; an executor serves the parameters now and then."""
        cv2.setNumThreads(1)  # threads of its own would wait for a core longer than they save
        raise_priority(self.settings.realtime_priority)
        poll_with_services(self, stop, self.poll, lambda: self.wait(stop), self.look)

    def destroy_node(self) -> None:
        """Logs the counts, then closes."""
        skipped = ', '.join(f'{camera.name} {camera.skipped}' for camera in self._cameras)
        counts = self.counts
        self.get_logger().info(
            f'distances {counts["published"]}, of them unavailable {counts["unavailable"]}; '
            f'images not measured: {skipped or "none"}; '
            f'joint states dropped {self._joints.dropped}'
        )
        super().destroy_node()


def _health_of(settings: ProximityOptions, robot: Robot) -> StreamHealth | None:
    return StreamHealth(settings.streams, robot) if settings.streams.is_checked else None


def main() -> None:
    """Runs the node until it is stopped."""
    sys.exit(run_node(ProximityNode, spin=lambda node, stop: node.spin(stop)))
