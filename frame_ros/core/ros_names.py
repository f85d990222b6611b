# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""ROS names, and ROS 2 command lines for messages; the wheels bring no `ros2` command."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Mapping

from frame_ros.core.errors import SetupError
from frame_ros.core.options import option, options, rule

NAMESPACE = re.compile(r'/?([A-Za-z_]\w*(/[A-Za-z_]\w*)*)?/?', re.ASCII)


def check_namespace(text: str) -> None:
    """Checks a namespace, which may be empty.

    Raises:
        SetupError: ROS refuses it.
    """
    if not NAMESPACE.fullmatch(text) or '__' in text:
        raise SetupError(
            f'{text!r} is not a valid ROS namespace; it must be words of letters, digits and _, '
            'such as left or cell_1/left'
        )


@options
class NamespaceOptions:
    """The namespace of a robot."""

    namespace: str | None = option('', "the robot's namespace")

    @rule('namespace', 'a ROS namespace')
    def _has_namespace(self) -> bool:
        check_namespace(self.namespace or '')
        return True


def has_ros2() -> bool:
    """Returns whether the command `ros2` exists."""
    return shutil.which('ros2') is not None


def node_command(executable: str, parameters: Mapping[str, object]) -> str:
    """Returns the command line that runs one of our nodes with these parameters."""
    start = (
        f'ros2 run frame_ros {executable}'
        if has_ros2()
        else f'python -m frame_ros.nodes.{executable}'
    )
    given = [shlex.quote(f'{name}:={value}') for name, value in parameters.items()]
    return ' '.join([start, '--ros-args', *(f'-p {text}' for text in given)])


def commands_on_bags(folder: str, bag: str) -> list[str]:
    """Returns commands to inspect the bags of a folder, of which `bag` is one."""
    report = f'frame-ros report {shlex.quote(folder)}'
    return [f'ros2 bag info {shlex.quote(bag)}', report] if has_ros2() else [report]
