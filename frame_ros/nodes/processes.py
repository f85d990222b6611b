# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The one table of what runs: the launch files and the demo's supervisor start the processes named
here.

It imports no ROS, so it can be read anywhere: `demo_processes(DemoSettings())` and its two sisters
return a list of `Process`.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import frame_ros
from frame_ros.errors import SetupError
from frame_ros.nodes.settings import (
    POLICIES,
    ArmSettings,
    DemoSettings,
    FrankaSettings,
    RunSettings,
    So101Settings,
    parse_assignments,
    parse_qualities,
)

Value = bool | int | float | str | list[float] | list[str]

# One thread per numeric library, headless rendering.
ENVIRONMENT = {'OMP_NUM_THREADS': '1', 'MUJOCO_GL': 'egl'}
# Which file rmw_fastrtps reads at start; others do not look at them.
PROFILES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')

# Metrics of a simulated arm, in s: physics and rendering share two cores with all the rest, and a
# state may come this much after its stamp.
SIMULATED: Mapping[str, Value] = {'hold': 0.2, 'max_pose_age': 0.2, 'efficiency_hold': 0.5}
# The demo's task: a cube of 3 cm keeps the gripper open by 0.15 rad, its middle 14 mm from the TCP.
PUT_IN_BIN: Mapping[str, Value] = {
    'ot_task': 'put_in', 'gripper_margin': 0.07, 'grasp_distance': 0.03,
}  # fmt: skip

# The gate of the simulated arm. Two cores are shared with physics and rendering, so that a command
# or a state may come late, and where physics gives time up the arm stands still and is far from its
# command. The table is the plane z = 0; the box is what the cameras see of it.
SIMULATED_GATE: Mapping[str, Value] = {
    'command_timeout': 0.5, 'joint_states_timeout': 1.0, 'heartbeat_timeout': 1.0,
    'step_limit': 1.5, 'floor': 0.0, 'workspace': [-0.1, -0.4, 0.0, 0.45, 0.4, 0.5],
}  # fmt: skip

# Chunks that the demo's scripted policy draws per inference, for EV: as many as VLA-UQ's study.
SAMPLES = 4

VIDEO_TOPIC = 'front/image_raw'
UNCHECKED = 'policy_commands'  # what a policy commands where a gate decides what the arm gets


@dataclass(frozen=True)
class Process:
    """One node in a process of its own.

    name: the node's name. executable: as in `ros2 run <package> <executable>`. parameters: what
    differs from the node's own file of defaults, `config`. remappings: topic name -> the name to
    use instead. extra: arguments before those of ROS. is_lifecycle: the node is managed; it
    configures and activates itself, by its parameter `autostart`.
    is_essential: when it ends well, the run is over. may_end: it may end without ending the run.
    """

    name: str
    executable: str
    parameters: Mapping[str, Value] = field(default_factory=dict)
    remappings: Mapping[str, str] = field(default_factory=dict)
    package: str = 'frame_ros'
    extra: tuple[str, ...] = ()
    is_lifecycle: bool = False
    is_essential: bool = False
    may_end: bool = False

    @property
    def module(self) -> str:
        """Of our own nodes: what `python -m` runs."""
        return f'frame_ros.nodes.{self.executable}'

    @property
    def config(self) -> Path | None:
        """The commented YAML file with every parameter of the node and its default."""
        path = share_directory() / 'config' / f'{self.executable}.yaml'
        return path if self.package == 'frame_ros' and path.is_file() else None

    def command(self, namespace: str = '') -> list[str]:
        """The command line that starts it without `ros2 launch`.

        Raises:
            SetupError: a node of another package is not installed.
        """
        if self.package == 'frame_ros':
            start = [sys.executable, '-u', '-m', self.module]
        else:
            start = [str(find_executable(self.package, self.executable))]
        return [*start, *self.extra, *self.ros_arguments(namespace)]

    def ros_arguments(self, namespace: str = '') -> list[str]:
        """Name, namespace, parameters and remappings, as every ROS 2 node reads them."""
        arguments = ['--ros-args', '-r', f'__node:={self.name}']
        if namespace:
            arguments += ['-r', f'__ns:=/{namespace.strip("/")}']
        if self.config is not None:
            arguments += ['--params-file', str(self.config)]
        for name, value in self.parameters.items():
            arguments += ['-p', f'{name}:={json.dumps(value)}']
        for name, target in self.remappings.items():
            arguments += ['-r', f'{name}:={target}']
        return arguments


