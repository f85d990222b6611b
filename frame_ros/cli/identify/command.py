# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros identify`: the motors of a robot's joints, or the tool behind a force-torque sensor.

See docs/identification.md.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import (
    any_path,
    given,
    names,
    namespace,
    number_from,
    positive,
    robot,
    whole,
)
from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.output_files import check_file, check_folder, make_folder

if TYPE_CHECKING:
    from frame_ros.robots import Robot
    from frame_ros.sensing.contact.joints.excitation import ExcitationOptions
    from frame_ros.sensing.contact.joints.identification import JointIdentification
    from frame_ros.sensing.contact.wrench.still_poses import StillPose
    from frame_ros.sensing.contact.wrench.tool_identification import ToolFit

# Robots whose joint_states give torque in N m: there is no motor constant to find.
# They measure it behind the gears, too: there is no friction in it.


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument(
        'what',
        choices=('joints', 'tool'),
        help='joints: motor constants, friction and thresholds for contact without a sensor; '
        'tool: mass and centre of mass of what a force-torque sensor carries',
    )
    parser.add_argument('--robot', default='so101', help='name, profile or URDF file', type=robot)
    parser.add_argument(
        '--output',
        type=any_path,
        metavar='FILE',
        help='the YAML file to write (default: motors-ROBOT.yaml, tool-ROBOT.yaml)',
    )
    parser.add_argument(
        '--bag',
        action='append',
        default=[],
        metavar='BAG',
        help='use this recording, move nothing; may be repeated',
        type=given,
    )
    parser.add_argument(
        '--joint-topic',
        default='',
        metavar='TOPIC',
        help='joint states of the bags (default: the only joint_states)',
    )
    _add_joint_arguments(parser.add_argument_group('joints'))
    _add_motion_arguments(parser.add_argument_group('moving the robot'))
    _add_tool_arguments(parser.add_argument_group('tool'))


def _add_joint_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--joints',
        metavar='A,B,...',
        help="those to identify (default: all that move the robot's tip)",
        type=names,
    )
    group.add_argument(
        '--effort-scale',
        type=number_from(),
        metavar='X',
        help='N m per unit of effort, where it is known (default: found from the '
        "arm's weight; fr3 and panda: 1)",
    )
    group.add_argument(
        '--gain',
        type=positive,
        metavar='1/S',
        help='of the observer that will use the model (default: 15; fr3, panda: 30)',
    )
    group.add_argument(
        '--margin',
        type=positive,
        default=2.0,
        help='of the thresholds over what free motion showed',
    )
    group.add_argument(
        '--payload',
        metavar='LINK,KG,X,Y,Z',
        help='what the robot carries during the motion and its URDF does not know; '
        'centre of mass in m, in the axes of the link',
        type=given,
    )


def _add_motion_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--speed',
        type=number_from(0.0, 1.0, is_above=True),
        default=0.5,
        help='share of the full speed of the motion, above 0 to 1; try a small one first',
    )
    group.add_argument(
        '--fastest',
        type=positive,
        default=1.2,
        metavar='RAD/S',
        help='full speed of a joint',
    )
    group.add_argument(
        '--rate', type=number_from(1.0, 1000.0), default=50.0, metavar='HZ', help='of the commands'
    )
    group.add_argument(
        '--floor',
        type=number_from(),
        default=0.0,
        metavar='M',
        help='height of the table in the base frame',
    )
    group.add_argument(
        '--clearance',
        type=number_from(0.0),
        default=0.04,
        metavar='M',
        help='of all links above it',
    )
    group.add_argument(
        '--range',
        type=number_from(0.0, 1.0, is_above=True),
        default=0.85,
        dest='range_share',
        help="share of each joint's range that may be used",
    )
    group.add_argument(
        '--candidates', type=whole(1), default=40, help='random motions to choose from'
    )
    group.add_argument('--seed', type=whole(0), default=0, help='of the motion')
    group.add_argument(
        '--namespace', default='', metavar='NS', help="the robot's namespace", type=namespace
    )
    group.add_argument('--yes', action='store_true', help='move without asking')


def _add_tool_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--sensor-link',
        metavar='LINK',
        help="the link in whose axes the wrench is (default: the robot's)",
        type=given,
    )
    group.add_argument(
        '--wrench-topic',
        default='',
        metavar='TOPIC',
        help='(default: wrench; of a bag, the only one)',
    )
    group.add_argument('--poses', type=whole(1), default=10, help='how many to collect')
    group.add_argument(
        '--move',
        action='store_true',
        help='go to the poses; else the user moves the arm from one to the next',
    )
    group.add_argument(
        '--reaction',
        action='store_true',
        help='the sensor at rest reads the weight pointing up (default: what gives a mass above 0)',
    )


