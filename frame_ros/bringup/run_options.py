# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The user's options of a run: the arguments of the launch files, with their defaults and
meaning.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from frame_ros.bags.image_choices import CAMERA_IMAGES
from frame_ros.bringup.option_fields import check_choices, option
from frame_ros.bringup.option_text import check_qualities
from frame_ros.core.errors import SetupError
from frame_ros.core.ros_names import check_namespace
from frame_ros.policies.policy_names import FURTHER, OURS, check_name
from frame_ros.robots.profile import RobotProfile
from frame_ros.robots.profiles import (
    OF_ROBOT,
    ROBOT_NAMES,
    find_profile,
    locate,
    simulated_robots,
)
from frame_ros.robots.simulated import Simulation

if TYPE_CHECKING:
    from frame_ros.robots import Robot

ANY_POLICY = f'{", ".join(OURS)}, {FURTHER}'
OF_CAMERA_IMAGES = 'colour images in bags: as sent, or a tenth of it as JPEG, <topic>/compressed'
EXECUTIONS = ('synchronous', 'asynchronous', 'ensembling')
VIEWERS = ('auto', 'true', 'false')
LOG_LEVELS = ('debug', 'info', 'warn', 'error', 'fatal')


@dataclass(frozen=True)
class RunOptions:
    """Options of every run.

    Raises:
        SetupError: the robot or the policy is unknown, or the checkpoint is not there.
    """

    robot: str = option('so101', OF_ROBOT)
    policy: str = option(
        '',
        f'the policy to run: {ANY_POLICY}; empty: none',
    )
    checkpoint: str = option(
        '', "folder of the policy's checkpoint; of replay: a bag; empty: it needs none"
    )
    policy_options: Mapping[str, Any] = option(
        {}, 'further options of the policy: a YAML mapping, {url: ws://127.0.0.1:8000}, or a file'
    )
    execution: str = option('asynchronous', 'how chunks become actions', EXECUTIONS)
    rephrasings_file: str = option(
        '', 'reviewed list of the instruction in other words, for policies that take it'
    )
    gate: bool = option(True, 'with a policy: its commands pass the command gate')
    gate_parameters: Mapping[str, Any] = option(
        {},
        'parameters of the gate: a YAML mapping, {limits.velocity_scale: 0.3, '
        'workspace.floor: 0.0}, or a file',
    )
    contact_parameters: Mapping[str, Any] = option(
        {}, 'parameters of the contact node, likewise: {wrench.force_on: 3.0}'
    )
    proximity_parameters: Mapping[str, Any] = option(
        {}, 'parameters of the proximity node, likewise: {depth.padding: 0.02}'
    )
    params_file: str = option(
        '',
        'ROS 2 file of parameters, of any of the nodes; it takes precedence over our files, and '
        'gate_parameters and the like over it',
    )
    instruction: str = option('', 'what the policy is told')
    record: bool = option(True, 'write one bag per episode, from start_episode to end_episode')
    directory: str = option('runs', 'folder for the bags')
    camera_images: str = option('raw', OF_CAMERA_IMAGES, CAMERA_IMAGES)
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
    references: tuple[str, ...] = option(
        (), 'demonstrations that ATE and RTE compare with: a YAML list of bags or folders of bags'
    )
    reference_mean: bool = option(False, 'compare with the mean of the references')
    reference_match: str = option(
        'time',
        'what brings a pose to its place on a reference: the time, or the length travelled',
        ('time', 'arc_length'),
    )
    low_pass_cutoff: float = option(0.0, 'Hz of a low-pass of the TCP poses; 0: none')
    log_level: str = option('info', 'least severity that the nodes log', LOG_LEVELS)

    def __post_init__(self) -> None:
        check_choices(self)
        check_namespace(self.namespace)
        if self.robot not in ROBOT_NAMES:
            self.load_robot()
        self.check_prefix()
        if self.policy:
            self.check_policy()

    def check_prefix(self) -> None:
        """Raises SetupError for a frame_prefix that RViz could not be given."""
        if self.frame_prefix and not self.frame_prefix.endswith('/'):
            raise SetupError(
                f'frame_prefix is {self.frame_prefix!r}; it must end with /, such as '
                f'{self.frame_prefix}/'
            )

    def check_policy(self) -> None:
        """Raises PolicyError if there can be no such policy."""
        check_name(self.policy)

    def parameters_of(self, node: str) -> Mapping[str, Any]:
        """The argument <node>_parameters, of nodes that have one."""
        return getattr(self, f'{node}_parameters', {})

    @property
    def has_gate(self) -> bool:
        """True if commands pass the gate."""
        return self.gate and bool(self.policy)

    @property
    def known_obstacles(self) -> str:
        """File of the obstacles whose place is known; empty: there is none."""
        return ''

    @property
    def robot_source(self) -> str:
        """The robot as a process whose working folder may differ must be given it."""
        return locate(self.robot)

    @cached_property
    def profile(self) -> RobotProfile:
        """The profile of the robot; of a URDF alone what the name in it says."""
        found = find_profile(self.robot)
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

        return load_robot(self.robot, getattr(self, 'tip', '') or None)

    def remappings(self) -> dict[str, str]:
        """Our topic name -> the name to use instead."""
        return {}


