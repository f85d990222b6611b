# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a user may choose about a run: the arguments of the launch files, with their defaults and
meaning."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from frame_ros.errors import SetupError
from frame_ros.nodes.settings_text import parse_assignments, parse_qualities
from frame_ros.policies.checkpoint import CONFIG
from frame_ros.policies.own_policy import check_form, is_own_policy

POLICIES = ('scripted', 'hold', 'lerobot', 'remote', 'lerobot_grpc', 'token_vla', 'replay')
ANY_POLICY = (
    f'{", ".join(POLICIES)}, a checkpoint folder, or your own as module:Class or file.py:Class'
)
EXECUTIONS = ('synchronous', 'asynchronous', 'ensembling')
SIMULATED_ROBOTS = ('so101', 'fr3')
CONTACT_SOURCES = ('wrench', 'joint_effort', 'robot')
ROBOTS = {'so101': 'base_link', 'fr3': 'fr3_link0', 'panda': 'panda_link0'}  # preset -> root link


def option(default: Any, text: str) -> Any:
    """A field of the settings: its default and what it means to a user."""
    return field(default=default, metadata={'help': text})


@dataclass(frozen=True)
class RunSettings:
    """What every run has.

    Raises:
        SetupError: the robot or the policy is unknown, or the checkpoint is not there.
    """

    robot: str = option('so101', 'robot preset: so101')
    policy: str = option(
        '',
        f'the policy to run: {ANY_POLICY}; empty: none',
    )
    checkpoint: str = option(
        '', "folder of the policy's checkpoint; of replay: a bag; empty: it needs none"
    )
    policy_options: str = option(
        '', 'further options of the policy, name=value, with semicolons: url=ws://127.0.0.1:8000'
    )
    execution: str = option('asynchronous', f'how chunks become actions: {", ".join(EXECUTIONS)}')
    rephrasings_file: str = option(
        '', 'reviewed list of the instruction in other words, for policies that take it'
    )
    gate: bool = option(True, 'with a policy: its commands pass the command gate')
    gate_parameters: str = option(
        '', 'parameters of the gate, name=value, with semicolons: velocity_scale=0.3; floor=0.0'
    )
    contact_parameters: str = option(
        '', 'parameters of the contact node, name=value, with semicolons: wrench_force_on=3.0'
    )
    proximity_parameters: str = option(
        '', 'parameters of the proximity node, name=value, with semicolons: padding=0.02'
    )
    instruction: str = option('', 'what the policy is told')
    record: bool = option(True, 'write one bag per episode, from start_episode to end_episode')
    directory: str = option('runs', 'folder for the bags')
    rviz: bool = option(False, 'show RViz')
    robot_state_publisher: bool = option(
        False, "start robot_state_publisher, for RViz, where the arm's driver does not"
    )
    use_sim_time: bool = option(False, 'every node takes its time from /clock')
    namespace: str = option('', 'namespace of our nodes, for several arms side by side')
    references: str = option(
        '', 'demonstrations that ATE and RTE compare with: bags or folders of bags, with commas'
    )
    reference_mean: bool = option(False, 'compare with the mean of the references')
    reference_match: str = option(
        'time', 'what brings a pose to its place on a reference: time, or arc_length travelled'
    )
    low_pass_cutoff: float = option(0.0, 'Hz of a low-pass of the TCP poses; 0: none')

    def __post_init__(self) -> None:
        if self.robot not in ROBOTS:
            raise SetupError(f'no robot {self.robot!r}; there are {", ".join(ROBOTS)}')
        if self.policy:
            self.check_policy()

    def check_policy(self) -> None:
        """Raises SetupError if there can be no such policy."""
        check_policy(self.policy, self.checkpoint, self.options)
        if self.execution not in EXECUTIONS:
            raise SetupError(
                f'execution is {self.execution!r}; it must be one of {", ".join(EXECUTIONS)}'
            )

    @property
    def options(self) -> dict[str, str]:
        """The further options of the policy."""
        return parse_assignments('policy_options', self.policy_options)

    @property
    def has_gate(self) -> bool:
        """Whether commands pass the gate."""
        return self.gate and bool(self.policy)

    @property
    def known_obstacles(self) -> str:
        """File of the obstacles whose place is known; empty: there is none."""
        return ''

    @property
    def base_frame(self) -> str:
        """The root link of the robot."""
        return ROBOTS[self.robot]

    def remappings(self) -> dict[str, str]:
        """Our topic name -> the name to use instead."""
        return {}


