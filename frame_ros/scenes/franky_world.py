# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An FR3 that speaks the real arm's protocol, with the task's cube and bin before it: franky-sim.

Its physics, meshes, masses and friction are those of franky-sim; ours are the objects and the pace.
It reports no contact or collision and no external wrench, knows no reflex, and calls its whole
joint torque, weight and friction included, the external one.

    python -m frame_ros.scenes.franky_world 127.0.0.2

serves the arm alone; a line on its standard input is an order: `reflex`, `report`, or `watch` with
a process and a thread of it, the one that answers the arm.
"""

from __future__ import annotations

import json
import math
import select
import sys
import time
from dataclasses import asdict, dataclass
from typing import Any
from xml.etree.ElementTree import SubElement

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.engine import load_mujoco
from frame_ros.core.errors import MissingExtraError, SetupError, install_hint
from frame_ros.core.thread_priority import raise_priority
from frame_ros.robots.simulated import Worktable
from frame_ros.scenes.core_watch import CoreWatch, LostAnswers
from frame_ros.scenes.generation.layout import draw_layout
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.simulation.task import PlacementTask, TaskState

Array = NDArray[np.float64]
ROBOT = 'fr3'
TICK = 0.001  # s
PRIORITY = 48  # of an arm that is served alone: no arm waits for a computer
ON_TIME = 0.9 * TICK  # s that the client had at least, where a missing command counts as its own
FAR_BEHIND = 0.02  # s behind the clock from which time is given up
# An arm is at rest that moves less than this, rad, in so many ticks. By the positions: franky-sim's
# velocities chatter by 0.1 rad/s in an arm that stands.
STILL, WINDOW = 4e-4, 20
FRICTION = ('1.0 0.02 0.0005', '0.8 0.01 0.0002')  # of the cube and of the bin


@dataclass
class WorldCounts:
    """Since the start.

    Attributes:
        ticks: of 1 ms.
        given_up: s by which the world fell behind the clock.
        in_motion: ticks for which a motion asked for a command.
        missing: of these, without one.
        missing_in_time: of these again, where the client had had its whole millisecond.
    """

    ticks: int = 0
    given_up: float = 0.0
    in_motion: int = 0
    missing: int = 0
    missing_in_time: int = 0


class FrankyWorld:
    """An FR3 at `host`, a loopback address. For one thread, which calls `step` again and again.

    Attributes:
        counts: of ticks and commands. watch: of the thread that answers the arm.
        lost: the commands that did not come, of a client that had had its whole millisecond, where
            its thread is watched.
        rest_time: s of time.monotonic() since when the arm has been at rest; infinite: it moves.
    """

    def __init__(
        self, host: str, has_task: bool = True, seed: int = 0, patience: float = 0.0
    ) -> None:
        """has_task: with a cube and a bin, as `seed` draws them. patience: s for which a tick waits
        for a command that is late, as no arm does; the time is given up.

        Raises:
            MissingExtraError: franky-sim is not installed. SetupError: the address is taken.
        """
        load_mujoco()
        try:
            import franky_sim
            from franky_sim.mujoco_simulator import MujocoSimulator
        except ImportError as error:
            raise MissingExtraError(
                f'a simulated FR3 by its protocol needs franky-sim: {error}: '
                + install_hint('franka-sim')
            ) from error
        robot = scene_robot(ROBOT)
        self._table = robot.table
        self._simulator: Any = MujocoSimulator()
        self._simulator.init()
        self._robot = self._simulator.add_robot(initial_q=robot.home[:-1], initial_hand_width=0.08)
        if has_task:
            _add_task(self._simulator.worldbody, self._table)
        self._server: Any = franky_sim.SimulationServer(self._simulator, hostname_candidates=[host])
        try:
            self._server.init()
        except OSError as error:
            raise SetupError(f'no FR3 can be served at {host}: {error}') from error
        self._fci = self._server.robot_servers[0]
        self._has_command, self._patience = False, patience
        self._receive = self._fci._handle_udp_command
        self._fci._handle_udp_command = self._note_command
        self._task: PlacementTask | None = None
        self._next, self._sent_at = time.monotonic(), -math.inf
        self.counts, self.watch = WorldCounts(), CoreWatch()
        self.lost: list[LostAnswers] = []
        self._stood = np.array(self._robot.inner_state.q)
        self.rest_time = time.monotonic()
        if has_task:
            model = self._simulator.model
            self._task = PlacementTask(model, self._table)
            self._cube = model.geom('cube').id
            names = ('ground', *self._table.bin_parts())
            self._rest = {model.geom(name).id for name in names}  # that is no robot
            self.reset(seed)

    def reset(self, seed: int) -> None:
        """Puts the cube and the bin where `seed` draws them; the arm stays where it is.

        Raises:
            ValueRangeError: the seed is negative.
        """
        assert self._task is not None
        layout, data = draw_layout(seed, self._table), self._simulator.data
        joint = self._simulator.model.joint('cube_free')
        at, dof = int(joint.qposadr[0]), int(joint.dofadr[0])
        data.qpos[at : at + 3] = layout.target.position
        data.qpos[at + 3 : at + 7] = _about_vertical(layout.target.yaw)
        data.qvel[dof : dof + 6] = 0.0
        data.mocap_pos[0], data.mocap_quat[0] = layout.bin.position, _about_vertical(layout.bin.yaw)
        self._task.reset()

    def restart_task(self) -> None:
        """Judges the task from now on."""
        if self._task is not None:
            self._task.reset()

    @property
    def task_state(self) -> TaskState:
        """State of the task."""
        return TaskState.RUNNING if self._task is None else self._task.state

    def object_pose(self) -> Array:
        """(7,) of the cube in the base: m, quaternion xyzw."""
        return self._pose('cube')

    def goal_pose(self) -> Array:
        """(7,) of the bin in the base: m, quaternion xyzw."""
        return self._pose('bin')

    def joint_torques(self) -> Array:
        """(7,) N m, as the arm reports them."""
        return np.array(self._robot.inner_state.tau_j)

    def step(self) -> None:
        """Waits for the next millisecond and makes it."""
        self._wait()
        had = time.monotonic() - self._sent_at
        self._has_command = False
        self._await_command()
        self._fci.process_commands()
        self._count(had)
        self._simulator.step()
        self.watch.ask()
        self._fci.send_state()
        self._sent_at = time.monotonic()
        self.counts.ticks += 1
        self._look_for_rest()
        if self._task is not None:
            self._task.update(self._simulator.data, self._is_cube_touched())

    def abort(self) -> None:
        """Ends the motion as a reflex would; the protocol says so to the client."""
        from franky_sim.franka_robot_protocol import MoveStatus, RobotCommand
        from franky_sim.franka_server import BaseCommand

        motion = self._fci.current_motion_id
        self._fci.stop_motion(send_preemption_signal=False)
        if motion:
            BaseCommand.send_response(
                self._fci._tcp_socket, RobotCommand.kMove, motion, MoveStatus.kReflexAborted
            )
            self._fci.reset_current_motion_id()

    def close(self) -> None:
        """Closes the ports."""
        self.watch.close()
        self._server.cleanup()
        self._simulator.cleanup()

    def _wait(self) -> None:
        left = self._next - time.monotonic()
        if left > 0.0:
            time.sleep(left)
        elif left < -FAR_BEHIND:
            self.counts.given_up -= left
            self._next = time.monotonic()
        self._next += TICK

    def _await_command(self) -> None:
        if self._patience and self._fci.current_motion_id and self._fci.udp_connected:
            commands = self._fci._FrankaServer__udp_socket
            select.select([commands], [], [], self._patience)

    def _note_command(self, data: bytes) -> None:
        self._has_command = True
        self._receive(data)

    def _count(self, had: float) -> None:
        """had: s that the client had since the state before."""
        if not self._fci.current_motion_id:
            self.watch.forget()
            return
        counts = self.counts
        counts.in_motion += 1
        if self._has_command:
            lost = self.watch.answered()
            if lost is not None:
                self.lost.append(lost)
            return
        counts.missing += 1
        if had >= ON_TIME:
            counts.missing_in_time += 1
            self.watch.lose()

    def _look_for_rest(self) -> None:
        if self.counts.ticks % WINDOW:
            return
        before, self._stood = self._stood, np.array(self._robot.inner_state.q)
        if np.abs(self._stood - before).max() > STILL:
            self.rest_time = math.inf
        elif math.isinf(self.rest_time):
            self.rest_time = time.monotonic()

    def _is_cube_touched(self) -> bool:
        data = self._simulator.data
        pairs = data.contact.geom[: data.ncon].tolist()
        return any(self._cube in pair and not self._rest & {*pair} for pair in pairs)

    def _pose(self, body: str) -> Array:
        found = self._simulator.data.body(body)
        return np.concatenate((found.xpos, np.roll(found.xquat, -1)))


def _add_task(world: Any, table: Worktable) -> None:
    """Appends the cube and the bin, a mocap body, to an MJCF world."""
    cube = SubElement(world, 'body', name='cube', pos='0.5 0 0.1')
    SubElement(cube, 'freejoint', name='cube_free')
    half = table.cube_size / 2
    SubElement(
        cube, 'geom', name='cube', type='box', size=_text(half, half, half),
        mass=str(table.cube_mass), condim='4', friction=FRICTION[0], solref='0.005 1',
        rgba='0.82 0.16 0.14 1',
    )  # fmt: skip
    bin_ = SubElement(world, 'body', name='bin', mocap='true')
    for name, (size, at) in table.bin_parts().items():
        SubElement(
            bin_, 'geom', name=name, type='box', size=_text(*size), pos=_text(*at),
            friction=FRICTION[1], rgba='0.30 0.36 0.42 1',
        )  # fmt: skip


def _text(*values: float) -> str:
    return ' '.join(map(str, values))


def _about_vertical(yaw: float) -> tuple[float, float, float, float]:
    return (math.cos(yaw / 2), 0.0, 0.0, math.sin(yaw / 2))


def _obey(world: FrankyWorld, order: str) -> None:
    if order == 'reflex':
        world.abort()
    elif order == 'report':
        found = asdict(world.counts) | {
            'rest_time': world.rest_time,
            'torques': world.joint_torques().tolist(),
            'lost': [each._asdict() for each in world.lost],
        }
        print(json.dumps(found), flush=True)
    elif order.startswith('watch '):
        process, thread = order.split()[1:]
        world.watch.watch(int(process), int(thread))
        print('watched', flush=True)
    else:
        raise SetupError(f'the order is {order!r}; known: reflex, report, watch')


def main() -> None:
    """Serves an arm without a task until its standard input ends. Arguments: its address, and its
    patience in s.
    """
    patience = float(sys.argv[2]) if len(sys.argv) > 2 else 0.0
    world = FrankyWorld(sys.argv[1], has_task=False, patience=patience)
    raise_priority(PRIORITY)
    print(f'an FR3 is at {sys.argv[1]}', flush=True)
    while True:
        world.step()
        if world.counts.ticks % 10 == 0 and select.select([sys.stdin], [], [], 0.0)[0]:
            order = sys.stdin.readline()
            if not order:
                break
            _obey(world, order.strip())
    world.close()


if __name__ == '__main__':
    main()
