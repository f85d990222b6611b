# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros serve`: a policy in this environment, for robots elsewhere. It needs no ROS."""

from __future__ import annotations

import argparse
import logging
import math
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.cli.arguments import (
    given,
    input_file,
    names,
    number_from,
    positive,
    robot,
    samples,
    whole,
)
from frame_ros.cli.options import parse_options
from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import read_text
from frame_ros.robots.joint_units import UNITS

if TYPE_CHECKING:
    from frame_ros.policies.base import Policy
    from frame_ros.policies.remote.convention import Convention
    from frame_ros.policies.remote.server import PolicyServer

GRACE = 5.0  # s that an inference may still take when the server is to end
MEGABYTE = 1024 * 1024

logger = logging.getLogger(__name__)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    _add_policy_arguments(parser.add_argument_group('the policy'))
    _add_network_arguments(parser.add_argument_group('the network'))
    _add_client_arguments(parser.add_argument_group('clients other than frame_ros'))
    parser.add_argument('-q', '--quiet', action='store_true', help='warnings only')


def _add_policy_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--policy',
        required=True,
        metavar='NAME',
        help='lerobot, token_vla, ..., a checkpoint folder, or your own as module:Class or '
        'file.py:Class',
    )
    group.add_argument('--checkpoint', metavar='DIR', help='checkpoint folder', type=given)
    group.add_argument(
        '--option',
        action='append',
        default=[],
        metavar='NAME=VALUE',
        help='an option of the policy, JSON or text; may be repeated',
    )
    group.add_argument('--robot', default='so101', help='name, profile or URDF file', type=robot)
    group.add_argument(
        '--joint-names',
        metavar='A,B,...',
        help="joints in the order of the policy's state and action (default: the robot's)",
        type=names,
    )
    group.add_argument('--device', default='cpu', help='where it runs: cpu, cuda:0', type=given)
    group.add_argument('--units', default='degrees', choices=UNITS, help="the policy's")
    group.add_argument(
        '--action-rate', type=positive, default=30.0, metavar='HZ', help='of its data'
    )
    group.add_argument(
        '--camera',
        action='append',
        default=[],
        metavar='FEATURE=CAMERA',
        help="the policy's image feature and the camera that it gets; may be repeated",
    )
    group.add_argument(
        '--samples', type=samples, default=0, metavar='N', help='chunks sampled with each'
    )
    group.add_argument(
        '--temperatures', default='', metavar='T,T,...', help='grid for token statistics'
    )
    group.add_argument('--seed', type=whole(0), default=0, help='of what is sampled')


def _add_network_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--host',
        default='127.0.0.1',
        help='address to listen on; 127.0.0.1: this machine only',
        type=given,
    )
    group.add_argument(
        '--port', type=whole(0, 65535), default=8000, help='port to listen on; 0: a free one'
    )
    group.add_argument(
        '--shared',
        action='store_true',
        help='several clients at once; the policy is reset whenever another one asks',
    )
    group.add_argument(
        '--client-timeout',
        type=positive,
        default=60.0,
        metavar='S',
        help='a client that has sent nothing for so long gives its place to the next one',
    )
    group.add_argument(
        '--api-key-file',
        type=input_file,
        metavar='FILE',
        help='a file with the key that clients must send (or FRAME_ROS_API_KEY)',
    )
    group.add_argument(
        '--max-message-size',
        type=number_from(0.1, 1024),
        default=32.0,
        metavar='MB',
        help='of a message, either way',
    )


def _add_client_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        '--preset',
        default='frame_ros',
        help='keys that clients send: frame_ros (state, images, prompt), droid, aloha, openpi',
    )
    group.add_argument(
        '--observation-key',
        action='append',
        default=[],
        metavar='KEY=WHAT',
        help='with openpi: what is under a key: joints, arm_joints, gripper, instruction, '
        'images.CAMERA; may be repeated',
    )


def run(args: argparse.Namespace) -> int:
    """Serves until SIGTERM or SIGINT.

    Raises:
        FrameRosError: the policy cannot be made, or the address cannot be had.
    """
    logging.basicConfig(
        level=logging.WARNING if args.quiet else logging.INFO,
        format='%(levelname)s %(message)s',
        stream=sys.stderr,
    )
    logging.getLogger('websockets').setLevel(logging.WARNING)
    server, policy = make_server(args)
    server.run()
    if not _has_ended(server):
        logger.warning('the policy is still at work after %g s and is abandoned', GRACE)
        logging.shutdown()
        os._exit(0)
    policy.close()
    return 0


