# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The one table of what runs: the launch files and the demo's supervisor start the processes named
here.

It imports no ROS, so it can be read anywhere: `demo_processes(DemoOptions())` and
`arm_processes(ArmOptions())` return a list of `Process`.
"""

from __future__ import annotations

import json
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
from frame_ros.core.errors import SetupError
from frame_ros.core.name_values import option_texts
from frame_ros.core.options import evolved
from frame_ros.core.output_files import write_whole
from frame_ros.core.own_folder import own_folder
from frame_ros.policies.own_policy import is_own_policy, with_absolute_file
from frame_ros.policies.policy_names import policies
from frame_ros.robots.profiles import public_name

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
OVERLAY = 'scene_overlay'
UNCHECKED = 'policy_commands'  # what a policy commands where a gate decides what the arm gets


def demo_processes(options: DemoOptions) -> list[Process]:
    """The simulated robot, a policy, what watches them, and the session that runs episodes."""
    if options.rviz and options.viewer == 'auto':
        options = evolved(options, viewer='false')  # it would cover RViz
    return _as_set(
        options,
        [
            *options.world.processes(),
            *demo_sensing(options),
            *_monitors(options),
            *_overlay(options),
            _recorder(options, demo_expected(options)),
            *_gate(options),
            *_halt_monitor(options),
            _policy(options),
            Process(
                'session',
                'session',
                {
                    'policy': options.policy,
                    'checkpoint': options.checkpoint,
                    'world': options.world.text,
                },
                is_essential=True,
            ),
            *_display(options),
        ],
    )


def arm_processes(options: ArmOptions) -> list[Process]:
    """Returns the processes of a run with a real arm, with drivers of arm and leader if their ports
    or the arm's host are given.
    """
    return _as_set(options, [*_arm_hardware(options), *_arm_processes(options)])


def _arm_hardware(options: ArmOptions) -> list[Process]:
    """The driver of the arm and the teleoperator of a leader, where they are named."""
    types = options.profile.lerobot
    return [
        Process(
            node, node, {parameter: kind} if kind else {}, options.remappings(), is_lifecycle=True
        )
        for port, node, parameter, kind in (
            (options.port or options.host, 'robot_driver', 'robot_type', types.follower),
            (options.leader_port, 'teleoperator', 'teleoperator_type', types.leader),
        )
        if port
    ]


def _arm_processes(options: ArmOptions) -> list[Process]:
    policy = [_policy(options)] if options.policy else []
    drawn = {'obstacles_file': path_parameter(options.obstacles_file)}
    gripper = {'gripper_topic': options.topics.gripper} if options.topics.gripper else {}
    watched = _monitors(options, gripper, drawn if options.obstacles_file else {})
    watching = [*arm_sensing(options), *watched, *_overlay(options)]
    monitors = _respawning(watching)
    recorder = _recorder(options, arm_expected(options), (options.topics.gripper,))
    halts = _respawning(_halt_monitor(options))
    return [*monitors, recorder, *_gate(options), *halts, *policy, *_display(options)]


def _respawning(processes: list[Process]) -> list[Process]:
    return [replace(process, can_respawn=True) for process in processes]


def _waiting_for_all(processes: list[Process]) -> list[Process]:
    """Makes the process that begins episodes wait for all our nodes."""
    idle = ('session', OVERLAY)  # an operator's aid keeps no episode waiting
    names = [p.name for p in processes if p.package == 'frame_ros' and p.executable not in idle]
    return [
        replace(p, parameters={**p.parameters, 'nodes': names}) if p.executable in STARTERS else p
        for p in processes
    ]


def _as_set(options: RunOptions, processes: list[Process]) -> list[Process]:
    """Applies what all processes have in common: the clock, the logs, and the parameters of the
    robot and the user.
    """
    of_robot = robot_parameters(options)
    found = [
        replace(
            process,
            log_level=options.log_level,
            parameters={
                **passed_parameters(options, process.executable, are_given=False),
                **of_robot.get(process.executable, {}),
                **_shared(options, process),
                **options.own_parameters(process.executable),
                **passed_parameters(options, process.executable, are_given=True),
                **process.parameters,
            },
        )
        for process in processes
    ]
    if options.use_sim_time:
        found = [replace(p, parameters={**p.parameters, 'use_sim_time': True}) for p in found]
    return _drawing_workspace(with_given(_waiting_for_all(found), options))


def _drawing_workspace(processes: list[Process]) -> list[Process]:
    """Makes the markers draw the workspace that the gate of the run keeps the arm in."""
    gate = next((p.parameters for p in processes if p.executable == 'gate'), {})
    enforced = {name: gate[name] for name in ('workspace.box', 'workspace.floor') if name in gate}
    return [
        replace(p, parameters={**p.parameters, **enforced}) if p.executable == 'markers' else p
        for p in processes
    ]


def _shared(options: RunOptions, process: Process) -> dict[str, Value]:
    """The robot and the prefix of its frames, if the node has these parameters."""
    known = parameters_of(process.executable) if process.config else []
    shared: dict[str, Value] = {'robot': options.robot_source}
    if options.frame_prefix:
        shared['frame_prefix'] = options.frame_prefix
    return {name: value for name, value in shared.items() if name in known}


def _monitors(
    options: RunOptions,
    of_kinematics: Mapping[str, Value] = MappingProxyType({}),
    of_markers: Mapping[str, Value] = MappingProxyType({}),
) -> list[Process]:
    transforms: dict[str, Value] = {'publish_tf': 'false'} if options.robot_state_publisher else {}
    given = {'kinematics': {**transforms, **of_kinematics}, 'metrics': {}, 'markers': of_markers}
    return [
        Process(node, node, parameters, options.remappings(), only_watches=True)
        for node, parameters in given.items()
    ]


def _overlay(options: RunOptions) -> list[Process]:
    """The node that draws the objects of a scene into a camera's images, with a scene file."""
    if not options.scenes_file:
        return []
    name, images = OVERLAY, options.remappings().get(VIDEO_TOPIC)
    # Where the images are renamed, camera_info is next to them.
    parameters: dict[str, Value] = {'image_topic': images} if images else {}
    # The simulated camera stands where the scene has it that runs.
    if isinstance(options, DemoOptions) and options.runs_scenes:
        parameters |= {'extrinsics': 'scene', 'scene_topic': 'scene'}
    return [
        Process(name, name, parameters, options.remappings(), only_watches=True, takes_images=True)
    ]


