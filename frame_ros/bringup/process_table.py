# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The one table of what runs: the launch files and the demo's supervisor start the processes named
here.

It imports no ROS, so it can be read anywhere: `demo_processes(DemoOptions())` and
`arm_processes(ArmOptions())` return a list of `Process`.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.declared_nodes import parameters_of
from frame_ros.bringup.demo_robots import Value
from frame_ros.bringup.expected_topics import arm_expected, demo_expected
from frame_ros.bringup.node_process import (
    PROFILES,
    Process,
    absolute,
    arm_environment,
    check_installed,
    demo_environment,
    find_executable,
    watching_environment,
)
from frame_ros.bringup.parameter_files import robot_parameters, with_given
from frame_ros.bringup.passed_options import passed_parameters, path_parameter
from frame_ros.bringup.run_options import DemoOptions, RunOptions
from frame_ros.bringup.sensing_processes import arm_sensing, demo_sensing
from frame_ros.core.name_values import option_texts
from frame_ros.core.options import evolved
from frame_ros.policies.own_policy import is_own_policy, with_absolute_file
from frame_ros.policies.policy_names import policies

__all__ = [
    'PROFILES',
    'Process',
    'arm_environment',
    'arm_processes',
    'check_installed',
    'demo_environment',
    'watching_environment',
    'demo_processes',
    'find_executable',
]

STARTERS = ('session', 'episode_recorder')  # what begins episodes
VIDEO_TOPIC = 'front/image_raw'
UNCHECKED = 'policy_commands'  # what a policy commands where a gate decides what the arm gets


def demo_processes(settings: DemoOptions) -> list[Process]:
    """The simulated robot, a policy, what watches them, and the session that runs episodes."""
    if settings.rviz and settings.viewer == 'auto':
        settings = evolved(settings, viewer='false')  # it would cover RViz
    return _as_set(
        settings,
        [
            Process('simulator', 'simulator'),
            *demo_sensing(settings),
            *_monitors(settings),
            _recorder(settings, demo_expected(settings)),
            *_gate(settings),
            _policy(settings),
            Process(
                'session',
                'session',
                {'policy': settings.policy, 'checkpoint': settings.checkpoint},
                is_essential=True,
            ),
            *_display(settings),
        ],
    )


def arm_processes(settings: ArmOptions) -> list[Process]:
    """Returns the processes of a run with a real arm, with drivers of arm and leader if their ports
    are given.
    """
    return _as_set(settings, [*_arm_hardware(settings), *_arm_processes(settings)])


def _arm_hardware(settings: ArmOptions) -> list[Process]:
    """The driver of the arm and the teleoperator of a leader, where their ports are given."""
    types = settings.profile.lerobot
    return [
        Process(
            node,
            node,
            {parameter: kind} if kind else {},
            settings.remappings(),
            is_lifecycle=True,
        )
        for port, node, parameter, kind in (
            (settings.port, 'robot_driver', 'robot_type', types.follower),
            (settings.leader_port, 'teleoperator', 'teleoperator_type', types.leader),
        )
        if port
    ]


def _arm_processes(settings: ArmOptions) -> list[Process]:
    policy = [_policy(settings)] if settings.policy else []
    drawn = {'obstacles_file': path_parameter(settings.obstacles_file)}
    gripper = {'gripper_topic': settings.topics.gripper} if settings.topics.gripper else {}
    watched = _monitors(settings, gripper, drawn if settings.obstacles_file else {})
    watching = [*arm_sensing(settings), *watched]
    monitors = [replace(process, can_respawn=True) for process in watching]
    recorder = _recorder(settings, arm_expected(settings), (settings.topics.gripper,))
    return [*monitors, recorder, *_gate(settings), *policy, *_display(settings)]


def _waiting_for_all(processes: list[Process]) -> list[Process]:
    """Makes the process that begins episodes wait for all our nodes."""
    names = [p.name for p in processes if p.package == 'frame_ros' and p.executable != 'session']
    return [
        replace(p, parameters={**p.parameters, 'nodes': names}) if p.executable in STARTERS else p
        for p in processes
    ]


def _as_set(settings: RunOptions, processes: list[Process]) -> list[Process]:
    """Applies what all processes have in common: the clock, the logs, and the parameters of the
    robot and the user.
    """
    of_robot = robot_parameters(settings)
    found = [
        replace(
            process,
            log_level=settings.log_level,
            parameters={
                **passed_parameters(settings, process.executable, are_given=False),
                **of_robot.get(process.executable, {}),
                **_shared(settings, process),
                **settings.own_parameters(process.executable),
                **process.parameters,
                **passed_parameters(settings, process.executable, are_given=True),
            },
        )
        for process in processes
    ]
    if settings.use_sim_time:
        found = [replace(p, parameters={**p.parameters, 'use_sim_time': True}) for p in found]
    return _drawing_workspace(with_given(_waiting_for_all(found), settings))


