# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The proximity node in this process, and depth pictures drawn ray by ray, for its tests."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np
from patience import PATIENCE
from rclpy.qos import QoSProfile
from scipy.spatial.transform import Rotation
from sensor_msgs.msg import CameraInfo, Image, JointState

from frame_ros.core.time import SECOND
from frame_ros.msg import CameraAlignment, Proximity
from frame_ros.nodes.runtime.message_parts import time_message
from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.link_shapes import link_shapes
from frame_ros.sensing.proximity.obstacles.known import KnownObstacles

START = 1_700_000_000 * SECOND
ROBOT = load_robot('so101')
JOINTS = tuple(ROBOT.joint_limits)
FRAMES, SHAPES = LinkFrames(ROBOT), link_shapes(ROBOT, exclude=(ROBOT.base_link,))
POSE = np.array([0.2, -0.6, 0.5, 0.6, 0.1, 0.9])  # rad
WIDTH, HEIGHT, FOCAL = 160, 120, 150.0
STEPS, NEAR_ENOUGH = 40, 2e-4  # of the ray marching; m


def looking(eye, target) -> tuple[np.ndarray, np.ndarray]:
    """Pose of an optical frame at `eye` whose z axis points to `target`; x to the right."""
    forward = np.subtract(target, eye) / np.linalg.norm(np.subtract(target, eye))
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    return np.column_stack((right, np.cross(forward, right), forward)), np.array(eye, float)


def extrinsics_text(link, rotation, translation) -> str:
    """As the parameter extrinsics has it."""
    quaternion = Rotation.from_matrix(rotation).as_quat()
    return ' '.join([link, *(f'{value:.9f}' for value in (*translation, *quaternion))])


TRIPOD = looking((0.75, -0.5, 0.5), (0.2, 0.0, 0.12))
SIDE = looking((0.35, 0.8, 0.45), (0.2, 0.0, 0.12))


@dataclass(frozen=True)
class Box:
    """An obstacle that stands straight: its middle and its edges, m."""

    middle: tuple[float, float, float] = (0.42, 0.02, 0.05)
    size: tuple[float, float, float] = (0.05, 0.05, 0.1)


BOX = Box()


def placed(positions=POSE):
    """The robot's shapes in the base frame."""
    return SHAPES.place(*FRAMES.compute(positions))


def true_distances(boxes=(BOX,), positions=POSE) -> dict[str, float]:
    """Link -> least distance to the boxes, m."""
    known = KnownObstacles()
    for index, each in enumerate(boxes):
        known.set_shape(f'box {index}', 'box', each.size, translation=each.middle)
    reading = known.distances(placed(positions))
    return dict(zip(reading.links, reading.distances.tolist()))


def draw(pose=TRIPOD, boxes=(BOX,), positions=POSE, floor=0.0) -> np.ndarray:
    """(HEIGHT, WIDTH) m along the optical axis of what is nearest: boxes, robot, a floor."""
    rotation, eye = pose
    columns, rows = np.meshgrid(np.arange(WIDTH), np.arange(HEIGHT))
    rays = (
        np.stack(
            (
                (columns - (WIDTH - 1) / 2) / FOCAL,
                (rows - (HEIGHT - 1) / 2) / FOCAL,
                columns * 0 + 1,
            ),
            axis=-1,
        ).reshape(-1, 3)
        @ rotation.T
    )
    with np.errstate(divide='ignore', invalid='ignore'):
        to_floor = (floor - eye[2]) / rays[:, 2]
        depth = np.where(to_floor > 0, to_floor, np.inf)
        for each in boxes:
            depth = np.minimum(depth, _to_box(rays, eye, each))
    depth = np.minimum(depth, _to_robot(rays, eye, placed(positions)))
    return np.where(np.isfinite(depth), depth, 0.0).reshape(HEIGHT, WIDTH)


def _to_box(rays, eye, box):
    half = np.divide(box.size, 2)
    first = (np.subtract(box.middle, half) - eye) / rays
    second = (np.add(box.middle, half) - eye) / rays
    enter = np.minimum(first, second).max(axis=1)
    leave = np.maximum(first, second).min(axis=1)
    return np.where((enter <= leave) & (enter > 0), enter, np.inf)


def _to_robot(rays, eye, shapes):
    """Along each ray by the distance to the robot, until it is reached."""
    lengths = np.linalg.norm(rays, axis=1)
    centres = shapes.translations - eye
    middle = rays @ centres.T / lengths[:, None]
    beside = np.sqrt(np.maximum((centres**2).sum(axis=1) - middle**2, 0.0))
    reaches = np.linalg.norm(shapes.half_sizes, axis=1) + shapes.radii
    may_hit = (beside <= reaches).any(axis=1)
    along = np.where(may_hit, 0.0, np.inf)
    going = np.flatnonzero(may_hit)
    for _ in range(STEPS):
        gaps = shapes.shape_distances(eye + rays[going] * along[going, None]).min(axis=1)
        along[going] += np.maximum(gaps, 0.0) / lengths[going]
        going = going[(gaps > NEAR_ENOUGH) & (along[going] < 2.0)]
    along[going] = np.inf
    along[along >= 2.0] = np.inf
    return along