@dataclass(frozen=True)
class DemoSettings(RunSettings):
    """The demo with a simulated robot.

    Raises:
        SetupError: a setting is out of its range, so that nothing need be started to find out.
    """

    robot: str = option('so101', f'the simulated robot: {", ".join(SIMULATED_ROBOTS)}')
    sensing: bool = option(
        True, "contact and distance from sensors; false: the simulator's true ones, at less cost"
    )
    policy: str = option('scripted', f'the policy to run: {ANY_POLICY}')
    instruction: str = option('pick up the cube and put it in the bin', 'what the policy is told')
    record: bool = option(True, 'write one bag per episode, and a video')
    directory: str = option('runs/demo', 'folder for the bags and videos')
    episodes: int = option(5, 'how many episodes to run')
    qualities: str = option(
        '1.0,0.9,0.5,1.0,0.2', "the scripted policy's quality, 0 to 1, one per episode, in turn"
    )
    robot_state_publisher: bool = option(True, 'with rviz: start robot_state_publisher too')
    seed: int = option(0, 'seed of the first scene; the next episodes count on from it')
    timeout: float = option(20.0, 's after which an episode that has not succeeded ends')

    def __post_init__(self) -> None:
        if self.robot not in SIMULATED_ROBOTS:
            raise SetupError(
                f'the simulated robots are {", ".join(SIMULATED_ROBOTS)}, not {self.robot!r}'
            )
        self.check_policy()
        parse_qualities(self.qualities)
        if self.episodes < 1:
            raise SetupError(f'episodes must be at least 1, not {self.episodes}')
        if self.seed < 0:
            raise SetupError(f'seed must be 0 or more, not {self.seed}')
        if not (math.isfinite(self.timeout) and self.timeout > 0.0):
            raise SetupError(f'timeout must be more than 0 s, not {self.timeout}')

    def remappings(self) -> dict[str, str]:
        """The poses of object and goal are the simulator's true ones; contact and distance where
        no sensor is asked.
        """
        sensed = () if self.sensing else ('contact', 'proximity')
        roles = (*sensed, 'object_pose', 'goal_pose')
        return {role: f'ground_truth/{role}' for role in roles}