def run(args: argparse.Namespace) -> int:
    """Identifies, prints how well, and writes the file; returns 1 if a motion ended early.

    Raises:
        SetupError: an argument, or what the robot publishes, cannot be used.
        RobotError: no motion keeps clear. BagError: a bag cannot be read.
    """
    return _joints(args) if args.what == 'joints' else _tool(args)


def _robot(args: argparse.Namespace, tip: str | None = None) -> Robot:
    from frame_ros.robots import load_robot

    return load_robot(args.robot, tip)


def _output(args: argparse.Namespace, kind: str, robot: Robot) -> Path:
    return args.output or Path(f'{kind}-{robot.name}.yaml')


def writable(path: Path) -> Path:
    """The path of a file that can be written: minutes of motion must not be lost to a wrong one.

    Raises:
        SetupError: it cannot.
    """
    check_folder(path.parent, '--output')
    make_folder(path.parent, '--output')
    return check_file(path, '--output')


def _excitation_settings(args: argparse.Namespace) -> ExcitationOptions:
    from frame_ros.sensing.contact.joints.excitation import ExcitationOptions

    return ExcitationOptions(
        speed=args.fastest,
        floor=args.floor,
        clearance=args.clearance,
        seed=args.seed,
        range_share=args.range_share,
        candidates=args.candidates,
    )


# joints


def _joints(args: argparse.Namespace) -> int:
    from frame_ros.cli.identify.motion import record_joints
    from frame_ros.robots.dynamics import RobotDynamics
    from frame_ros.sensing.contact.joints.identification import (
        IdentificationOptions,
        identify_joints,
    )
    from frame_ros.sensing.contact.joints.motor_model import save_motors

    robot = _robot(args)
    dynamics = RobotDynamics(robot, args.joints, tool=_payload(args.payload))
    is_sensing = robot.profile.has_torque_sensors
    scale, gain = args.effort_scale, args.gain
    if scale is None and is_sensing:
        scale = 1.0
    if gain is None:
        gain = 30.0 if is_sensing else 15.0
    settings = IdentificationOptions(
        gain=gain, effort_scale=scale, has_torque_sensors=is_sensing, margin=args.margin
    )
    path = writable(_output(args, 'motors', robot))
    if args.bag:
        from frame_ros.cli.identify.bags import read_joints

        recording = read_joints(args.bag, dynamics.joint_names, args.joint_topic)
        source = f'frame-ros identify joints, bag {", ".join(Path(b).name for b in args.bag)}'
    else:
        found = record_joints(args, dynamics, _excitation_settings(args))
        if found is None:
            return 1
        recording, source = found, 'frame-ros identify joints, on the robot'
    identification = identify_joints(dynamics, recording, settings, source)
    print_joints(identification)
    save_motors(identification.motors, path)
    print(f'\nwritten to {path}; the contact node takes it as joints.motors_file')
    return 0


def _payload(text: str | None):  # type: ignore[no-untyped-def]
    """A Payload from LINK,KG,X,Y,Z."""
    from frame_ros.robots.dynamics import Payload

    if text is None:
        return None
    link, *numbers = text.split(',')
    try:
        mass, x, y, z = map(float, numbers)
    except ValueError as error:
        raise SetupError(f'--payload is {text!r}; LINK,KG,X,Y,Z is expected') from error
    return Payload(link, mass, (x, y, z))


def print_joints(found: JointIdentification) -> None:
    """A table with a row per joint, what is uncertain, and how it was found."""
    motors = found.motors
    print(
        f'{motors.robot}: {found.duration:.0f} s at {motors.sample_rate:.0f} Hz, velocities '
        f'{"from the messages" if motors.has_velocities else "by differences"}, '
        f'{100 * found.left_out:.1f} % outliers left out'
    )
    print(
        f'dry friction turns round over {motors.presliding:g} rad; observer gain '
        f'{motors.gain:g} 1/s\n'
    )
    print(
        'joint            effort scale      coulomb          viscous          armature          '
        'cond  residual rms, N m  threshold'
    )
    print(
        '                 N m per unit      N m              N m s/rad        kg m^2            '
        '      before    after  at rest'
    )
    for row, joint in enumerate(found.joints):
        cells = [
            _with_error(joint.values[name], joint.standard_errors[name])
            for name in ('effort_scale', 'coulomb', 'viscous', 'armature')
        ]
        at_rest = motors.threshold_base[row] + motors.threshold_reversal[row]
        print(
            f'{joint.name:<16} {cells[0]:<17} {cells[1]:<16} {cells[2]:<16} {cells[3]:<17} '
            f'{joint.condition:4.0f}  {joint.rms_before:6.3f}   {joint.rms_after:6.3f}  '
            f'{at_rest:6.3f}'
        )
    for joint in found.joints:
        for name, why in joint.not_identifiable.items():
            print(f'not identifiable: {joint.name} {name.replace("_", " ")}: {why}')