@dataclass(frozen=True)
class DemoOptions(RunOptions):
    """The demo with a simulated robot.

    Raises:
        SetupError: a setting is out of its range, so that nothing need be started to find out.
    """

    robot: str = option(
        'so101', f'simulated robot: {", ".join(simulated_robots())}, or a profile with a simulation'
    )
    sensing: bool = option(
        True, "contact and distance from sensors; false: the simulator's true ones, at less cost"
    )
    policy: str = option('scripted', f'the policy to run: {ANY_POLICY}')
    instruction: str = option('pick up the cube and put it in the bin', 'what the policy is told')
    record: bool = option(True, 'write one bag per episode, and a video')
    directory: str = option('runs/demo', 'folder for the bags and videos')
    viewer: str = option(
        'auto', "the simulator's own window; auto: where there is a display, and no RViz", VIEWERS
    )
    episodes: int = option(5, 'how many episodes to run')
    qualities: tuple[float, ...] = option(
        (1.0, 0.9, 0.5, 1.0, 0.2),
        "the scripted policy's quality, 0 to 1, one per episode, in turn: a YAML list",
    )
    seed: int = option(0, 'seed of the first scene; the next episodes count on from it')
    timeout: float = option(20.0, 's after which an episode that has not succeeded ends')

    def __post_init__(self) -> None:
        check_choices(self)
        check_namespace(self.namespace)
        if self.profile.simulation is None:
            raise SetupError(
                f'the profile of {self.robot!r} has no simulation; those of '
                f'{", ".join(simulated_robots())} have'
            )
        self.check_prefix()
        self.check_policy()
        check_qualities(self.qualities)
        if self.episodes < 1:
            raise SetupError(f'episodes must be at least 1, not {self.episodes}')
        if self.seed < 0:
            raise SetupError(f'seed must be 0 or more, not {self.seed}')
        if not (math.isfinite(self.timeout) and self.timeout > 0.0):
            raise SetupError(f'timeout must be more than 0 s, not {self.timeout}')

    @property
    def simulation(self) -> Simulation:
        """The robot in the simulated scene."""
        assert self.profile.simulation is not None  # as was checked
        return self.profile.simulation

    def remappings(self) -> dict[str, str]:
        """The poses of object and goal are the simulator's true ones; contact and distance where
        no sensor is asked.
        """
        sensed = () if self.sensing else ('contact', 'proximity')
        roles = (*sensed, 'object_pose', 'goal_pose')
        return {role: f'ground_truth/{role}' for role in roles}
