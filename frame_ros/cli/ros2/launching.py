# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The table of processes as launch actions: what the launch files share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import Field, fields
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
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.option_fields import default_of
from frame_ros.bringup.option_text import settings_from_text
from frame_ros.bringup.process_table import Process, arm_environment, watching_environment
from frame_ros.bringup.run_checks import check_run
from frame_ros.bringup.run_options import RunOptions
from frame_ros.core.option_texts import BOOLEANS, text_of
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

Options = TypeVar('Options', bound=RunOptions)
RESPAWN_DELAY = 2.0  # s before a monitor that has failed is started again
RESPAWN_TRIES = 5  # one that cannot start, for a wrong parameter say, is given up


def launch_description(
    kind: type[Options],
    table: Callable[[Options], list[Process]],
    environment: Callable[[Mapping[str, str]], dict[str, str]] = arm_environment,
) -> LaunchDescription:
    """A launch file's description: one argument per setting, then the table's processes.

    environment: what they get in addition to the variables that are set. By default nothing about
    the network, for arms whose driver may run on another machine; the demo's keeps to this one.
    """
    names = [setting.name for setting in fields(kind)]

    def actions(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        """The processes of the table for the arguments given, and what ends the launch."""
        texts = {name: LaunchConfiguration(name).perform(context) for name in names}
        settings = settings_from_text(kind, texts)
        processes = table(settings)
        check_run(processes)
        additions = environment(context.environment)
        return [
            *(SetEnvironmentVariable(name, value) for name, value in additions.items()),
            *process_actions(processes, settings.namespace, {**context.environment, **additions}),
        ]

    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(
                    setting.name,
                    default_value=text_of(default_of(setting)),
                    description=setting.metadata['help'],
                    choices=choices_of(setting),
                )
                for setting in fields(kind)
            ),
            OpaqueFunction(function=actions),
        ]
    )


def arm_preset(file: Path, robot: str) -> LaunchDescription:
    """The launch file of an arm with another default robot, whose driver a URDF alone has too."""
    of = ArmOptions.__dataclass_fields__
    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(
                    name, default_value=robot, description=of[name].metadata['help']
                )
                for name in ('robot', 'topics_of')
            ),
            IncludeLaunchDescription(PythonLaunchDescriptionSource(str(file))),
        ]
    )


def choices_of(setting: Field) -> list[str] | None:
    """Every text that an argument can have; None: there is no such list."""
    if isinstance(default_of(setting), bool):
        return list(BOOLEANS)
    return list(setting.metadata['choices']) or None


def process_actions(
    processes: list[Process], namespace: str, environ: Mapping[str, str]
) -> list[LaunchDescriptionEntity]:
    """A node action per process; all of them have `environ`.

    A table with an essential process is a run that ends: with that process, or when one fails, as
    under the supervisor. Beside a real arm the others go on when one fails.
    """
    is_run = any(process.is_essential for process in processes)
    actions: list[LaunchDescriptionEntity] = []
    for process in processes:
        node = node_action(process, namespace, environ)
        if is_run and not process.may_end:
            actions.append(RegisterEventHandler(_end_with(process, node)))
        actions.append(node)
    return actions


def _end_with(process: Process, node: Node) -> OnProcessExit:
    def on_exit(event: ProcessExited, _: LaunchContext) -> list[LaunchDescriptionEntity] | None:
        if event.returncode == 0 and not process.is_essential:
            return None
        return [Shutdown(reason=f'{process.name} ended with exit code {event.returncode}')]

    return OnProcessExit(target_action=node, on_exit=on_exit)


def node_action(process: Process, namespace: str, environ: Mapping[str, str]) -> Node:
    """One process of the table as a launch action."""
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