def arm_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What the processes beside a real arm get in addition to `environ`, where it has not set it.

    Nothing about the network: the arm's driver may run on another machine.
    """
    return {name: value for name, value in ENVIRONMENT.items() if name not in environ}


def demo_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """What the demo's processes get in addition to `environ`, where it has not set it: under the
    supervisor and under `ros2 launch` the same.

    Beside what an arm's get: discovery on this machine only, and with rmw_fastrtps the profile for
    one machine (UDP on 127.0.0.1, images through shared memory), unless a profile is set.
    """
    additions = arm_environment(environ)
    if 'ROS_AUTOMATIC_DISCOVERY_RANGE' not in environ:
        additions['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    if not any(environ.get(name) for name in PROFILES):
        profile = str(share_directory() / 'config' / 'fastdds_loopback.xml')
        additions.update(dict.fromkeys(PROFILES, profile))
    return additions


def find_executable(package: str, executable: str) -> Path:
    """The file that `ros2 run <package> <executable>` would run.

    Raises:
        SetupError: the package is not installed.
    """
    for prefix in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep):
        path = Path(prefix) / 'lib' / package / executable
        if prefix and path.is_file():
            return path
    distribution = os.environ.get('ROS_DISTRO') or 'jazzy'
    raise SetupError(
        f'{executable} of the package {package} was not found: RViz and what it needs come with a '
        'ROS 2 installation, not with the wheels '
        f'(sudo apt install ros-{distribution}-{package.replace("_", "-")}, then source it)'
    )


def check_installed(processes: Sequence[Process]) -> None:
    """Raises SetupError, before anything is started, for a node whose package is not installed."""
    for process in processes:
        if process.package != 'frame_ros':
            find_executable(process.package, process.executable)


def share_directory() -> Path:
    """The folder that holds config/, launch/, rviz/ and urdf/: the checkout, the colcon overlay, or
    pip's data folder.

    Raises:
        SetupError: none of them is there.
    """
    checkout = Path(frame_ros.__file__).resolve().parent.parent
    prefixes = [*os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep), sys.prefix]
    places = [checkout, *(Path(prefix) / 'share' / 'frame_ros' for prefix in prefixes if prefix)]
    for place in places:
        if (place / 'config').is_dir() and (place / 'urdf').is_dir():
            return place
    raise SetupError(
        'the folders config/ and urdf/ of frame_ros were not found in '
        + ', '.join(str(place) for place in places)
        + '; build the package with colcon and source its install/setup.bash'
    )


def demo_processes(settings: DemoSettings) -> list[Process]:
    """The simulated SO-101, a policy, what watches them, and the session that runs episodes."""
    has_publisher = settings.rviz and settings.robot_state_publisher
    return _on_clock(
        settings,
        [
            _simulator(settings),
            *_monitors(settings, {**SIMULATED, **PUT_IN_BIN}, SIMULATED_GATE),
            _recorder(settings),
            *_gate(settings, SIMULATED_GATE),
            _policy(settings, {'samples': SAMPLES} if settings.policy == 'scripted' else {}),
            Process('session', 'session', _session_parameters(settings), is_essential=True),
            *_display(settings, has_publisher),
        ],
    )


def so101_processes(settings: So101Settings) -> list[Process]:
    """What runs beside a real SO-101; its driver too, if its port is given."""
    return [*_so101_hardware(settings), *_arm_processes(settings)]


def franka_processes(settings: FrankaSettings) -> list[Process]:
    """What runs beside a real Franka arm, whose driver is the user's (franka_ros2)."""
    return _arm_processes(settings)


