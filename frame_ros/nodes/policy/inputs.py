# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's subscriptions: only what the policy needs, converted only when it infers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import numpy as np
from geometry_msgs.msg import PoseStamped
from numpy.typing import NDArray
from rclpy.node import Node

from frame_ros.bags.images.decoding import decode_image
from frame_ros.bags.message_readers import ImageReader, ReadJointState, SerialisedImage
from frame_ros.bags.streams.poses import pose_values
from frame_ros.core.errors import BagError, PolicyError, SetupError
from frame_ros.core.thread_priority import raise_priority
from frame_ros.core.time import stamp_ns
from frame_ros.core.topics import Topic
from frame_ros.nodes.policy.topics import IMAGES, JOINT_STATES, POSES
from frame_ros.nodes.runtime.fitting_subscription import FittingSubscription
from frame_ros.nodes.runtime.joint_states import JointStateInput
from frame_ros.nodes.runtime.options import BEST_EFFORT
from frame_ros.policies.execution.observation_buffer import JOINTS, ObservationBuffer
from frame_ros.robots.joint_state_merge import JointMerger

JOINTS_DEPTH = 5


class PolicyInputs:
    """Fills an ObservationBuffer from topics until `close`.

    cameras: camera -> topic. poses: pose -> topic. report: gets errors in words. priority: see
    `raise_priority`; of the thread that receives, from its first message on: while it holds the
    interpreter's lock, whoever waits for the lock waits for it to be given a core, too. continuous:
    joints that turn without end.
    """

    def __init__(
        self,
        node: Node,
        buffer: ObservationBuffer,
        cameras: Mapping[str, str],
        poses: Mapping[str, str],
        joint_names: tuple[str, ...],
        report: Callable[[str], object],
        priority: int = 0,
        continuous: Sequence[str] = (),
    ) -> None:
        self._priority = priority
        self._buffer, self._report = buffer, report
        self._joints = JointMerger(joint_names, continuous=continuous)

        def subscribe(
            topic: Topic, take: Callable[[Any], None], depth: int = 1, **options: Any
        ) -> FittingSubscription:
            # Of a policy's inputs only the newest counts, so that best effort does.
            return FittingSubscription(
                node, topic, take, depth=depth, reliability=BEST_EFFORT,
                is_required=True, is_steady=topic.type != POSES.type, is_called=True, **options,
            )  # fmt: skip

        self._subscriptions = [
            JointStateInput(
                node,
                JOINT_STATES,
                self._on_joints,
                depth=JOINTS_DEPTH,
                reliability=BEST_EFFORT,
                is_called=True,
                has_positions_only=True,
            ),  # fmt: skip
            *(
                subscribe(IMAGES.at(t), partial(self._on_image, n), read=stamped_image)
                for n, t in cameras.items()
            ),
            *(subscribe(POSES.at(t), partial(self._on_pose, n)) for n, t in poses.items()),
        ]

    def close(self) -> None:
        """Ends the subscriptions."""
        for subscription in self._subscriptions:
            subscription.destroy()
        self._subscriptions.clear()

    def _on_joints(self, message: ReadJointState) -> None:
        if self._priority:
            raise_priority(self._priority)
            self._priority = 0
        joints = self._joints
        state = joints.update(message.stamp, message.names, message.positions)
        if state is not None:
            self._buffer.put(JOINTS, joints.stamp, lambda: state.positions)
        elif problem := joints.problem:
            self._buffer.complain(JOINTS, problem)
            self._report(f'joint_states: {problem}')
        elif joints.missing:  # others may publish them a moment later
            self._buffer.complain(JOINTS, f'no position yet of {", ".join(joints.missing)}')

    def _on_image(self, name: str, stamped: tuple[int, SerialisedImage]) -> None:
        stamp, image = stamped
        self._buffer.put(name, stamp, partial(rgb_of, name, image))

    def _on_pose(self, name: str, message: PoseStamped) -> None:
        self._buffer.put(name, stamp_ns(message.header.stamp), partial(pose_array, message))


@cache
def image_reader() -> ImageReader:
    """Returns what reads every camera's images."""
    return ImageReader()


def stamped_image(serialised: bytes) -> tuple[int, SerialisedImage]:
    """Returns the stamp of a serialised image, ns, and the image."""
    image = image_reader().image(serialised)
    return image.stamp, image


def pose_array(message: PoseStamped) -> NDArray[np.float64]:
    """(7,) position and quaternion xyzw."""
    return np.array(pose_values(message))


def rgb_of(name: str, image: SerialisedImage) -> NDArray[np.uint8]:
    """Returns an image as (H, W, 3) uint8 RGB, of rgb8 a view that is read-only.

    Raises:
        PolicyError: the camera `name` gives no such image, or its data do not fit the size.
    """
    try:
        pixels = decode_image(
            image.data, image.height, image.width, image.encoding, image.step,
            bool(image.is_bigendian),
        )  # fmt: skip
    except BagError as error:
        raise PolicyError(f'camera {name}: {error}') from error
    if pixels.dtype != np.uint8:
        raise PolicyError(f'camera {name} has encoding {image.encoding!r}, which is no colour')
    return pixels if pixels.ndim == 3 else np.repeat(pixels[:, :, None], 3, axis=2)


def camera_topics(needed: tuple[str, ...], available: tuple[str, ...]) -> dict[str, str]:
    """Camera -> topic for the cameras that a policy needs.

    Raises:
        SetupError: one is not available.
    """
    if missing := [name for name in needed if name not in available]:
        raise SetupError(
            f'the policy needs cameras {list(needed)}, but the parameter cameras has '
            f'{list(available)}: '
            f'{missing} must be added, or mapped by camera_names'
        )
    return {name: f'{name}/image_raw' for name in needed}


def pose_topics(needed: tuple[str, ...], available: Mapping[str, str]) -> dict[str, str]:
    """Pose -> topic for the poses that a policy needs.

    Raises:
        SetupError: one is not available.
    """
    if missing := [name for name in needed if name not in available]:
        raise SetupError(
            f'the policy needs the poses {missing}; add them to pose_topics as name=topic'
        )
    return {name: available[name] for name in needed}
