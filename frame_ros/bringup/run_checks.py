# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of a run before any of its processes is started: the files and
folders that its table names, and the policy.

It imports no ROS.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from frame_ros.bringup.declared_nodes import from_parameter, options_of, parameters_of
from frame_ros.bringup.node_process import Process, check_installed
from frame_ros.core.errors import MissingExtraError, SetupError, install_hint
from frame_ros.core.name_values import parse_options
from frame_ros.core.options import from_values
from frame_ros.core.output_files import check_folder
from frame_ros.policies.choices import offered_of, required_of

Parameters = Mapping[str, Any]


def check_run(processes: Sequence[Process]) -> None:
    """Checks the processes of a table, in which every path is absolute.

    Raises:
        FrameRosError: one of them could not do its work; the text says what would be right.
    """
    check_installed(processes)
    for process in processes:
        if process.package == 'frame_ros' and process.executable in CHECKS:
            CHECKS[process.executable](process.parameters)


def _options(node: str, parameters: Parameters) -> Any:
    """The options of a node that has these parameters, and perhaps others."""
    names = parameters_of(node).keys() & parameters.keys()
    return from_values(options_of(node), {name: from_parameter(parameters[name]) for name in names})


def _check_policy(parameters: Parameters) -> None:
    from frame_ros.policies.registry import check_acts_without_scene, check_policy
    from frame_ros.robots import load_robot

    options = parse_options('policy_options', parameters.get('policy_options', ()))
    chosen = _options('policy', parameters)
    check_acts_without_scene(chosen.policy)
    offered = offered_of(chosen, load_robot(chosen.robot))
    check_policy(chosen.policy, offered, required_of(chosen), options)
    if file := parameters.get('rephrasings_file'):
        from frame_ros.policies.rephrasing.rephrasings import load_rephrasings

        load_rephrasings(file)


def _check_metrics(parameters: Parameters) -> None:
    """Reads references and calibration, as the node will."""
    if parameters.get('references') or parameters.get('calibration_file'):
        _options('metrics', parameters).pipeline()


def _check_contact(parameters: Parameters) -> None:
    if file := parameters.get('joints.motors_file'):
        from frame_ros.sensing.contact.joints.motor_choices import GENERIC, SIMULATED
        from frame_ros.sensing.contact.joints.motor_model import (
            generic_motors,
            own_motors,
            simulated_motors,
        )

        if file == SIMULATED:
            simulated_motors(parameters['robot'])
        elif file == GENERIC:
            generic_motors(parameters['robot'])
        else:
            own_motors(file)
    if file := parameters.get('tool.file'):
        from frame_ros.sensing.contact.wrench.tool_file import read_tool

        read_tool(file)


def _check_obstacles(parameters: Parameters) -> None:
    if file := parameters.get('obstacles.file') or parameters.get('obstacles_file'):
        from frame_ros.sensing.proximity.obstacles.files import load_obstacles

        load_obstacles(file)


def _check_scenes(parameters: Parameters) -> None:
    from frame_ros.scenes.cards.choice import find_scene
    from frame_ros.scenes.description.files import read_scenes

    find_scene(read_scenes(parameters['scenes_file']), parameters.get('scene', '1'))


def _check_monitor(parameters: Parameters) -> None:
    chosen = _options('monitor', parameters)
    chosen.settings().make()
    if chosen.snapshot.before:
        check_folder(chosen.directory, 'directory')


def _check_recorder(parameters: Parameters) -> None:
    if parameters.get('enabled', True):
        check_folder(parameters['directory'], 'directory')


def _check_device(identity: str, parameters: Parameters) -> None:
    """Of a device of LeRobot: its calibration file, in a folder that is named."""
    if parameters.get('host'):  # a Franka arm has no such file
        _require('franky', 'franka')
        return
    folder = parameters.get('calibration_dir', '')
    path = Path(folder) / f'{parameters[identity]}.json'
    if folder and not path.is_file():
        raise SetupError(f'there is no calibration file {path}, of {identity} in calibration_dir')


def _check_world(_: Parameters) -> None:
    _require('franky_sim', 'franka-sim')


def _require(module: str, extra: str) -> None:
    """Raises MissingExtraError without a module that an extra brings."""
    if importlib.util.find_spec(module) is None:
        raise MissingExtraError(f'there is no module {module!r}: {install_hint(extra)}')


CHECKS: dict[str, Callable[[Parameters], None]] = {
    'policy': _check_policy,
    'metrics': _check_metrics,
    'contact': _check_contact,
    'proximity': _check_obstacles,
    'markers': _check_obstacles,
    'monitor': _check_monitor,
    'scene_overlay': _check_scenes,
    'episode_recorder': _check_recorder,
    'franky_world': _check_world,
    'robot_driver': partial(_check_device, 'robot_id'),
    'teleoperator': partial(_check_device, 'teleoperator_id'),
}