def _so101_hardware(settings: So101Settings) -> list[Process]:
    """The driver of the arm and the teleoperator of a leader, where their ports are given."""
    names = settings.remappings()
    folder = absolute(settings.calibration_dir) if settings.calibration_dir else ''
    processes = []
    if settings.port:
        driver: dict[str, Value] = {
            'port': settings.port,
            'robot_id': settings.robot_id,
            'calibration_dir': folder,
            'cameras': settings.cameras,
            'torque_on_exit': settings.torque_on_exit,
        }
        processes.append(Process('robot_driver', 'robot_driver', driver, names, is_lifecycle=True))
    if settings.leader_port:
        teleoperator: dict[str, Value] = {
            'port': settings.leader_port,
            'teleoperator_id': settings.leader_id,
            'calibration_dir': folder,
            'mode': settings.teleoperator_mode,
        }
        processes.append(Process('teleoperator', 'teleoperator', teleoperator, names))
    return _on_clock(settings, processes)


def _arm_processes(settings: ArmSettings) -> list[Process]:
    output: dict[str, Value] = {} if settings.output == 'none' else {'output': settings.output}
    policy = [_policy(settings)] if settings.policy else []
    policy = [*_gate(settings, output), *policy]
    display = _display(settings, settings.robot_state_publisher)
    monitors = _monitors(settings, _target(settings))
    recorder = _recorder(settings, (settings.gripper_topic,))
    return _on_clock(settings, [*monitors, recorder, *policy, *display])


def _target(settings: ArmSettings) -> dict[str, Value]:
    """What the metrics node is told of object, goal and gripper, where it is not the default."""
    names = ('ot_task', 'object_frame', 'goal_frame', 'gripper_topic')
    chosen: dict[str, Value] = {n: getattr(settings, n) for n in names if getattr(settings, n)}
    if settings.ot_task:
        grasp = ('grasp_source', 'grasp_distance', 'gripper_empty', 'gripper_margin')
        chosen |= {name: getattr(settings, name) for name in grasp}
    return chosen


def _references(settings: RunSettings) -> dict[str, Value]:
    """The demonstrations and the low-pass, where they are asked for."""
    chosen: dict[str, Value] = {}
    paths = [absolute(path.strip()) for path in settings.references.split(',') if path.strip()]
    if paths:
        chosen['references'] = paths
        chosen['reference_mean'] = settings.reference_mean
        chosen['reference_match'] = settings.reference_match
    if settings.low_pass_cutoff:
        chosen['low_pass_cutoff'] = settings.low_pass_cutoff
    return chosen


def _on_clock(settings: RunSettings, processes: list[Process]) -> list[Process]:
    """All of them on /clock, if that is wanted: never a part of them."""
    if not settings.use_sim_time:
        return processes
    return [replace(p, parameters={**p.parameters, 'use_sim_time': True}) for p in processes]


def _simulator(settings: DemoSettings) -> Process:
    return Process('simulator', 'simulator', {'seed': settings.seed})


def _monitors(
    settings: RunSettings,
    of_metrics: Mapping[str, Value] | None = None,
    of_gate: Mapping[str, Value] | None = None,
) -> list[Process]:
    names = settings.remappings()
    bounds = {**(of_gate or {}), **gate_parameters(settings)} if settings.has_gate else {}
    drawn = {name: bounds[name] for name in ('workspace', 'floor') if name in bounds}
    robot: dict[str, Value] = {'robot': settings.robot}
    return [
        Process('kinematics', 'kinematics', robot, names),
        Process(
            'metrics', 'metrics', {**robot, **(of_metrics or {}), **_references(settings)}, names
        ),
        Process('markers', 'markers', drawn, names),
    ]


