# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One node in a process of its own: its command line, its environment, and where its files are.

It imports no ROS.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from frame_ros.bringup.demo_robots import Value
from frame_ros.core.errors import SetupError
from frame_ros.core.shared_files import share_directory

# One thread per numeric library, headless rendering; where the middleware crashes, the log has the
# threads' tracebacks.
ENVIRONMENT = {'OMP_NUM_THREADS': '1', 'MUJOCO_GL': 'egl', 'PYTHONFAULTHANDLER': '1'}
# Which file rmw_fastrtps reads at start; others do not look at them.
PROFILES = ('FASTRTPS_DEFAULT_PROFILES_FILE', 'FASTDDS_DEFAULT_PROFILES_FILE')
# What it uses where no profile is set, and without shared memory.
TRANSPORTS, SOCKETS = 'FASTDDS_BUILTIN_TRANSPORTS', 'UDPv4'
# Who looks for whom; what our profile for watching says itself.
RANGE, LOCALHOST, AS_IN_PROFILE = 'ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST', 'SYSTEM_DEFAULT'
# What a socket may keep, and what it must for images, bytes; as in our profile for watching.
RECEIVE_BUFFER, IMAGE_BYTES = Path('/proc/sys/net/core/rmem_max'), 4_194_304
# Our profiles: of what moves the arm or makes images, and of what only watches.
MOVING, WATCHING = 'fastdds_loopback.xml', 'fastdds_watching.xml'


@dataclass(frozen=True)
class Process:
    """One node in a process of its own.

    name: the node's name. executable: as in `ros2 run <package> <executable>`. parameters: what
    differs from the node's own file of defaults, `config`. remappings: topic name -> the name to
    use instead. extra: arguments before those of ROS. is_lifecycle: the node is managed; it
    configures and activates itself, by its parameter `autostart`.
    is_essential: when it ends well, the run is over. may_end: it may end without ending the run.
    log_level: least severity that it logs. can_respawn: it only watches, so that it may be started
    again when it has failed. only_watches: the arm moves without it. takes_images: as they are.
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
    log_level: str = 'info'
    can_respawn: bool = False
    only_watches: bool = False
    takes_images: bool = False

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
        return [*arguments, *self.log_arguments]

    @property
    def log_arguments(self) -> list[str]:
        """ROS arguments that set the severity; empty: the default."""
        return [] if self.log_level == 'info' else ['--log-level', self.log_level]


def watching_environment(process: Process, environ: Mapping[str, str]) -> dict[str, str]:
    """Returns a process's variables in addition to `environ`: without shared memory if it only
    watches.

    On Fast DDS 2 and 3 every sender to a process by shared memory takes its lock, and waits a
    second for it if the process was killed meanwhile. With the discovery range LOCALHOST
    rmw_fastrtps adds shared memory to any setting, so our profile for watching finds the others
    itself. A profile of the user's own is left alone. Processes that take images keep shared memory
    where sockets may not hold them.
    """
    if not process.only_watches or (process.takes_images and not _sockets_hold_images()):
        return {}
    is_local = environ.get(RANGE) == LOCALHOST
    chosen = {name: environ[name] for name in PROFILES if environ.get(name)}
    if not chosen:
        if TRANSPORTS in environ:
            return {}
        if not is_local:
            return {TRANSPORTS: SOCKETS}
        chosen = dict.fromkeys(PROFILES, str(share_directory() / 'config' / MOVING))
    ours = {
        name: str(Path(path).with_name(WATCHING))
        for name, path in chosen.items()
        if Path(path).name == MOVING and Path(path).with_name(WATCHING).is_file()
    }
    return {**ours, RANGE: AS_IN_PROFILE} if ours and is_local else ours


def _sockets_hold_images() -> bool:
    """True if the kernel lets a socket keep the images of a tenth of a second."""
    try:
        return int(RECEIVE_BUFFER.read_text()) >= IMAGE_BYTES
    except (OSError, ValueError):
        return False


def arm_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of processes with a real arm, where `environ` has not set them.

    Nothing about the network: the arm's driver may run on another machine.
    """
    return {name: value for name, value in ENVIRONMENT.items() if name not in environ}


def demo_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of the demo's processes, where `environ` has not set them.

    They are the same under the supervisor and `ros2 launch`: an arm's, discovery on this machine
    only, and with rmw_fastrtps the profile for one machine (UDP on 127.0.0.1, images through shared
    memory), unless a profile is set.
    """
    additions = arm_environment(environ)
    if RANGE not in environ:
        additions[RANGE] = LOCALHOST
    if not any(environ.get(name) for name in PROFILES):
        profile = str(share_directory() / 'config' / MOVING)
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


def absolute(path: str | os.PathLike[str]) -> str:
    """The path as the started process, whose working folder may differ, must see it."""
    return str(Path(path).expanduser().resolve())