@dataclass(frozen=True)
class ArmSettings(RunSettings):
    """A real arm, whose driver is the user's: the names of its topics."""

    joint_states_topic: str = option(
        'joint_states', "the driver's measured joints, sensor_msgs/JointState"
    )
    joint_commands_topic: str = option(
        'joint_commands', 'the executed actions, sensor_msgs/JointState'
    )
    output: str = option(
        'none', "what the arm's controller listens to beside it: a preset of docs/action-spaces.md"
    )
    wrench_topic: str = option(
        'wrench', 'wrench at the wrist, geometry_msgs/WrenchStamped, if there is one'
    )
    front_image_topic: str = option('front/image_raw', 'front camera, sensor_msgs/Image')
    wrist_image_topic: str = option('wrist/image_raw', 'wrist camera, sensor_msgs/Image')
    contact_topic: str = option('contact', 'contact, frame_ros/ContactState')
    proximity_topic: str = option('proximity', 'least distance, frame_ros/Proximity')
    contact_sources: str = option(
        '',
        f'starts the contact node, of any of these, with commas: {", ".join(CONTACT_SOURCES)}; '
        'empty: joint_effort if there is a motors_file',
    )
    motors_file: str = option('', 'what `frame-ros identify joints` wrote, for joint_effort')
    tool_file: str = option('', 'what `frame-ros identify tool` wrote, for wrench')
    proximity_cameras: str = option(
        '', 'starts the proximity node, with these depth cameras: names, with commas'
    )
    depth_topics: str = option(
        '', 'camera=topic, with semicolons, where it is not <camera>/depth/image_raw'
    )
    depth_info_topics: str = option(
        '', 'camera=topic, with semicolons, where it is not camera_info beside the image'
    )
    extrinsics: str = option(
        '',
        'camera=link x y z roll pitch yaw (or a quaternion x y z w), with semicolons, m and rad, '
        'of its optical frame; else from tf',
    )
    obstacles_file: str = option(
        '', 'starts the proximity node too: YAML file of obstacles whose place is known'
    )
    ot_task: str = option(
        '', 'task of the optimal trajectory difference: pick, move, put_on, put_in; empty: none'
    )
    object_topic: str = option('object_pose', 'the object to pick, geometry_msgs/PoseStamped')
    goal_topic: str = option('goal_pose', 'where it has to go, geometry_msgs/PoseStamped')
    object_frame: str = option('', 'tf frame of the object, instead of a topic')
    goal_frame: str = option('', 'tf frame of the goal, instead of a topic')
    grasp_source: str = option(
        'position', 'what tells that the object is held: position, effort, contact'
    )
    grasp_distance: float = option(
        0.0, 'm from the TCP within which the object must be to be held; 0: anywhere'
    )
    gripper_empty: float = option(
        0.0, 'position of the gripper closed on nothing, rad or m; used with gripper_margin'
    )
    gripper_margin: float = option(
        0.0, 'rad or m that an object keeps the gripper from there, at least; 0: that is not asked'
    )
    gripper_topic: str = option(
        '', "the gripper's state, sensor_msgs/JointState; empty: that of the arm"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        unknown = [name for name in self.sources_of_contact if name not in CONTACT_SOURCES]
        if unknown:
            raise SetupError(
                f'no contact source {unknown[0]!r}; there are {", ".join(CONTACT_SOURCES)}'
            )
        if 'joint_effort' in self.sources_of_contact and not self.motors_file:
            raise SetupError(
                "joint_effort needs this arm's own motors_file: those that come with the package "
                'are of the simulated arms; make one with `frame-ros identify joints`'
            )

    @property
    def known_obstacles(self) -> str:
        """File of the obstacles whose place is known; empty: there is none."""
        return self.obstacles_file

    @property
    def sources_of_contact(self) -> tuple[str, ...]:
        """What tells the contact node of contact; empty: it is not started."""
        given = tuple(filter(None, map(str.strip, self.contact_sources.split(','))))
        return given or (('joint_effort',) if self.motors_file else ())

    def remappings(self) -> dict[str, str]:
        """Our topic name -> the user's, where they differ."""
        names = {
            'joint_states': self.joint_states_topic,
            'joint_commands': self.joint_commands_topic,
            'wrench': self.wrench_topic,
            'front/image_raw': self.front_image_topic,
            'wrist/image_raw': self.wrist_image_topic,
            'contact': self.contact_topic,
            'proximity': self.proximity_topic,
            'object_pose': self.object_topic,
            'goal_pose': self.goal_topic,
        }
        return {ours: theirs for ours, theirs in names.items() if theirs != ours}


@dataclass(frozen=True)
class So101Settings(ArmSettings):
    """A real SO-101; with a port our own driver runs too, with a leader's port its teleoperator.

    Raises:
        SetupError: there is a port without an id, or an id without a port.
    """

    port: str = option('', "serial port of the arm, to start our driver; empty: the driver's yours")
    robot_id: str = option('', "the arm's id, which names its calibration file")
    calibration_dir: str = option('', "folder of calibration files; empty: LeRobot's own")
    cameras: str = option('', "the driver's cameras, as LeRobot's --robot.cameras")
    torque_on_exit: str = option('hold', 'when the driver ends, the arm does hold or release')
    leader_port: str = option('', 'serial port of a leader arm, to start the teleoperator')
    leader_id: str = option('', "the leader's id, which names its calibration file")
    teleoperator_mode: str = option(
        'takeover', "what the leader's commands are for: takeover, always, record"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
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

    @property
    def has_gate(self) -> bool:
        """Whether commands pass the gate: also those of a leader, unless it alone drives."""
        is_driven = bool(self.leader_port) and self.teleoperator_mode != 'record'
        return self.gate and (bool(self.policy) or is_driven)


FRANKA_WRENCH = 'franka_robot_state_broadcaster/external_wrench_in_base_frame'


@dataclass(frozen=True)
class FrankaSettings(ArmSettings):
    """A real Franka arm; the default names are those of franka_ros2.

    Raises:
        SetupError: contact is to come of a wrench, but none of a sensor is named.
    """

    robot: str = option('fr3', 'robot preset: fr3 or panda')
    joint_states_topic: str = option(
        'franka/joint_states', "the driver's measured joints, sensor_msgs/JointState"
    )
    wrench_topic: str = option(
        FRANKA_WRENCH,
        'external wrench, geometry_msgs/WrenchStamped; for contact by wrench that of a sensor',
    )
    gripper_topic: str = option(
        'franka_gripper/joint_states', "the gripper's state, sensor_msgs/JointState"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if 'wrench' in self.sources_of_contact and self.wrench_topic.endswith(FRANKA_WRENCH):
            raise SetupError(
                "contact by wrench needs the wrench_topic of a force-torque sensor; the arm's own "
                'estimate is the contact source robot'
            )


def check_policy(policy: str, checkpoint: str, options: Mapping[str, str] | None = None) -> None:
    """Whether there can be such a policy; the files of a checkpoint are looked at by its loader.

    options: further ones of the policy.

    Raises:
        SetupError: the policy is unknown, or its checkpoint or an option that it needs is missing.
        PolicyError: a file of the user's own policy is missing, or its class is not named.
    """
    if policy == 'lerobot':
        _check_checkpoint('checkpoint of the policy lerobot', checkpoint)
    elif policy == 'remote' and not (options or {}).get('url'):
        raise SetupError(
            'the policy remote needs the address of its server: policy_options '
            'url=ws://127.0.0.1:8000'
        )
    elif policy in ('token_vla', 'replay'):
        what = 'a bag, or a folder of bags' if policy == 'replay' else 'the folder of a model'
        if not checkpoint or not Path(checkpoint).expanduser().exists():
            raise SetupError(
                f'checkpoint of the policy {policy} is {checkpoint!r}; it must be {what}'
            )
    elif policy not in POLICIES:
        if policy and Path(policy).expanduser().is_dir():
            _check_checkpoint('policy', policy)
            return
        check_form(policy)
        if not is_own_policy(policy):
            raise SetupError(
                f'no policy {policy!r}; there are {", ".join(POLICIES)}, folders of checkpoints, '
                'and your own as module:Class or file.py:Class'
            )


def _check_checkpoint(what: str, folder: str) -> None:
    right = f'it must be the folder of a LeRobot checkpoint, with {CONFIG}'
    if not folder:
        raise SetupError(f'{what} is empty; {right}')
    path = Path(folder).expanduser()
    if not path.is_dir():
        raise SetupError(f'{what} is {folder!r}, which is no folder; {right}')
    if not (path / CONFIG).is_file():
        raise SetupError(f'{what} is {folder!r}, which has no {CONFIG}; {right}')