def millimetres(depth) -> np.ndarray:
    """A picture in m as 16UC1."""
    return np.rint(depth * 1000).astype('<u2')


def image_message(pixels, stamp, frame='camera', encoding='16UC1') -> Image:
    """pixels: (H, W) of the encoding's type."""
    height, width = pixels.shape
    message = Image(height=height, width=width, encoding=encoding, step=pixels.itemsize * width)
    message.header.stamp, message.header.frame_id = time_message(stamp), frame
    message.data = pixels.tobytes()
    return message


def info_message(width=WIDTH, height=HEIGHT, focal=FOCAL, **others) -> CameraInfo:
    """Of a pinhole camera with its centre in the middle."""
    cx, cy = (width - 1) / 2, (height - 1) / 2
    message = CameraInfo(width=width, height=height, distortion_model='plumb_bob')
    message.k = [focal, 0.0, cx, 0.0, focal, cy, 0.0, 0.0, 1.0]
    message.p = [focal, 0.0, cx, 0.0, 0.0, focal, cy, 0.0, 0.0, 0.0, 1.0, 0.0]
    message.d = [0.0] * 5
    for name, value in others.items():
        setattr(message, name, value)
    return message


@dataclass
class Heard:
    """Messages that the node has published."""

    proximity: list = field(default_factory=list)
    alignment: list = field(default_factory=list)


class Bench:
    """The node, and a node beside it that sends and hears."""

    def __init__(self, rclpy, cameras=('front',), **parameters):
        from frame_ros.nodes.proximity.node import ProximityNode

        values = {'cameras': list(cameras) or [''], 'silence': 30.0, 'realtime_priority': 0}
        values |= {'shapes': 'urdf'}  # which `picture` draws
        # Of pictures without noise, whose pixels are few, none is given up at edges.
        names = {'min_support': 4, 'relative_tolerance': 0.016, 'depth_noise': 0.0}
        clean = {f'depth.{name}': value for name, value in names.items()}
        values |= {'alignment.rate': 0.0, 'joint_wait': 0.5, **clean, **parameters}
        arguments = [
            part for name, value in values.items() for part in ('-p', f'{name}:={_yaml(value)}')
        ]
        rclpy.init(args=['--ros-args', *arguments])
        self.node = ProximityNode()
        self.tester = rclpy.create_node('tester', use_global_arguments=False)
        self.heard = Heard()
        qos = QoSProfile(depth=20)
        make = self.tester.create_publisher
        self.images = {name: make(Image, f'{name}/depth/image_raw', qos) for name in cameras}
        self.infos = {name: make(CameraInfo, f'{name}/depth/camera_info', qos) for name in cameras}
        self.joints = make(JointState, 'joint_states', 500)
        for kind, topic, heard in (
            (Proximity, 'proximity', self.heard.proximity),
            (CameraAlignment, 'camera_alignment', self.heard.alignment),
        ):
            self.tester.create_subscription(kind, topic, heard.append, qos)
        self.rclpy = rclpy
        self.until(self._is_connected)

    def _is_connected(self) -> bool:
        publishers = [*self.images.values(), *self.infos.values(), self.joints]
        heard = self.tester.count_publishers('proximity')
        return bool(heard) and all(each.get_subscription_count() for each in publishers)

    def turn(self) -> None:
        """Handles all that has arrived, on both sides."""
        self.node.poll()
        self.rclpy.spin_once(self.tester, timeout_sec=0.002)

    def until(self, condition, timeout=PATIENCE) -> None:
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, (self.heard.proximity[-1:], self.node.counts)
            self.turn()

    def send_joints(self, stamp, positions=POSE, names=JOINTS) -> None:
        message = JointState(name=list(names), position=[float(p) for p in positions])
        message.header.stamp = time_message(stamp)
        self.joints.publish(message)

    def send_image(self, stamp, pixels, camera='front', info=None, **options) -> None:
        self.infos[camera].publish(info or info_message())
        self.images[camera].publish(image_message(pixels, stamp, f'{camera}_optical', **options))

    def see(self, stamp, pixels, camera='front', positions=POSE, **options) -> Proximity:
        """Returns the message published for a picture with a joint state at its stamp."""
        count = len(self.heard.proximity)
        self.send_joints(stamp, positions)
        self.send_image(stamp, pixels, camera, **options)
        self.until(lambda: len(self.heard.proximity) > count)
        return self.heard.proximity[-1]

    def close(self) -> None:
        self.node.destroy_node()
        self.tester.destroy_node()
        self.rclpy.try_shutdown()


def _yaml(value) -> str:
    if isinstance(value, (list, tuple)):
        return f'[{", ".join(_yaml(each) for each in value)}]'
    if isinstance(value, bool):
        return str(value).lower()
    return f"'{value}'" if isinstance(value, str) else repr(value)


def distances(message) -> dict[str, float]:
    """Link -> distance of a Proximity."""
    return dict(zip(message.link_names, message.link_distances))


def stamp_of(message) -> int:
    return message.header.stamp.sec * SECOND + message.header.stamp.nanosec