def _drawing_workspace(processes: list[Process]) -> list[Process]:
    """Makes the markers draw the workspace that the gate of the run keeps the arm in."""
    gate = next((p.parameters for p in processes if p.executable == 'gate'), {})
    enforced = {name: gate[name] for name in ('workspace.box', 'workspace.floor') if name in gate}
    return [
        replace(p, parameters={**p.parameters, **enforced}) if p.executable == 'markers' else p
        for p in processes
    ]


def _shared(settings: RunOptions, process: Process) -> dict[str, Value]:
    """The robot and the prefix of its frames, if the node has these parameters."""
    known = parameters_of(process.executable) if process.config else []
    shared: dict[str, Value] = {'robot': settings.robot_source}
    if settings.frame_prefix:
        shared['frame_prefix'] = settings.frame_prefix
    return {name: value for name, value in shared.items() if name in known}


def _monitors(
    settings: RunOptions,
    of_kinematics: Mapping[str, Value] = MappingProxyType({}),
    of_markers: Mapping[str, Value] = MappingProxyType({}),
) -> list[Process]:
    transforms: dict[str, Value] = {'publish_tf': 'false'} if settings.robot_state_publisher else {}
    given = {'kinematics': {**transforms, **of_kinematics}, 'metrics': {}, 'markers': of_markers}
    return [
        Process(node, node, parameters, settings.remappings(), only_watches=True)
        for node, parameters in given.items()
    ]


def _policy(settings: RunOptions) -> Process:
    parameters: dict[str, Value] = {'policy': _policy_name(settings.policy)}
    if settings.policy_options:
        parameters['policy_options'] = option_texts(settings.policy_options)
    names = settings.remappings()
    if settings.has_gate:
        names['joint_commands'] = UNCHECKED
    return Process('policy', 'policy', parameters, names, is_lifecycle=True)


def _policy_name(policy: str) -> str:
    """The parameter `policy`, as a process whose working folder may differ must see it."""
    if policy in policies():
        return policy
    return with_absolute_file(policy) if is_own_policy(policy) else absolute(policy)


def _gate(settings: RunOptions) -> list[Process]:
    """The gate, wherever a policy or a teleoperator drives, unless it is switched off."""
    if not settings.has_gate:
        return []
    return [Process('gate', 'gate', {}, settings.remappings(), is_lifecycle=True)]


def _recorder(settings: RunOptions, expected: Sequence[str], others: Sequence[str] = ()) -> Process:
    """Without recording too: its services and events bound the episodes.

    What the other processes read under another name, and `others`, is recorded wherever it is
    published. expected: what must send in every episode.
    """
    names = settings.remappings()
    parameters: dict[str, Value] = {
        'topics.expected': list(expected),
    }
    also = sorted({*names.values(), *filter(None, others)})
    if also:
        parameters['topics.also'] = also
    if VIDEO_TOPIC in names:
        parameters['video_topic'] = names[VIDEO_TOPIC]
    return Process(
        'episode_recorder',
        'episode_recorder',
        parameters,
        is_lifecycle=True,
        only_watches=True,
        takes_images=True,
    )


def _display(settings: RunOptions) -> list[Process]:
    """RViz, and robot_state_publisher where it is asked for."""
    processes = []
    if settings.robot_state_publisher:
        described: dict[str, Value] = {'robot_description': settings.load_robot().urdf}
        if settings.frame_prefix:
            described['frame_prefix'] = settings.frame_prefix
        state = 'robot_state_publisher'
        names = settings.remappings()
        processes.append(Process(state, state, described, names, package=state))
    if settings.rviz:
        layout = ('-d', str(_layout(settings)), '-f', settings.base_frame)
        processes.append(
            Process(
                'rviz',
                'rviz2',
                {},
                settings.remappings(),
                package='rviz2',
                extra=layout,
                may_end=True,
            )  # fmt: skip
        )
    return processes


def _layout(settings: RunOptions) -> Path:
    """RViz's layout; with a prefix of the frames a copy of it, whose robot model knows it."""
    layout = settings.profile.path(settings.profile.rviz)
    if not settings.frame_prefix:
        return layout
    text = layout.read_text(encoding='utf-8')
    prefix = json.dumps(settings.frame_prefix.rstrip('/'))
    copy = Path(tempfile.mkdtemp(prefix='frame_ros_rviz_')) / layout.name
    copy.write_text(text.replace('TF Prefix: ""', f'TF Prefix: {prefix}'), encoding='utf-8')
    return copy
