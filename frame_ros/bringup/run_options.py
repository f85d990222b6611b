# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a run: the arguments of the launch files and of `frame-ros demo`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import attrs

from frame_ros.bringup.demo_robots import Value, demo_parameters
from frame_ros.bringup.demo_worlds import DemoWorld, demo_names, world_of
from frame_ros.bringup.passed_options import passed, path_parameter
from frame_ros.core.options import option, options, rule
from frame_ros.core.ros_names import NamespaceOptions
from frame_ros.policies.policy_names import ANY_POLICY, check_name
from frame_ros.robots.profile import RobotProfile
from frame_ros.robots.profiles import (
    DEFAULT_ROBOT,
    OF_ROBOT,
    ROBOT_NAMES,
    find_profile,
    locate,
)
from frame_ros.robots.simulated import Simulation

if TYPE_CHECKING:
    from frame_ros.robots import Robot

# Chunks that the demo's scripted policy draws per inference, for EV: as many as VLA-UQ's study.
SAMPLES = 4
LOG_LEVELS = ('debug', 'info', 'warn', 'error', 'fatal')


@options
class RunOptions(NamespaceOptions):
    """Options of every run.

    Attributes:
        given: names of options that the user gave, also where the value is the default: they take
            precedence over the parameters in the robot's profile.

    Raises:
        FrameRosError: a value cannot be, or there is no such robot or policy.
    """

    robot: str = option(DEFAULT_ROBOT, OF_ROBOT, known=ROBOT_NAMES)
    policy: str = option('', f'the policy to run: {ANY_POLICY}; empty: none')
    checkpoint: str = passed('checkpoint', 'policy', convert=path_parameter)
    policy_options: Mapping[str, Any] = option({}, 'further options of the policy, such as url')
    execution: str = passed('execution', 'policy')
    rephrasings_file: str = passed(
        'rephrasings_file',
        'policy',
        text='reviewed list of the instruction in other words, for policies that take it',
        convert=path_parameter,
    )
    gate: bool = option(True, 'with a policy: its commands pass the command gate')
    gate_parameters: Mapping[str, Any] = option(
        {}, 'parameters of the gate, such as limits.velocity_scale'
    )
    monitor: bool = option(
        False,
        'recommend a halt where the policy is unsure and the robot near something or in contact; '
        'needs calibration_file, or thresholds in monitor_parameters',
    )
    monitor_parameters: Mapping[str, Any] = option(
        {}, 'parameters of the monitor, such as halts_gate'
    )
    contact_parameters: Mapping[str, Any] = option(
        {}, 'parameters of the contact node, such as wrench.force_on'
    )
    proximity_parameters: Mapping[str, Any] = option(
        {}, 'parameters of the proximity node, such as depth.padding'
    )
    scenes_file: str = passed(
        'scenes_file',
        'scene_overlay',
        'simulator',
        text='starts the overlay node, which draws the objects of a scene of this file, JSON or '
        "YAML, into a camera's images; a simulated robot runs the file's scenes",
        convert=path_parameter,
    )
    scene: str = passed('scene', 'scene_overlay', 'simulator')
    scene_overlay_parameters: Mapping[str, Any] = option(
        {}, 'parameters of the overlay node, such as extrinsics'
    )
    params_file: str = option(
        '',
        'ROS 2 file of parameters, of any of the nodes; it takes precedence over our files, and '
        'gate_parameters and the like over it',
    )
    instruction: str = passed('instruction', 'policy')
    record: bool = passed(
        'enabled',
        'episode_recorder',
        text='write one bag per episode, from start_episode to end_episode',
    )
    directory: str = passed(
        'directory',
        'episode_recorder',
        'monitor',
        text='folder for the bags',
        convert=path_parameter,
    )
    camera_images: str = passed('camera_images', 'episode_recorder')
    rviz: bool = option(False, 'show RViz')
    robot_state_publisher: bool = option(
        False,
        'start robot_state_publisher for the transforms of the links; false: they come from our '
        'kinematics node, while nobody else publishes the same frames',
    )
    frame_prefix: str = option(
        '', "in front of the names of the robot's links in tf, such as left/, with several robots"
    )
    use_sim_time: bool = option(False, 'every node takes its time from /clock')
    namespace: str = option('', 'namespace of our nodes, for several arms side by side')
    references: tuple[str, ...] = passed('references', 'metrics', convert=path_parameter)
    reference_mean: bool = passed('reference_mean', 'metrics')
    reference_match: str = passed('reference_match', 'metrics')
    calibration_file: str = passed(
        'calibration_file',
        'metrics',
        'monitor',
        text='file of `frame-ros calibrate`: calibrated confidence, and thresholds of the monitor',
        convert=path_parameter,
    )
    low_pass_cutoff: float = passed('low_pass_cutoff', 'metrics')
    log_level: str = option('info', 'least severity that the nodes log', choices=LOG_LEVELS)
    given: frozenset[str] = attrs.field(default=frozenset(), eq=False)

    @rule('robot', 'a robot with this tip')
    def _has_robot(self) -> bool:
        if self.robot_name not in ROBOT_NAMES or bool(getattr(self, 'tip', '')):
            self.load_robot()
        return True

    @rule('frame_prefix', 'empty, or end with /, such as left/')  # for RViz
    def _is_prefix(self) -> bool:
        return not self.frame_prefix or self.frame_prefix.endswith('/')

    @rule('monitor_parameters', 'none without monitor')
    def _has_monitor(self) -> bool:
        return self.monitor or not self.monitor_parameters

    @rule('scene_overlay_parameters', 'none without scenes_file')
    def _has_scenes(self) -> bool:
        return bool(self.scenes_file) or not self.scene_overlay_parameters

    @rule('scene', "'1' without scenes_file, which has the scenes")
    def _has_scene_of_file(self) -> bool:
        return bool(self.scenes_file) or self.scene == '1'

    @rule('policy', 'a policy')
    def _has_policy(self) -> bool:
        if self.policy:
            check_name(self.policy)
        return True

    def parameters_of(self, node: str) -> Mapping[str, Any]:
        """The argument <node>_parameters, of nodes that have one."""
        return getattr(self, f'{node}_parameters', {})

    def own_parameters(self, node: str) -> Mapping[str, Value]:
        """Parameters of a node that every run of this kind has."""
        return {}

    @property
    def has_gate(self) -> bool:
        """True if commands pass the gate."""
        return self.gate and bool(self.policy)

    @property
    def robot_name(self) -> str:
        """The robot as `load_robot` takes it."""
        return self.robot

    @property
    def robot_source(self) -> str:
        """The robot as a process whose working folder may differ must be given it."""
        return locate(self.robot_name)

    @cached_property
    def profile(self) -> RobotProfile:
        """The profile of the robot; of a URDF alone what the name in it says."""
        found = find_profile(self.robot_name)
        return found if found.name else self.load_robot().profile

    @property
    def base_frame(self) -> str:
        """The root link of the robot in tf."""
        return self.frame_prefix + self.load_robot().base_link

    def load_robot(self) -> Robot:
        """The robot, from its profile or a URDF.

        Raises:
            RobotError: there is no such robot, file or tip, or the URDF cannot be used.
        """
        from frame_ros.robots import load_robot  # numpy and pinocchio: only where it is asked for

        return load_robot(self.robot_name, getattr(self, 'tip', '') or None)

    def remappings(self) -> dict[str, str]:
        """Our topic name -> the name to use instead."""
        return {}


