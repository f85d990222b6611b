# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The one table of what runs: the launch files and the demo's supervisor start the processes named
here.

It imports no ROS, so it can be read anywhere: `demo_processes(DemoOptions())` and
`arm_processes(ArmOptions())` return a list of `Process`.
"""

from __future__ import annotations

import functools
import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.declared_nodes import parameters_of
from frame_ros.bringup.demo_robots import Value, demo_parameters
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
from frame_ros.bringup.run_options import DemoOptions, RunOptions
from frame_ros.bringup.sensing_processes import arm_sensing, demo_sensing
from frame_ros.core.name_values import option_texts
from frame_ros.core.option_texts import text_of
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

# Chunks that the demo's scripted policy draws per inference, for EV: as many as VLA-UQ's study.
SAMPLES = 4

STARTERS = ('session', 'episode_recorder')  # what begins episodes
VIDEO_TOPIC = 'front/image_raw'
UNCHECKED = 'policy_commands'  # what a policy commands where a gate decides what the arm gets


def demo_processes(settings: DemoOptions) -> list[Process]:
    """The simulated robot, a policy, what watches them, and the session that runs episodes."""
    of = functools.partial(demo_parameters, settings.simulation)
    return _as_set(
        settings,
        [
            _simulator(settings),
            *demo_sensing(settings),
            *_monitors(settings, of('metrics'), of('kinematics'), of('markers')),
            _recorder(settings, demo_expected(settings)),
            *_gate(settings, of('gate')),
            _policy(settings, {'samples': SAMPLES} if settings.policy == 'scripted' else {}),
            Process('session', 'session', _session_parameters(settings), is_essential=True),
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
    names, types = settings.remappings(), settings.profile.lerobot
    folder = absolute(settings.calibration_dir) if settings.calibration_dir else ''
    processes = []
    if settings.port:
        driver: dict[str, Value] = {
            'robot': settings.robot_source,
            **({'robot_type': types.follower} if types.follower else {}),
            'port': settings.port,
            'robot_id': settings.robot_id,
            'calibration_dir': folder,
            'cameras': text_of(settings.cameras) if settings.cameras else '',
            'torque_on_exit': settings.torque_on_exit,
        }
        processes.append(Process('robot_driver', 'robot_driver', driver, names, is_lifecycle=True))
    if settings.leader_port:
        teleoperator: dict[str, Value] = {
            'robot': settings.robot_source,
            **({'teleoperator_type': types.leader} if types.leader else {}),
            'port': settings.leader_port,
            'teleoperator_id': settings.leader_id,
            'calibration_dir': folder,
            'mode': settings.teleoperator_mode,
        }
        processes.append(
            Process('teleoperator', 'teleoperator', teleoperator, names, is_lifecycle=True)
        )
    return processes


def _arm_processes(settings: ArmOptions) -> list[Process]:
    tip: dict[str, Value] = {'tip': settings.tip} if settings.tip else {}
    gate = {**tip, **({} if settings.output == 'none' else {'output': settings.output})}
    policy = [_policy(settings)] if settings.policy else []
    policy = [*_gate(settings, gate), *policy]
    display = _display(settings)
    watching = _monitors(settings, _target(settings), tip)
    monitors = [
        replace(process, can_respawn=True) for process in (*arm_sensing(settings), *watching)
    ]
    recorder = _recorder(settings, arm_expected(settings), (settings.topics.gripper,))
    return [*monitors, recorder, *policy, *display]


def _target(settings: ArmOptions) -> dict[str, Value]:
    """Returns the metrics node's parameters of object, goal and gripper that are not the
    default.
    """
    names = ('ot_task', 'object_frame', 'goal_frame')
    chosen: dict[str, Value] = {n: getattr(settings, n) for n in names if getattr(settings, n)}
    if settings.topics.gripper:
        chosen['gripper_topic'] = settings.topics.gripper
    if settings.ot_task:
        empty, margin = settings.grip
        chosen |= {
            'grasp.source': settings.grasp_source, 'grasp_distance': settings.grasp_distance,
            'grasp.empty': empty, 'grasp.margin': margin,
        }  # fmt: skip
    return chosen


def _references(settings: RunOptions) -> dict[str, Value]:
    """The demonstrations and the low-pass, where they are asked for."""
    chosen: dict[str, Value] = {}
    paths = [absolute(path) for path in settings.references]
    if paths:
        chosen['references'] = paths
        chosen['reference_mean'] = settings.reference_mean
        chosen['reference_match'] = settings.reference_match
    if settings.low_pass_cutoff:
        chosen['low_pass_cutoff'] = settings.low_pass_cutoff
    return chosen


def _waiting_for_all(processes: list[Process]) -> list[Process]:
    """Makes the process that begins episodes wait for all our nodes."""
    names = [p.name for p in processes if p.package == 'frame_ros' and p.executable != 'session']
    return [
        replace(p, parameters={**p.parameters, 'nodes': names}) if p.executable in STARTERS else p
        for p in processes
    ]


def _as_set(settings: RunOptions, processes: list[Process]) -> list[Process]:
    """Applies the common settings: the clock, the logs, and the user's parameters."""
    of_robot = robot_parameters(settings)
    found = [
        replace(
            process,
            log_level=settings.log_level,
            parameters={**of_robot.get(process.executable, {}), **process.parameters},
        )
        for process in processes
    ]
    if settings.use_sim_time:
        found = [replace(p, parameters={**p.parameters, 'use_sim_time': True}) for p in found]
    if settings.frame_prefix:
        found = [_prefixed(process, settings.frame_prefix) for process in found]
    return _drawing_workspace(with_given(_waiting_for_all(found), settings))


