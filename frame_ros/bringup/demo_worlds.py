# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The worlds that the demo's robots are in: the processes that are the robot and its surroundings,
and what of them can be sensed.

A world is chosen by the name of its robot; one more is one more entry of `WORLDS`. It imports no
ROS.
"""

from __future__ import annotations

import random
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache

from frame_ros.bringup.demo_robots import Parameters
from frame_ros.bringup.node_process import Process
from frame_ros.core.errors import SetupError
from frame_ros.robots.profiles import simulated_robots

IMAGES = ('front', 'wrist')  # cameras of the simulator
FCI_PORT = 1337  # TCP port of an arm by its control interface


@dataclass(frozen=True)
class DemoWorld:
    """One world.

    Attributes:
        robot: the robot's profile, by name or file.
        processes: makes the processes that are the robot and its surroundings.
        cameras: names.
        senses: nodes that sense contact and distance there.
        has_truth: true contact and distance are published.
        has_viewer: it can show itself in a window.
        text: what it is, for those who read what has been started; empty: only the robot.
        parameters: node -> its parameters where they are not those of the simulated robot.
    """

    robot: str
    processes: Callable[[], list[Process]]
    cameras: tuple[str, ...] = ()
    senses: tuple[str, ...] = ()
    has_truth: bool = False
    has_viewer: bool = False
    text: str = ''
    parameters: Mapping[str, Parameters] = field(default_factory=dict)


def own_scene(robot: str) -> DemoWorld:
    """The package's own simulator with a robot whose profile has a simulation."""
    return DemoWorld(
        robot,
        lambda: [Process('simulator', 'simulator')],
        cameras=IMAGES,
        senses=('contact', 'proximity'),
        has_truth=True,
        has_viewer=True,
    )


def _franky_processes() -> list[Process]:
    """franky-sim, and the driver that a real arm has, at an address of their own."""
    host = free_host()
    return [
        Process('franky_world', 'franky_world', {'host': host}),
        Process('robot_driver', 'robot_driver', {'host': host}, is_lifecycle=True),
    ]


# What franky-sim calls the external torque is the whole torque of its motors, and its external
# wrench and its flags are always zero: none of them is evidence, so they are not published, and
# nothing senses contact there.
FRANKY = DemoWorld(
    'fr3',
    _franky_processes,
    text='franky-sim by the Franka Control Interface',
    parameters={
        'franky_world': {'patience': 0.1},
        # No kilohertz for everybody on two cores, as with our simulator. franky-sim does not need
        # a realtime kernel, and a busy machine may keep its answers waiting.
        'robot_driver': {
            'fci.realtime': 'ignore', 'fci.rate': 100.0, 'fci.estimates_rate': 0.0,
            'fci.dynamics': 0.8, 'fci.answer_timeout': 5.0, 'fci.connect_timeout': 30.0,
            'command_timeout': 1.0,
        },
    },
)  # fmt: skip

WORLDS: Mapping[str, DemoWorld] = {'fr3-fci': FRANKY}


def demo_names() -> tuple[str, ...]:
    """The names by which the demo knows robots in their worlds."""
    return (*simulated_robots(), *WORLDS)


def world_of(name: str) -> DemoWorld:
    """The world of a robot by the name that the demo was given."""
    return WORLDS.get(name) or own_scene(name)


@cache
def free_host() -> str:
    """A loopback address at which no arm answers, the same in all of a process.

    Raises:
        SetupError: there is none.
    """
    for _ in range(100):
        draw = random.SystemRandom().randrange
        host = f'127.{draw(1, 255)}.{draw(256)}.{draw(1, 255)}'
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
            try:
                probe.bind((host, FCI_PORT))
            except OSError:
                continue
            return host
    raise SetupError(
        f'no loopback address has its TCP port {FCI_PORT} free, which a simulated Franka arm needs'
    )