@options
class DemoOptions(RunOptions):
    """The demo with a simulated robot.

    Raises:
        FrameRosError: as of RunOptions, or the robot has no simulation.
    """

    robot: str = option(
        DEFAULT_ROBOT,
        f'simulated robot: {", ".join(demo_names())} (an FR3 of franky-sim, by the protocol of the '
        'real arm), or a profile with a simulation',
    )
    sensing: bool = option(
        True, "contact and distance from sensors; false: the simulator's true ones, at less cost"
    )
    policy: str = option('scripted', f'the policy to run: {ANY_POLICY}')
    instruction: str = passed('instruction', 'session', 'policy')
    record: bool = passed(
        'enabled', 'episode_recorder', text='write one bag per episode, and a video'
    )
    directory: str = passed(
        'directory',
        'episode_recorder',
        'monitor',
        default='runs/demo',
        text='folder for the bags and videos',
        convert=path_parameter,
    )
    viewer: str = passed(
        'viewer',
        'simulator',
        text="MuJoCo's window; auto: where there is a display, and no RViz",
    )
    episodes: int = passed('episodes', 'session')
    qualities: tuple[float, ...] = passed('qualities', 'session', default=(1.0, 0.9, 0.5, 1.0, 0.2))
    seed: int = passed('seed', 'session', 'simulator', 'franky_world')
    timeout: float = passed('timeout', 'session')

    @rule('qualities', 'one number or more')
    def _has_quality(self) -> bool:
        return len(self.qualities) > 0

    @rule('robot', f'{" or ".join(demo_names())}, or a profile that has a simulation')
    def _has_robot(self) -> bool:
        return self.profile.simulation is not None

    @rule('sensing', 'true with {self.robot}, whose world has no true contact and distance')
    def _has_truth(self) -> bool:
        return self.sensing or self.world.has_truth

    @rule('viewer', 'auto or false with {self.robot}, whose world has no window')
    def _has_viewer(self) -> bool:
        return self.viewer != 'true' or self.world.has_viewer

    @rule('policy', 'a policy')
    def _has_policy(self) -> bool:
        check_name(self.policy)
        return True

    @cached_property
    def world(self) -> DemoWorld:
        """The world that the robot is in."""
        return world_of(self.robot)

    @property
    def runs_scenes(self) -> bool:
        """True if the simulator runs the scenes of a file."""
        return bool(self.scenes_file) and self.world.has_truth

    @property
    def described(self) -> str:
        """Says what runs."""
        robot = ' of '.join(filter(None, (self.profile.title, self.world.text)))
        return f'the simulated {robot} with the policy {self.policy}'

    @property
    def robot_name(self) -> str:
        """The robot as `load_robot` takes it."""
        return self.world.robot

    @property
    def simulation(self) -> Simulation:
        """The robot in the simulated scene."""
        assert self.profile.simulation is not None  # as was checked
        return self.profile.simulation

    def own_parameters(self, node: str) -> Mapping[str, Value]:
        """Parameters of a node in the simulated scene."""
        is_sampled = node == 'policy' and self.policy == 'scripted'
        # Points are for display.
        is_hidden = node == 'proximity' and not self.rviz
        # Scenes move their cameras, and have words of their own.
        follows = node in ('proximity', 'session') and self.runs_scenes
        has_words = node == 'session' and self.runs_scenes and 'instruction' in self.given
        return {
            **({'samples': SAMPLES} if is_sampled else {}),
            **demo_parameters(self.simulation, node),
            **self.world.parameters.get(node, {}),
            **({'cloud.rate': 0.0} if is_hidden else {}),
            **({'scene_topic': 'scene'} if follows else {}),
            **({'scene_instruction': False} if has_words else {}),
        }

    def remappings(self) -> dict[str, str]:
        """The poses of object and goal are the simulator's true ones; contact and distance where
        no sensor is asked.
        """
        sensed = () if self.sensing else ('contact', 'proximity')
        roles = (*sensed, 'object_pose', 'goal_pose')
        return {role: f'ground_truth/{role}' for role in roles}