def _with_error(value: float, error: float) -> str:
    return f'{value:.3g}' if math.isnan(error) else f'{value:.3g} +- {error:.1g}'


# tool


def _tool(args: argparse.Namespace) -> int:
    from frame_ros.sensing.contact.wrench.tool_identification import FEWEST, too_few

    if args.poses < FEWEST:
        raise SetupError(f'--poses is {args.poses}; at least {FEWEST} are needed')
    robot = _robot(args)
    link = args.sensor_link or robot.profile.sensor_link
    if link is None:
        raise SetupError(f'{robot.name} is not known: give --sensor-link')
    robot = _robot(args, link)
    path = writable(_output(args, 'tool', robot))
    poses = _bag_poses(args, robot) if args.bag else _live_poses(args, robot)
    if len(poses) < FEWEST:
        print(too_few(len(poses)), file=sys.stderr)
        return 1
    fit, is_reaction = _fit_either_way(robot, poses, args.reaction)
    print_tool(fit, link)
    _write_tool(path, robot, fit, link)
    if is_reaction:
        print('the sensor reads the weight pointing up: set wrench.is_force_on_tool to false, too')
    return 0


def _fit_either_way(
    robot: Robot, poses: list[StillPose], is_reaction: bool
) -> tuple[ToolFit, bool]:
    """The tool, and whether the sensor reads the reaction: what is below zero with one sign is a
    mass with the other.
    """
    try:
        return fit_poses(robot, poses, not is_reaction), is_reaction
    except ValueRangeError:
        with contextlib.suppress(ValueRangeError):
            return fit_poses(robot, poses, is_reaction), not is_reaction
        raise


def _bag_poses(args: argparse.Namespace, robot: Robot) -> list[StillPose]:
    from frame_ros.cli.identify.bags import read_wrenches
    from frame_ros.sensing.contact.wrench.still_poses import StillPoses

    still = StillPoses()
    rows = read_wrenches(args.bag, robot.joint_names, args.joint_topic, args.wrench_topic)
    for stamp, positions, wrench in rows:
        if positions is not None:
            still.add_joints(stamp, positions)
        elif wrench is not None:
            still.add_wrench(stamp, wrench)
    return still.poses


def _live_poses(args: argparse.Namespace, robot: Robot) -> list[StillPose]:
    from frame_ros.cli.identify.motion import collect_poses

    return collect_poses(args, robot, _excitation_settings(args))


def fit_poses(robot: Robot, poses: list[StillPose], is_force_on_tool: bool) -> ToolFit:
    """The tool in the axes of the robot's tip, the sensor's link."""
    import numpy as np
    from scipy.spatial.transform import Rotation

    from frame_ros.sensing.contact.wrench.tool_identification import fit_tool

    quaternions = [robot.forward(pose.positions)[1] for pose in poses]
    rotations = Rotation.from_quat(quaternions).as_matrix()
    wrenches = np.array([pose.wrench for pose in poses])
    return fit_tool(rotations, wrenches, is_force_on_tool=is_force_on_tool, is_robust=True)


def print_tool(fit: ToolFit, link: str) -> None:
    """Prints the tool, with standard errors, and the residual of each pose."""
    print(f'tool in the axes of {link}, from {len(fit.residuals)} poses')
    print(f'  mass             {fit.mass:.4f} +- {fit.mass_error:.2g} kg')
    centre = ', '.join(
        f'{v:.4f} +- {e:.1g}' for v, e in zip(fit.centre_of_mass, fit.centre_error, strict=True)
    )
    print(f'  centre of mass   {centre} m')
    bias = ', '.join(f'{value:.3f}' for value in fit.bias)
    print(f'  bias             {bias} N, N m')
    print(
        f'  residuals        {fit.force_rms:.3f} N, {fit.torque_rms:.4f} N m rms; condition '
        f'{fit.condition:.1f}'
    )
    print('  pose  weight  residual force, N          residual torque, N m')
    for number, (row, weight) in enumerate(zip(fit.residuals, fit.weights, strict=True), 1):
        force = ' '.join(f'{value:+7.3f}' for value in row[:3])
        torque = ' '.join(f'{value:+8.4f}' for value in row[3:])
        print(f'  {number:4}   {weight:5.2f}  {force}    {torque}')
    for what in fit.undetermined:
        print(f'not identifiable: {what}')


def _write_tool(path: Path, robot: Robot, fit: ToolFit, link: str) -> None:
    from frame_ros.sensing.contact.wrench.tool_model import write_tool

    comment = (
        f'frame-ros identify tool: {robot.name}, {len(fit.residuals)} poses, axes of {link}.\n'
        f'residuals: {fit.force_rms:.3f} N, {fit.torque_rms:.4f} N m rms.'
    )
    tool = fit.tool()
    write_tool(path, tool, comment)
    print(f'\nwritten to {path}; the contact node takes it as tool.file')
