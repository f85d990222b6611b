# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a run with a real arm: the arguments of its launch files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import attrs

from frame_ros.bringup.parameter_files import given_parameters
from frame_ros.bringup.passed_options import passed, path_parameter
from frame_ros.bringup.run_options import RunOptions
from frame_ros.core.option_texts import text_of
from frame_ros.core.options import check_names, flat, option, options, rule
from frame_ros.hardware.controller_presets import controller_presets
from frame_ros.robots.profile import RobotProfile, Topics
from frame_ros.robots.profiles import ROBOT_NAMES, find_profile
from frame_ros.sensing.contact.joints.motor_choices import GENERIC

OUTPUTS = tuple(controller_presets())
NONE = 'none'
OF_PROFILE = f"empty: that of the robot's profile; {NONE}: not the profile's"


@options
class ArmOptions(RunOptions):
    """A real arm. Its driver is the user's, or, with a port or a host, ours; with a leader's port
    its teleoperator runs too.

    Raises:
        FrameRosError: as of RunOptions, or an option does not go with another.
    """

    # The noise of a real camera does not compress without loss.
    camera_images: str = passed('camera_images', 'episode_recorder', default='jpeg')
    tip: str = passed(
        'tip',
        'kinematics',
        'gate',
        'contact',
        text="link whose pose is watched, or a short name of the profile's tips, such as tcp; "
        'empty: the default',
    )
    topics_of: str = option(
        '',
        'robot whose driver runs where `robot` is a URDF alone: the names of its topics are the '
        f'defaults; empty or none: by the name in the URDF ({", ".join(ROBOT_NAMES)})',
    )
    joint_states_topic: str = option(
        '', f"the driver's measured joints, sensor_msgs/JointState; {OF_PROFILE}"
    )
    joint_commands_topic: str = option(
        '', f'the executed actions, sensor_msgs/JointState; {OF_PROFILE}'
    )
    output: str = passed(
        'output',
        'gate',
        text="what the arm's controller listens to, see docs/action-spaces.md: "
        f"{', '.join(OUTPUTS)}, or one of the robot's profile",
    )
    wrench_topic: str = option(
        '',
        'wrench at the wrist, geometry_msgs/WrenchStamped, for contact by wrench that of a sensor; '
        f'{OF_PROFILE}',
    )
    front_image_topic: str = option('front/image_raw', 'front camera, sensor_msgs/Image')
    wrist_image_topic: str = option('wrist/image_raw', 'wrist camera, sensor_msgs/Image')
    contact_topic: str = option('contact', 'contact, frame_ros/ContactState')
    proximity_topic: str = option('proximity', 'least distance, frame_ros/Proximity')
    contact_sources: tuple[str, ...] = passed(
        'sources',
        'contact',
        text="starts the contact node; not given: those of the robot's profile; empty: "
        'joint_effort if there is a motors_file, else none',
    )
    motors_file: str = option(
        '',
        f'what `frame-ros identify joints` wrote, for joint_effort; {GENERIC}: numbers of the '
        f'simulated arm with wide thresholds, until this one is identified; {OF_PROFILE}',
    )
    tool_file: str = passed(
        'tool.file',
        'contact',
        text='what `frame-ros identify tool` wrote, for wrench',
        convert=path_parameter,
    )
    proximity_cameras: tuple[str, ...] = option(
        (),
        "starts the proximity node, with these depth cameras; not given: those of the robot's "
        'profile',
    )
    depth_topics: Mapping[str, str] = option(
        {}, 'camera: topic of its depth images, where it is not <camera>/depth/image_raw'
    )
    depth_info_topics: Mapping[str, str] = option(
        {}, 'camera: topic of its camera_info, where it is not camera_info next to the image'
    )
    extrinsics: Mapping[str, Any] = option(
        {},
        'camera: [link, x, y, z, roll, pitch, yaw] (or a quaternion x, y, z, w) of its optical '
        'frame, m and rad; else that of the profile, which [] switches off, or from tf',
    )
    obstacles_file: str = passed(
        'obstacles.file',
        'proximity',
        text='starts the proximity node too: YAML file of obstacles whose place is known',
        convert=path_parameter,
    )
    ot_task: str = passed('ot_task', 'metrics')
    object_topic: str = option('object_pose', 'the object to pick, geometry_msgs/PoseStamped')
    goal_topic: str = option('goal_pose', 'where it has to go, geometry_msgs/PoseStamped')
    object_frame: str = passed(
        'object_frame', 'metrics', text='tf frame of the object, instead of a topic'
    )
    goal_frame: str = passed(
        'goal_frame', 'metrics', text='tf frame of the goal, instead of a topic'
    )
    grasp_source: str = passed('grasp.source', 'kinematics')
    grasp_distance: float = passed('grasp_distance', 'metrics')
    gripper_empty: float = passed('grasp.empty', 'kinematics')
    gripper_margin: float = passed('grasp.margin', 'kinematics')
    gripper_topic: str = option(
        '',
        "the gripper's state, sensor_msgs/JointState, where the joint states do not have it; "
        f'{OF_PROFILE}',
    )
    port: str = passed(
        'port',
        'robot_driver',
        text="serial port of the arm, to start our driver; empty: the driver is the user's",
    )
    host: str = passed(
        'host',
        'robot_driver',
        text='name or address of a Franka arm, to start our driver by its control interface (FCI); '
        "empty: the driver is the user's",
    )
    robot_id: str = passed('robot_id', 'robot_driver')
    calibration_dir: str = passed(
        'calibration_dir', 'robot_driver', 'teleoperator', convert=path_parameter
    )
    cameras: Mapping[str, Any] = passed(
        'cameras',
        'robot_driver',
        default={},
        text="cameras of the driver, as LeRobot's --robot.cameras",
        convert=lambda cameras: text_of(cameras) if cameras else '',
    )
    torque_on_exit: str = passed('torque_on_exit', 'robot_driver')
    leader_port: str = passed(
        'port', 'teleoperator', text='serial port of a leader arm, to start the teleoperator'
    )
    leader_id: str = passed('teleoperator_id', 'teleoperator')
    teleoperator_mode: str = passed('mode', 'teleoperator')

    @rule('output', 'a controller')
    def _has_controller(self) -> bool:
        check_names([self.output], controller_presets(self.profile), 'output')
        return True

    @rule(
        'motors_file',
        'a file of `frame-ros identify joints` for this arm, as joint_effort is a contact source; '
        f'those that come with the package are of the simulated arms: {GENERIC!r} takes them with '
        'wide thresholds until then',
    )
    def _has_motors(self) -> bool:
        return 'joint_effort' not in self.sources_of_contact or bool(self.motors)

    @rule(
        'wrench_topic',
        "that of a force-torque sensor, as wrench is a contact source; the arm's own estimate is "
        'the contact source robot',
    )
    def _has_sensor(self) -> bool:
        estimate = self.profile.wrench_is_estimate and self.profile.topics.wrench
        is_estimate = estimate and self.topics.wrench.endswith(estimate)
        return 'wrench' not in self.sources_of_contact or not is_estimate

    @rule('robot_id', 'given together with port')
    def _knows_arm(self) -> bool:
        return bool(self.port) == bool(self.robot_id)

    @rule('host', 'of a Franka arm, fr3 or panda, and not given together with port')
    def _is_franka(self) -> bool:
        return not self.host or (not self.port and self.profile.wrench_is_estimate)

    @rule('leader_id', 'given together with leader_port')
    def _knows_leader(self) -> bool:
        return bool(self.leader_port) == bool(self.leader_id)

    @rule(
        'teleoperator_mode',
        'takeover or always while a policy runs: with record the leader drives the arm past the '
        'gate',
    )
    def _passes_gate(self) -> bool:
        return not (self.leader_port and self.policy and self.teleoperator_mode == 'record')

    @rule(
        'robot',
        'one with lerobot.follower in its profile to be driven from port, unless params_file has '
        'robot_type of the robot_driver',
    )
    def _has_follower(self) -> bool:
        is_known = bool(self.profile.lerobot.follower)
        return not self.port or is_known or 'robot_type' in given_parameters(self, 'robot_driver')

    @rule(
        'robot',
        'one with lerobot.leader in its profile to be driven from leader_port, unless params_file '
        'has teleoperator_type of the teleoperator',
    )
    def _has_leader(self) -> bool:
        given = given_parameters(self, 'teleoperator') if self.leader_port else {}
        is_known = bool(self.profile.lerobot.leader)
        return not self.leader_port or is_known or 'teleoperator_type' in given

    @cached_property
    def profile(self) -> RobotProfile:
        """The profile of the robot; that of a URDF alone has the driver's topics of `topics_of`."""
        found = super().profile
        if self.topics_of in ('', NONE) or find_profile(self.robot).name:
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
    def motors(self) -> str:
        """File of the arm's motors, or GENERIC; empty: there is none."""
        of_profile = self.profile.motors
        if self.motors_file == NONE:
            return ''
        return self.motors_file or (str(self.profile.path(of_profile)) if of_profile else '')

    @property
    def sources_of_contact(self) -> tuple[str, ...]:
        """Evidence of contact that the contact node takes; empty: it is not started."""
        listed = self._listed('contact_sources', 'contact', 'sources')
        return listed or (('joint_effort',) if self.motors else ())

    @property
    def depth_cameras(self) -> tuple[str, ...]:
        """Cameras of the proximity node."""
        return self._listed('proximity_cameras', 'proximity', 'cameras')

    def _listed(self, option: str, node: str, parameter: str) -> tuple[str, ...]:
        """A list that the user gave, be it empty, or else that in the robot's profile."""
        listed: tuple[str, ...] = getattr(self, option)
        if listed or option in self.given:
            return listed
        return tuple(flat(self.profile.parameters.get(node, {})).get(parameter, ()))

    @property
    def mounts(self) -> Mapping[str, Any]:
        """Mounts of the depth cameras that are known without tf."""
        of_profile = self.profile.cameras
        known = {c: of_profile[c] for c in self.depth_cameras if c in of_profile}
        return {c: mount for c, mount in {**known, **self.extrinsics}.items() if mount != []}

    @property
    def topics(self) -> Topics:
        """Those of the robot's profile, but for what the user named, or switched off."""
        ours = attrs.asdict(Topics())
        given = {name: getattr(self, f'{name}_topic') for name in ours}
        if self.host and not self.gripper_topic:
            given['gripper'] = NONE  # our driver's joint states have it
        named = {n: ours[n] if topic == NONE else topic for n, topic in given.items() if topic}
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
