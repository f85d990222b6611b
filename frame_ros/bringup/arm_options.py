# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a run with a real arm: the arguments of its launch files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import attrs

from frame_ros.bags.image_choices import CAMERA_IMAGES
from frame_ros.bringup.option_fields import option
from frame_ros.bringup.parameter_files import given_parameters
from frame_ros.bringup.run_options import OF_CAMERA_IMAGES, RunOptions
from frame_ros.core.errors import SetupError
from frame_ros.core.options import check_names
from frame_ros.hardware.controller_presets import controller_presets
from frame_ros.robots.profile import RobotProfile, Topics
from frame_ros.robots.profiles import ROBOT_NAMES, find_profile

CONTACT_SOURCES = ('wrench', 'joint_effort', 'robot')
OUTPUTS = tuple(controller_presets())
OT_TASKS = ('', 'pick', 'move', 'put_on', 'put_in')
GRASP_SOURCES = ('position', 'effort', 'contact')


@dataclass(frozen=True)
class ArmOptions(RunOptions):
    """A real arm. Its driver is the user's, or, with a port, ours; with a leader's port its
    teleoperator runs too. Empty names of topics are those of the robot's profile.

    Raises:
        SetupError: an option cannot be, or does not go with another.
    """

    # The noise of a real camera does not compress without loss.
    camera_images: str = option('jpeg', OF_CAMERA_IMAGES, CAMERA_IMAGES)
    tip: str = option(
        '', "link whose pose is watched, or a short name of the profile's tips; empty: the default"
    )
    topics_of: str = option(
        '',
        'robot whose driver runs where `robot` is a URDF alone: the names of its topics are the '
        f'defaults; empty: by the name in the URDF ({", ".join(ROBOT_NAMES)})',
    )
    joint_states_topic: str = option('', "the driver's measured joints, sensor_msgs/JointState")
    joint_commands_topic: str = option('', 'the executed actions, sensor_msgs/JointState')
    output: str = option(
        'none',
        "what the arm's controller listens to beside it, see docs/action-spaces.md: "
        f"{', '.join(OUTPUTS)}, or one of the robot's profile",
    )
    wrench_topic: str = option(
        '',
        'wrench at the wrist, geometry_msgs/WrenchStamped; for contact by wrench that of a sensor',
    )
    front_image_topic: str = option('front/image_raw', 'front camera, sensor_msgs/Image')
    wrist_image_topic: str = option('wrist/image_raw', 'wrist camera, sensor_msgs/Image')
    contact_topic: str = option('contact', 'contact, frame_ros/ContactState')
    proximity_topic: str = option('proximity', 'least distance, frame_ros/Proximity')
    contact_sources: tuple[str, ...] = option(
        (),
        f'starts the contact node; a YAML list of any of: {", ".join(CONTACT_SOURCES)}; '
        'empty: joint_effort if there is a motors_file',
    )
    motors_file: str = option(
        '', "what `frame-ros identify joints` wrote, for joint_effort; empty: the profile's"
    )
    tool_file: str = option('', 'what `frame-ros identify tool` wrote, for wrench')
    proximity_cameras: tuple[str, ...] = option(
        (), 'starts the proximity node, with these depth cameras: a YAML list of names'
    )
    depth_topics: Mapping[str, str] = option(
        {}, '{camera: topic}, YAML or a file of it, where it is not <camera>/depth/image_raw'
    )
    depth_info_topics: Mapping[str, str] = option(
        {}, '{camera: topic}, likewise, where it is not camera_info beside the image'
    )
    extrinsics: Mapping[str, Any] = option(
        {},
        '{camera: [link, x, y, z, roll, pitch, yaw]} (or a quaternion x, y, z, w), likewise, m and '
        'rad, of its optical frame; else those of the profile, or from tf',
    )
    obstacles_file: str = option(
        '', 'starts the proximity node too: YAML file of obstacles whose place is known'
    )
    ot_task: str = option('', 'task of the optimal trajectory difference; empty: none', OT_TASKS)
    object_topic: str = option('object_pose', 'the object to pick, geometry_msgs/PoseStamped')
    goal_topic: str = option('goal_pose', 'where it has to go, geometry_msgs/PoseStamped')
    object_frame: str = option('', 'tf frame of the object, instead of a topic')
    goal_frame: str = option('', 'tf frame of the goal, instead of a topic')
    grasp_source: str = option('position', 'evidence that the object is held', GRASP_SOURCES)
    grasp_distance: float = option(
        0.0, 'm from the TCP within which the object must be to be held; 0: anywhere'
    )
    gripper_empty: float = option(
        0.0, 'position of the gripper closed on nothing, rad or m; used with gripper_margin'
    )
    gripper_margin: float = option(
        0.0,
        "rad or m that an object keeps the gripper from there, at least; 0: the profile's, or that "
        'is not asked',
    )
    gripper_topic: str = option('', "the gripper's state, sensor_msgs/JointState")
    port: str = option('', "serial port of the arm, to start our driver; empty: the driver's yours")
    robot_id: str = option('', "the arm's id, which names its calibration file")
    calibration_dir: str = option('', "folder of calibration files; empty: LeRobot's own")
    cameras: Mapping[str, Any] = option(
        {}, "the driver's cameras, as LeRobot's --robot.cameras: a YAML mapping, or a file"
    )
    torque_on_exit: str = option(
        'hold', 'what the arm does when the driver ends', ('hold', 'release')
    )
    leader_port: str = option('', 'serial port of a leader arm, to start the teleoperator')
    leader_id: str = option('', "the leader's id, which names its calibration file")
    teleoperator_mode: str = option(
        'takeover', "what the leader's commands are for", ('takeover', 'always', 'record')
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        check_names([self.output], controller_presets(self.profile), 'output')
        self._check_contact()
        self._check_ports()
        self._check_device_types()

    def _check_contact(self) -> None:
        unknown = [name for name in self.sources_of_contact if name not in CONTACT_SOURCES]
        if unknown:
            raise SetupError(
                f'no contact source {unknown[0]!r}; there are {", ".join(CONTACT_SOURCES)}'
            )
        if 'joint_effort' in self.sources_of_contact and not self.motors:
            raise SetupError(
                "joint_effort needs this arm's own motors_file: those that come with the package "
                'are of the simulated arms; make one with `frame-ros identify joints`'
            )
        estimate = self.profile.wrench_is_estimate and self.profile.topics.wrench
        if (
            'wrench' in self.sources_of_contact
            and estimate
            and (self.topics.wrench.endswith(estimate))
        ):
            raise SetupError(
                "contact by wrench needs the wrench_topic of a force-torque sensor; the arm's own "
                'estimate is the contact source robot'
            )

    def _check_ports(self) -> None:
        for port, name in (('port', 'robot_id'), ('leader_port', 'leader_id')):
            if bool(getattr(self, port)) != bool(getattr(self, name)):
                raise SetupError(
                    f'{port} is {getattr(self, port)!r} and {name} {getattr(self, name)!r}; they '
                    'are given together'
                )
        if self.leader_port and self.policy and self.teleoperator_mode == 'record':
            raise SetupError(
                "teleoperator_mode is 'record', in which the leader drives the arm past the gate; "
                'beside a policy it must be takeover or always'
            )

    def _check_device_types(self) -> None:
        types = self.profile.lerobot
        for port, node, parameter, kind in (
            ('port', 'robot_driver', 'robot_type', types.follower),
            ('leader_port', 'teleoperator', 'teleoperator_type', types.leader),
        ):
            if getattr(self, port) and not kind and parameter not in given_parameters(self, node):
                raise SetupError(
                    f'{port} is {getattr(self, port)!r}, but {self.robot!r} has no LeRobot type: '
                    f'give a profile with lerobot.{"follower" if port == "port" else "leader"}, '
                    f'or {parameter} of the {node} in params_file'
                )

    @cached_property
    def profile(self) -> RobotProfile:
        """The profile of the robot; that of a URDF alone has the driver's topics of `topics_of`."""
        found = super().profile
        if not self.topics_of or find_profile(self.robot).name:
            return found
        of_driver = find_profile(self.topics_of)
        return attrs.evolve(
            found, topics=of_driver.topics, wrench_is_estimate=of_driver.wrench_is_estimate
        )

    @property
    def has_gate(self) -> bool:
        """True if commands pass the gate: also those of a leader, unless it alone drives."""
        is_driven = bool(self.leader_port) and self.teleoperator_mode != 'record'
        return self.gate and (bool(self.policy) or is_driven)

    @property
    def known_obstacles(self) -> str:
        """File of the obstacles whose place is known; empty: there is none."""
        return self.obstacles_file

    @property
    def motors(self) -> str:
        """File of the arm's motors; empty: there is none."""
        of_profile = self.profile.motors
        return self.motors_file or (str(self.profile.path(of_profile)) if of_profile else '')

    @property
    def sources_of_contact(self) -> tuple[str, ...]:
        """Evidence of contact that the contact node takes; empty: it is not started."""
        return self.contact_sources or (('joint_effort',) if self.motors else ())

    @property
    def grip(self) -> tuple[float, float]:
        """Position of the gripper closed on nothing, and the margin that an object keeps."""
        gripper = self.profile.gripper
        if self.gripper_margin or gripper is None:
            return self.gripper_empty, self.gripper_margin
        return gripper.empty, gripper.margin

    @property
    def mounts(self) -> Mapping[str, Any]:
        """Mounts of the depth cameras that are known without tf."""
        of_profile = self.profile.cameras
        return {c: of_profile[c] for c in self.proximity_cameras if c in of_profile} | dict(
            self.extrinsics
        )

    @property
    def topics(self) -> Topics:
        """Those of the robot's profile, but for what the user named."""
        names = [field.name for field in attrs.fields(Topics)]
        given = {name: getattr(self, f'{name}_topic') for name in names}
        named = {name: topic for name, topic in given.items() if topic}
        return attrs.evolve(self.profile.topics, **named)

    def remappings(self) -> dict[str, str]:
        """Our topic name -> the user's, where they differ."""
        topics = self.topics
        names = {
            'joint_states': topics.joint_states,
            'joint_commands': topics.joint_commands,
            'wrench': topics.wrench,
            'front/image_raw': self.front_image_topic,
            'wrist/image_raw': self.wrist_image_topic,
            'contact': self.contact_topic,
            'proximity': self.proximity_topic,
            'object_pose': self.object_topic,
            'goal_pose': self.goal_topic,
        }
        return {ours: theirs for ours, theirs in names.items() if theirs != ours}