def make_server(args: argparse.Namespace) -> tuple[PolicyServer, Policy]:
    """The server, not yet running, and its policy.

    Raises:
        FrameRosError: the policy cannot be made, or an argument is wrong.
    """
    from frame_ros.policies.registry import make_policy
    from frame_ros.policies.remote.server import PolicyServer, is_loopback
    from frame_ros.policies.remote.service import InferenceService

    check_address(args.host, args.port)
    joints = offered_joints_of(args.robot, args.joint_names)
    key = _api_key(args.api_key_file)
    convention = _convention(args, joints)
    policy = make_policy(args.policy, _offered(args, joints), **parse_options(args.option))
    for note in policy.notes:
        logger.warning('%s', note)
    policy.warm_up()
    size = int(args.max_message_size * MEGABYTE)
    service = InferenceService(policy, convention, joints['robot_joint_names'], size)
    place = args.host, args.port
    server = PolicyServer(service, *place, args.shared, key, size, args.client_timeout)
    if not is_loopback(args.host):
        logger.warning(
            'listening on %s, not on this machine only: whoever reaches the port can use the '
            'policy%s, and what is sent is not encrypted (see docs/remote-policies.md)',
            args.host,
            '' if key else ' without a key',
        )
    return server, policy


def check_address(host: str, port: int) -> None:
    """Raises SetupError where nobody can listen: before a policy is loaded for minutes."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        raise SetupError(f'--host {host} --port {port} cannot be listened on: {error}') from error


def offered_joints_of(robot: str, names: Sequence[str] | None) -> dict[str, Any]:
    """Options about the robot's joints that every policy is offered, from its profile and URDF
    without pinocchio; of `names`, in their order, if they are given.

    Raises:
        RobotError: there is no such robot. SetupError: it has no such joint.
    """
    from frame_ros.policies.choices import offered_joints
    from frame_ros.robots.description import parse_urdf
    from frame_ros.robots.profiles import find_profile

    profile = find_profile(robot)
    limits = parse_urdf(read_text(profile.path(profile.urdf))).joint_limits
    if names is None:
        return offered_joints(limits, profile.gripper)
    if unknown := [name for name in names if name not in limits]:
        raise SetupError(f'--joint-names has {unknown}; {robot} has {list(limits)}')
    return offered_joints({name: limits[name] for name in names}, profile.gripper)


def _offered(args: argparse.Namespace, joints: Mapping[str, Any]) -> dict[str, Any]:
    """Returns arguments offered to every policy, see `make_policy`."""
    try:
        temperatures = tuple(float(t) for t in args.temperatures.split(',') if t.strip())
    except ValueError:
        temperatures = (math.nan,)
    if not all(0 < t < math.inf for t in temperatures):
        raise SetupError(f'--temperatures is {args.temperatures!r}; positive numbers are expected')
    offered = {
        'robot': args.robot,
        **joints,
        'device': args.device,
        'units': args.units,
        'action_rate': args.action_rate,
        'dt': 1.0 / args.action_rate,
        'camera_names': _pairs('--camera', args.camera) or None,
        'samples': args.samples,
        'temperatures': temperatures,
        'seed': args.seed,
    }
    if args.checkpoint:
        offered['folder'] = args.checkpoint
    return offered


def _convention(args: argparse.Namespace, joints: Mapping[str, Any]) -> Convention | None:
    """Returns the convention of foreign clients; None: our own format."""
    from frame_ros.policies.remote.convention import Convention
    from frame_ros.policies.remote.presets import make_preset

    preset = make_preset(args.preset, _pairs('--observation-key', args.observation_key))
    if not preset.keys:
        return None
    if preset.actions == 'ee_delta':
        raise SetupError(
            f'clients of the preset {preset.name!r} send no joint positions, without which no '
            'policy here can act'
        )
    return Convention(preset, joints['robot_joint_names'], joints['gripper_limits'])


def _pairs(option: str, texts: Sequence[str]) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for text in texts:
        name, sign, value = (part.strip() for part in text.partition('='))
        if not (name and sign and value) or name in pairs:
            raise SetupError(f'{option} {text!r} must be of the form A=B, each A once')
        pairs[name] = value
    return pairs


def _api_key(path: Path | None) -> str:
    from frame_ros.policies.remote.connecting import KEY_VARIABLE

    if path is None and not os.environ.get(KEY_VARIABLE):
        return ''
    try:
        text = os.environ[KEY_VARIABLE] if path is None else read_text(path.expanduser())
    except (OSError, UnicodeDecodeError) as error:
        raise SetupError(f'--api-key-file cannot be read: {error}') from error
    key = text.strip()
    if not key or not key.isascii() or not key.isprintable():
        raise SetupError(
            f'{path or KEY_VARIABLE} holds no key: one line of printable ASCII is expected'
        )
    return key


def _has_ended(server: PolicyServer) -> bool:
    end = time.monotonic() + GRACE
    while server.is_busy and time.monotonic() < end:
        time.sleep(0.02)
    return not server.is_busy
