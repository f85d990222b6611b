# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros simulate-so101`: an SO-101's servos behind a serial port, to try drivers without
an arm.
"""

from __future__ import annotations

import argparse
import math
import re
import select
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import output_folder, output_link
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options, rule
from frame_ros.core.output_files import make_folder
from frame_ros.core.ros_names import node_command

if TYPE_CHECKING:
    from frame_ros.hardware.feetech.emulator.bus import SimulatedBus
    from frame_ros.scenes import PickPlaceSimulation
    from frame_ros.scenes.simulation.so101_servos import SimulatedSo101

PERIOD = 0.02  # s between two looks at the input, and of the leader's hand
LEADER_SWING, LEADER_PERIOD = 0.25, 8.0  # rad and s of the hand that moves a leader
HELP = """unplug | plug           the USB cable
power                   all servos off and on again
silence ID | answer     the cable of a servo comes off | all are on again
corrupt N               the next N answers have a wrong checksum
block JOINT LOW HIGH    an obstacle: the joint stays within, rad
hand P1 ... P6 | hand   a hand holds the arm there while it has no torque | lets it go
show                    where the joints are, rad, and what the motors draw, A
quit"""


@options
class SimulatedArmOptions:
    """A simulated arm behind a serial port."""

    id: str = option('simulated', 'the id of the arm')
    is_leader: bool = option(False, 'a leader arm, which a hand moves to and fro')
    scene: int | None = option(
        None,
        'seed of a simulated scene, with the contacts of its arm; none: servos alone',
        at_least=0,
    )

    @rule('id', 'letters, digits, -, _ and .')
    def _is_file_name(self) -> bool:
        return re.fullmatch(r'[\w-][\w.-]*', self.id) is not None

    @rule('scene', 'not given with --leader: a scene has a follower')
    def _has_one_arm(self) -> bool:
        return not self.is_leader or self.scene is None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        '--link',
        metavar='PATH',
        help='a symbolic link to the port, which stays the same',
        type=output_link,
    )
    parser.add_argument(
        '--calibration-dir',
        metavar='DIR',
        default='runs/simulated-so101',
        help='where the calibration file <id>.json is written',
        type=output_folder,
    )
    add_options(parser, SimulatedArmOptions)


def run(args: argparse.Namespace) -> int:
    """Runs until `quit`, Ctrl-C or SIGTERM.

    Raises:
        SetupError: the link is a file of another kind, or its folder cannot be made.
        MissingExtraError: --scene without mujoco.
    """
    from frame_ros.hardware.feetech.emulator.bus import SimulatedBus
    from frame_ros.scenes.simulation.so101_servos import SimulatedSo101

    options = from_arguments(SimulatedArmOptions, args)
    if args.link:
        make_folder(Path(args.link).parent, 'the folder of the link')
    arm = SimulatedSo101(scene=_scene(options.scene))
    calibration = arm.write_calibration(Path(args.calibration_dir), options.id).resolve()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with SimulatedBus(arm.servos, arm.advance, args.link) as bus:
        _print_start(bus.port, calibration, options.is_leader)
        try:
            _loop(bus, arm, options.is_leader)
        except KeyboardInterrupt:
            print()
    return 0


def _scene(seed: int | None) -> PickPlaceSimulation | None:
    if seed is None:
        return None
    from frame_ros.scenes import PickPlaceSimulation

    return PickPlaceSimulation(seed)


def _print_start(port: str, calibration: Path, is_leader: bool) -> None:
    node, name = ('teleoperator', 'teleoperator_id') if is_leader else ('robot_driver', 'robot_id')
    print(f'port:        {port}')
    print(f'calibration: {calibration}')
    parameters = {'port': port, name: calibration.stem, 'calibration_dir': calibration.parent}
    print(f'drive it:    {node_command(node, parameters)}')
    print('type help for the faults to simulate, quit to end', flush=True)


def _loop(bus: SimulatedBus, arm: SimulatedSo101, is_leader: bool) -> None:
    began, home = time.monotonic(), arm.positions.tolist()
    is_open = True
    while True:
        if is_leader:
            swing = LEADER_SWING * math.sin(
                2.0 * math.pi * (time.monotonic() - began) / LEADER_PERIOD
            )
            arm.hand = [position + swing for position in home]
        if not is_open:
            time.sleep(PERIOD)
        elif select.select([sys.stdin], [], [], PERIOD)[0]:
            line = sys.stdin.readline()
            is_open = bool(line)
            if line.strip() == 'quit':
                return
            _do(bus, arm, line.split())


def _do(bus: SimulatedBus, arm: SimulatedSo101, words: list[str]) -> None:
    """Carries out a line of the input; a wrong one is reported, and changes nothing."""
    if not words:
        return
    name, texts = words[0], words[1:]
    actions: dict[str, Callable[..., object]] = {
        'help': lambda: print(HELP),
        'unplug': bus.unplug,
        'plug': lambda: _plug(bus),
        'power': bus.power_cycle,
        'silence': lambda identity: bus.faults.silent.add(int(identity)),
        'answer': bus.faults.silent.clear,
        'corrupt': lambda count: setattr(bus.faults, 'corrupt_next', int(count)),
        'block': lambda joint, low, high: arm.block(joint, float(low), float(high)),
        'hand': lambda *positions: _set_hand(arm, [float(p) for p in positions]),
        'show': lambda: _show(arm),
    }
    try:
        with bus.lock:
            actions[name](*texts)
    except FrameRosError as error:
        print(error)
    except (KeyError, TypeError, ValueError):
        print(f'{" ".join(words)!r} is not understood:\n{HELP}')
    sys.stdout.flush()


def _plug(bus: SimulatedBus) -> None:
    bus.plug()
    print(f'port: {bus.port}')


def _set_hand(arm: SimulatedSo101, positions: list[float]) -> None:
    if len(positions) not in (0, len(arm.servos)):
        raise SetupError(f'hand takes no positions or {len(arm.servos)}, not {len(positions)}')
    arm.hand = positions or None


def _show(arm: SimulatedSo101) -> None:
    for name, position, servo in zip(arm.limits, arm.positions, arm.servos, strict=True):
        torque = 'torque' if servo.has_torque else 'free'
        status = servo.status.name if servo.status else ''
        drawn = f'{servo.supply_current:+.2f} A'
        print(f'{name:14} {position:+.3f} rad {drawn}  {torque} {status or ""}')
