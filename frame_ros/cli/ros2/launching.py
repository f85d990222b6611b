# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Launch actions of the table of processes, for all launch files."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.logging import get_logger
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.parameter_yaml import described
from frame_ros.bringup.process_table import Process, arm_environment, watching_environment
from frame_ros.bringup.run_checks import check_run
from frame_ros.bringup.run_options import RunOptions
from frame_ros.core.option_texts import BOOLEANS, from_texts, text_of
from frame_ros.core.options import Option, check_names, walk
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

Options = TypeVar('Options', bound=RunOptions)
OF_LAUNCH = ('launch-prefix', 'launch-prefix-filter')  # what `ros2 launch` appends
RESPAWN_DELAY = 2.0  # s before a monitor that has failed is started again
RESPAWN_TRIES = 5  # one that cannot start, for a wrong parameter say, is given up


def launch_description(
    kind: type[Options],
    table: Callable[[Options], list[Process]],
    environment: Callable[[Mapping[str, str]], dict[str, str]] = arm_environment,
) -> LaunchDescription:
    """Returns the description of a launch file: an argument per option, then the processes.

    environment: what they get in addition to the variables that are set. By default nothing about
    the network, for arms whose driver may run on another machine; the demo's keeps to this one.
    """
    declared = walk(kind)
    given: set[str] = set()

    def note_given(context: LaunchContext) -> None:
        """Notes the arguments that are set before the defaults are."""
        _check_typed(context, [option.name for option in declared])
        given.update(context.launch_configurations)

    def actions(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """Returns actions for the processes of the table, and for the end of the launch."""
        texts = {o.name: LaunchConfiguration(o.name).perform(context) for o in declared}
        options = from_texts(kind(given=frozenset(given)), texts)
        processes = table(options)
        check_run(processes)
        additions = environment(context.environment)
        return [
            *(SetEnvironmentVariable(name, value) for name, value in additions.items()),
            *process_actions(processes, options.namespace, {**context.environment, **additions}),
        ]

    return LaunchDescription(
        [
            OpaqueFunction(function=note_given),
            *map(argument, declared),
            OpaqueFunction(function=actions),
        ]
    )


def _check_typed(context: LaunchContext, known: Sequence[str]) -> None:
    """Refuses what `ros2 launch frame_ros FILE` was given and no argument is called; the arguments
    of a launch file that includes ours are its own.

    Raises:
        OptionError: there is such an argument; it names the nearest one.
    """
    if 'frame_ros' in sys.argv:
        typed = [text.partition(':=')[0] for text in context.argv]
        check_names(typed, [*known, *OF_LAUNCH], 'launch argument')


def arm_preset(file: Path, robot: str) -> LaunchDescription:
    """Returns a launch file of an arm with another default robot, whose driver a bare URDF has."""
    of_robot = [option for option in walk(ArmOptions) if option.name in ('robot', 'topics_of')]
    return LaunchDescription(
        [
            *(argument(replace(option, default=robot)) for option in of_robot),
            IncludeLaunchDescription(PythonLaunchDescriptionSource(str(file))),
        ]
    )


def argument(option: Option) -> DeclareLaunchArgument:
    """Returns the launch argument of an option."""
    choices = BOOLEANS if option.kind is bool else () if option.is_list else option.choices
    return DeclareLaunchArgument(
        option.name,
        default_value=text_of(option.default),
        description=_description(option) if not choices else option.help,  # launch appends them
        choices=list(choices) or None,
    )


def _description(option: Option) -> str:
    form = '; a YAML list' if option.is_list else '; a YAML mapping, or a file of one'
    return described(option) + (form if option.is_list or option.is_mapping else '')


def process_actions(
    processes: list[Process], namespace: str, environ: Mapping[str, str]
) -> list[LaunchDescriptionEntity]:
    """Returns a node action per process, all with the environment `environ`.

    A table with an essential process is a run that ends: with that process, or when one fails, as
    under the supervisor. Beside a real arm the others go on when one fails.
    """
    is_run = any(process.is_essential for process in processes)
    actions: list[LaunchDescriptionEntity] = []
    for process in processes:
        node = node_action(process, namespace, environ)
        if is_run and not process.may_end:
            actions.append(RegisterEventHandler(_end_with(process, node)))
        if process.can_respawn:
            actions.append(RegisterEventHandler(_give_up(process, node)))
        actions.append(node)
    return actions


def _end_with(process: Process, node: Node) -> OnProcessExit:
    def on_exit(event: ProcessExited, _: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if event.returncode == 0 and not process.is_essential:
            return None
        return [Shutdown(reason=f'{process.name} ended with exit code {event.returncode}')]

    return OnProcessExit(target_action=node, on_exit=on_exit)


def _give_up(process: Process, node: Node) -> OnProcessExit:
    """Reports a monitor that is started no more; launch itself says nothing of it."""
    most, ends = RESPAWN_TRIES + 1, itertools.count(1)

    def on_exit(_: ProcessExited, context: LaunchContext) -> None:
        if next(ends) == most and not context.is_shutdown:
            get_logger('launch').error(
                f'{process.name} has ended {most} times and is not started again; its messages '
                'above say why'
            )

    return OnProcessExit(target_action=node, on_exit=on_exit)


def node_action(process: Process, namespace: str, environ: Mapping[str, str]) -> Node:
    """Returns the launch action of a process."""
    files = [str(process.config)] if process.config is not None else []
    values = [dict(process.parameters)] if process.parameters else []
    return Node(
        package=process.package,
        executable=process.executable,
        name=process.name,
        namespace=namespace,
        arguments=list(process.extra),
        parameters=files + values,
        remappings=list(process.remappings.items()),
        ros_arguments=process.log_arguments,
        respawn=process.can_respawn,
        respawn_delay=RESPAWN_DELAY if process.can_respawn else None,
        respawn_max_retries=RESPAWN_TRIES,
        additional_env=watching_environment(process, environ),
        output='screen',
    )