def _drawing_workspace(processes: list[Process]) -> list[Process]:
    """Makes the markers draw the workspace that the gate of the run keeps the arm in."""
    gate = next((p.parameters for p in processes if p.executable == 'gate'), {})
    enforced = {name: gate[name] for name in ('workspace.box', 'workspace.floor') if name in gate}
    return [
        replace(p, parameters={**p.parameters, **enforced}) if p.executable == 'markers' else p
        for p in processes
    ]


def _prefixed(process: Process, prefix: str) -> Process:
    """With the prefix of the robot's frames, if the node knows of one."""
    if process.config is None or 'frame_prefix' not in parameters_of(process.executable):
        return process
    return replace(process, parameters={**process.parameters, 'frame_prefix': prefix})


def _simulator(settings: DemoOptions) -> Process:
    viewer = 'false' if settings.viewer == 'auto' and settings.rviz else settings.viewer
    parameters: dict[str, Value] = {
        'robot': settings.robot_source,
        'seed': settings.seed,
        'viewer': viewer,  # which would cover RViz
        **demo_parameters(settings.simulation, 'simulator'),
    }
    return Process('simulator', 'simulator', parameters)


def _monitors(
    settings: RunOptions,
    of_metrics: Mapping[str, Value] | None = None,
    of_kinematics: Mapping[str, Value] | None = None,
    of_markers: Mapping[str, Value] | None = None,
) -> list[Process]:
    names = settings.remappings()
    drawn: dict[str, Value] = {}
    robot: dict[str, Value] = {'robot': settings.robot_source}
    transforms: dict[str, Value] = {'publish_tf': 'false'} if settings.robot_state_publisher else {}
    if settings.known_obstacles:
        drawn['obstacles_file'] = absolute(settings.known_obstacles)
    return [
        Process(
            'kinematics',
            'kinematics',
            {**robot, **transforms, **(of_kinematics or {})},
            names,
            only_watches=True,
        ),
        Process(
            'metrics',
            'metrics',
            {**robot, **(of_metrics or {}), **_references(settings)},
            names,
            only_watches=True,
        ),
        Process(
            'markers', 'markers', {**robot, **(of_markers or {}), **drawn}, names, only_watches=True
        ),
    ]


def _policy(settings: RunOptions, of_policy: Mapping[str, Value] | None = None) -> Process:
    parameters: dict[str, Value] = {
        'robot': settings.robot_source,
        'policy': _policy_name(settings.policy),
        'checkpoint': absolute(settings.checkpoint) if settings.checkpoint else '',
        'instruction': settings.instruction,
        'execution': settings.execution,
        **(of_policy or {}),
    }
    if settings.policy_options:
        parameters['policy_options'] = option_texts(settings.policy_options)
    if settings.rephrasings_file:
        parameters['rephrasings_file'] = absolute(settings.rephrasings_file)
    names = settings.remappings()
    if settings.has_gate:
        names['joint_commands'] = UNCHECKED
    return Process('policy', 'policy', parameters, names, is_lifecycle=True)


def _policy_name(policy: str) -> str:
    """The parameter `policy`, as a process whose working folder may differ must see it."""
    if policy in policies():
        return policy
    return with_absolute_file(policy) if is_own_policy(policy) else absolute(policy)


def _gate(settings: RunOptions, of_gate: Mapping[str, Value] | None = None) -> list[Process]:
    """The gate, wherever a policy or a teleoperator drives, unless it is switched off."""
    if not settings.has_gate:
        return []
    parameters: dict[str, Value] = {
        'robot': settings.robot_source,
        **(of_gate or {}),
    }
    return [Process('gate', 'gate', parameters, settings.remappings(), is_lifecycle=True)]


def _recorder(settings: RunOptions, expected: Sequence[str], others: Sequence[str] = ()) -> Process:
    """Without recording too: its services and events bound the episodes.

    What the other processes read under another name, and `others`, is recorded wherever it is
    published. expected: what must send in every episode.
    """
    names = settings.remappings()
    parameters: dict[str, Value] = {
        'directory': absolute(settings.directory),
        'enabled': settings.record,
        'topics.expected': list(expected),
        'camera_images': settings.camera_images,
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


def _session_parameters(settings: DemoOptions) -> dict[str, Value]:
    parameters: dict[str, Value] = {
        'episodes': settings.episodes,
        'seed': settings.seed,
        'timeout': settings.timeout,
        'robot': settings.robot_source,
        'policy': settings.policy,
        'checkpoint': settings.checkpoint,
        'instruction': settings.instruction,
    }
    qualities = list(settings.qualities)
    return {**parameters, 'qualities': qualities} if qualities else parameters


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
