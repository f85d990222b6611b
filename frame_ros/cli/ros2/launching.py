# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The table of processes as launch actions: what the launch files share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

from launch.actions import (
    DeclareLaunchArgument,
    OpaqueFunction,
    RegisterEventHandler,
    SetEnvironmentVariable,
    Shutdown,
)
from launch.event_handlers import OnProcessExit
from launch.substitutions import EnvironmentVariable, LaunchConfiguration
from launch_ros.actions import Node

from frame_ros.nodes.processes import (
    ENVIRONMENT,
    Process,
    share_directory,
)
from frame_ros.nodes.settings import Settings, settings_from_text, text_of
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

TF = [('/tf', 'tf'), ('/tf_static', 'tf_static')]


def launch_description(
    kind: type[Settings], table: Callable[[Settings], list[Process]]
) -> LaunchDescription:
    """A launch file's description: one argument per setting, the table's processes, RViz."""
    names = [setting.name for setting in fields(kind)]

    def actions(context: LaunchContext) -> list[LaunchDescriptionEntity]:
        texts = {name: LaunchConfiguration(name).perform(context) for name in names}
        settings = settings_from_text(kind, texts)
        shown = rviz_actions(settings) if settings.rviz else []
        return [*process_actions(table(settings), settings.namespace), *shown]

    return LaunchDescription(
        [
            *(
                DeclareLaunchArgument(
                    setting.name,
                    default_value=text_of(setting.default),
                    description=setting.metadata['help'],
                )
                for setting in fields(kind)
            ),
            *(
                SetEnvironmentVariable(name, EnvironmentVariable(name, default_value=value))
                for name, value in ENVIRONMENT.items()
            ),
            OpaqueFunction(function=actions),
        ]
    )


def process_actions(processes: list[Process], namespace: str) -> list[LaunchDescriptionEntity]:
    """A node action per process; the launch shuts down when an essential one ends."""
    actions: list[LaunchDescriptionEntity] = []
    for process in processes:
        node = node_action(process, namespace)
        if process.is_essential:
            end = Shutdown(reason=f'{process.name} has ended')
            actions.append(RegisterEventHandler(OnProcessExit(target_action=node, on_exit=[end])))
        actions.append(node)
    return actions


def node_action(process: Process, namespace: str) -> Node:
    """One process of the table as a launch action."""
    files = [str(process.config)] if process.config.is_file() else []
    values = [dict(process.parameters)] if process.parameters else []
    return Node(
        package='frame_ros',
        executable=process.executable,
        name=process.name,
        namespace=namespace,
        parameters=files + values,
        remappings=list(process.remappings.items()),
        output='screen',
    )


def rviz_actions(settings: Settings) -> list[LaunchDescriptionEntity]:
    """RViz and the robot_state_publisher it needs; their transforms stay in the namespace."""
    share = share_directory()
    urdf = share / 'urdf' / f'{settings.robot}.urdf'
    remappings = [*TF, *settings.remappings().items()]
    return [
        Node(
            package='robot_state_publisher',
            executable='robot_state_publisher',
            namespace=settings.namespace,
            parameters=[{'robot_description': Path(urdf).read_text()}],
            remappings=remappings,
        ),
        Node(
            package='rviz2',
            executable='rviz2',
            name='rviz',
            namespace=settings.namespace,
            arguments=['-d', str(share / 'rviz' / 'frame_ros.rviz'), '-f', settings.base_frame],
            remappings=remappings,
        ),
    ]