def _policy(options: RunOptions) -> Process:
    parameters: dict[str, Value] = {'policy': _policy_name(options.policy)}
    if options.policy_options:
        parameters['policy_options'] = option_texts(options.policy_options)
    names = options.remappings()
    if options.has_gate:
        names['joint_commands'] = UNCHECKED
    return Process('policy', 'policy', parameters, names, is_lifecycle=True)


def _policy_name(policy: str) -> str:
    """The parameter `policy`, as a process whose working folder may differ must see it."""
    if policy in policies():
        return policy
    return with_absolute_file(policy) if is_own_policy(policy) else absolute(policy)


def _gate(options: RunOptions) -> list[Process]:
    """The gate, wherever a policy or a teleoperator drives, unless it is switched off."""
    if not options.has_gate:
        return []
    return [Process('gate', 'gate', {}, options.remappings(), is_lifecycle=True)]


def _halt_monitor(options: RunOptions) -> list[Process]:
    """The monitor that recommends halts, where it is asked for."""
    if not options.monitor:
        return []
    names = options.remappings()
    return [Process('monitor', 'monitor', {}, names, is_lifecycle=True, only_watches=True)]


def _recorder(options: RunOptions, expected: Sequence[str], others: Sequence[str] = ()) -> Process:
    """Without recording too: its services and events bound the episodes.

    What the other processes read under another name, and `others`, is recorded wherever it is
    published. expected: what must send in every episode.
    """
    names = options.remappings()
    parameters: dict[str, Value] = {
        'topics.expected': list(expected),
        'robot_name': public_name(options.robot_source),
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


def _display(options: RunOptions) -> list[Process]:
    """RViz, and robot_state_publisher where it is asked for."""
    processes = []
    if options.robot_state_publisher:
        described: dict[str, Value] = {'robot_description': options.load_robot().urdf}
        if options.frame_prefix:
            described['frame_prefix'] = options.frame_prefix
        state = 'robot_state_publisher'
        names = options.remappings()
        processes.append(Process(state, state, described, names, package=state))
    if options.rviz:
        layout = ('-d', str(_layout(options)), '-f', options.base_frame)
        processes.append(
            Process(
                'rviz',
                'rviz2',
                {},
                options.remappings(),
                package='rviz2',
                extra=layout,
                may_end=True,
            )  # fmt: skip
        )
    return processes


def _layout(options: RunOptions) -> Path:
    """RViz's layout; with a prefix of the frames a copy of it, whose robot model knows it: always
    the same file for a prefix.

    Raises:
        SetupError: the copy cannot be written.
    """
    layout = options.profile.path(options.profile.rviz)
    if not options.frame_prefix:
        return layout
    text = layout.read_text(encoding='utf-8')
    prefix = json.dumps(options.frame_prefix.rstrip('/'))
    name = f'{options.frame_prefix.replace("/", "+")}{layout.name}'
    try:
        copy = own_folder() / name
    except OSError as error:
        raise SetupError(f'the layout of RViz cannot be written: {error}') from error
    write_whole(copy, text.replace('TF Prefix: ""', f'TF Prefix: {prefix}'), 'the layout of RViz')
    return copy