def _policy(settings: RunSettings, of_policy: Mapping[str, Value] | None = None) -> Process:
    parameters: dict[str, Value] = {
        'robot': settings.robot,
        'policy': settings.policy if settings.policy in POLICIES else absolute(settings.policy),
        'checkpoint': absolute(settings.checkpoint) if settings.checkpoint else '',
        'instruction': settings.instruction,
        'execution': settings.execution,
        **(of_policy or {}),
    }
    if settings.options:
        parameters['policy_options'] = [f'{n}={value}' for n, value in settings.options.items()]
    if settings.rephrasings_file:
        parameters['rephrasings_file'] = absolute(settings.rephrasings_file)
    names = settings.remappings()
    if settings.has_gate:
        names['joint_commands'] = UNCHECKED
    return Process('policy', 'policy', parameters, names, is_lifecycle=True)


def _gate(settings: RunSettings, of_gate: Mapping[str, Value] | None = None) -> list[Process]:
    """The gate, wherever a policy or a teleoperator drives, unless it is switched off."""
    if not settings.has_gate:
        return []
    parameters: dict[str, Value] = {
        'robot': settings.robot,
        **(of_gate or {}),
        **gate_parameters(settings),
    }
    return [Process('gate', 'gate', parameters, settings.remappings(), is_lifecycle=True)]


def gate_parameters(settings: RunSettings) -> dict[str, Value]:
    """What the user sets of the gate.

    Raises:
        SetupError: the gate has no such parameter: a limit that is misspelt must not be missed.
    """
    given = parse_assignments('gate_parameters', settings.gate_parameters)
    text = (share_directory() / 'config' / 'gate.yaml').read_text(encoding='utf-8')
    known = re.findall(r'^    (\w+):', text, re.MULTILINE)
    unknown = [name for name in given if name not in known]
    if unknown:
        raise SetupError(f'the gate has no parameter {unknown[0]!r}; it has {", ".join(known)}')
    return {name: _value(text) for name, text in given.items()}


def _value(text: str) -> Value:
    """Numbers, lists and true or false as JSON has them; anything else is a text."""
    try:
        value: Value = json.loads(text)
    except ValueError:
        return text
    return value


def _recorder(settings: RunSettings, others: Sequence[str] = ()) -> Process:
    """Without recording too: its services and events bound the episodes.

    What the other processes read under another name, and `others`, is recorded wherever it is
    published.
    """
    names = settings.remappings()
    parameters: dict[str, Value] = {
        'directory': absolute(settings.directory),
        'enabled': settings.record,
    }
    also = sorted({*names.values(), *filter(None, others)})
    if also:
        parameters['also'] = also
    if VIDEO_TOPIC in names:
        parameters['video_topic'] = names[VIDEO_TOPIC]
    return Process('episode_recorder', 'episode_recorder', parameters, is_lifecycle=True)


def _session_parameters(settings: DemoSettings) -> dict[str, Value]:
    parameters: dict[str, Value] = {
        'episodes': settings.episodes,
        'seed': settings.seed,
        'timeout': settings.timeout,
        'robot': settings.robot,
        'policy': settings.policy,
        'checkpoint': settings.checkpoint,
        'instruction': settings.instruction,
        'gate': settings.has_gate,
    }
    qualities = parse_qualities(settings.qualities)
    return {**parameters, 'qualities': qualities} if qualities else parameters


def _display(settings: RunSettings, has_publisher: bool) -> list[Process]:
    """RViz and the robot_state_publisher it needs; their transforms stay in the namespace."""
    share = share_directory()
    names = {'/tf': 'tf', '/tf_static': 'tf_static', **settings.remappings()}
    processes = []
    if has_publisher:
        urdf = (share / 'urdf' / f'{settings.robot}.urdf').read_text()
        state = 'robot_state_publisher'
        processes.append(Process(state, state, {'robot_description': urdf}, names, package=state))
    if settings.rviz:
        layout = ('-d', str(share / 'rviz' / 'frame_ros.rviz'), '-f', settings.base_frame)
        processes.append(
            Process('rviz', 'rviz2', {}, names, package='rviz2', extra=layout, may_end=True)
        )
    return processes


def absolute(path: str | os.PathLike[str]) -> str:
    """The path as the started process, whose working folder may differ, must see it."""
    return str(Path(path).expanduser().resolve())
