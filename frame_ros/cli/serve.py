# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros serve`: serves a policy of this environment to robots elsewhere, without ROS."""

from __future__ import annotations

import argparse
import logging
import os
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from frame_ros.cli.arguments import input_file
from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import read_text
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.options import option, options
from frame_ros.policies.choices import OfflineChoices, offered_joints, offered_with
from frame_ros.policies.policy_names import ANY_POLICY
from frame_ros.policies.remote.serving_options import ClientOptions, NetworkOptions
from frame_ros.robots.options import RobotOptions

if TYPE_CHECKING:
    from frame_ros.policies.base import Policy
    from frame_ros.policies.remote.convention import Convention
    from frame_ros.policies.remote.server import PolicyServer

GRACE = 5.0  # s that an inference may still take when the server is to end

logger = logging.getLogger(__name__)


@options
class ServedOptions(OfflineChoices, RobotOptions):
    """The policy."""

    joint_names: tuple[str, ...] = option(
        (), "joints in the order of the policy's state and action; none: the robot's"
    )


NAMES = {
    'policy_options': '--option',
    'camera_names': '--camera',
    'observation_keys': '--observation-key',
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments."""
    parser.add_argument('--policy', required=True, metavar='NAME', help=ANY_POLICY)
    parser.add_argument(
        '--api-key-file',
        type=input_file,
        metavar='FILE',
        help='a file with the key that clients must send (or FRAME_ROS_API_KEY)',
    )
    for title, kind in (
        ('the policy', ServedOptions),
        ('the network', NetworkOptions),
        ('clients other than frame_ros', ClientOptions),
    ):
        add_options(parser.add_argument_group(title), kind, names=NAMES)
    parser.add_argument('-q', '--quiet', action='store_true', help='warnings only')


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
    """Makes the server, not yet running, and its policy.

    Raises:
        FrameRosError: the policy cannot be made, or an argument is wrong.
    """
    from frame_ros.policies.registry import check_acts_without_scene, make_policy
    from frame_ros.policies.remote.server import PolicyServer, is_loopback
    from frame_ros.policies.remote.service import InferenceService

    network = from_arguments(NetworkOptions, args)
    chosen = from_arguments(ServedOptions, args)
    check_address(network.host, network.port)
    joints = offered_joints_of(chosen.robot, chosen.joint_names)
    key = read_api_key(args.api_key_file)
    convention = _convention(from_arguments(ClientOptions, args), joints)
    check_acts_without_scene(args.policy)
    policy = make_policy(args.policy, offered_with(chosen, joints), **chosen.policy_options)
    for note in policy.notes:
        logger.warning('%s', note)
    policy.warm_up()
    names = joints['robot_joint_names']
    service = InferenceService(policy, convention, names, network.most_bytes)
    server = PolicyServer(service, network, key)
    if not is_loopback(network.host):
        logger.warning(
            'listening on %s, not on this machine only: all who reach the port can use the '
            'policy%s, and nothing is encrypted (see docs/remote-policies.md)',
            network.host,
            '' if key else ' without a key',
        )
    return server, policy


def check_address(host: str, port: int) -> None:
    """Raises SetupError if the address cannot be listened on, before a policy loads for minutes."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except (OSError, UnicodeError) as error:
        raise SetupError(f'--host {host} --port {port} cannot be listened on: {error}') from error


def offered_joints_of(robot: str, names: Sequence[str] = ()) -> dict[str, Any]:
    """Returns options about the robot's joints that every policy is offered, from profile and URDF
    without pinocchio; of `names`, in their order, if they are given.

    Raises:
        RobotError: there is no such robot. SetupError: it has no such joint.
    """
    from frame_ros.robots.description import parse_urdf
    from frame_ros.robots.profiles import find_profile

    profile = find_profile(robot)
    limits = parse_urdf(read_text(profile.path(profile.urdf))).joint_limits
    if unknown := [name for name in names if name not in limits]:
        raise SetupError(f'--joint-names has {unknown}; {robot} has {list(limits)}')
    return offered_joints({name: limits[name] for name in names or limits}, profile.gripper)


def _convention(clients: ClientOptions, joints: Mapping[str, Any]) -> Convention | None:
    """Returns the convention of foreign clients; None: our own format."""
    from frame_ros.policies.remote.convention import Convention
    from frame_ros.policies.remote.presets import make_preset

    preset = make_preset(clients.preset, clients.observation_keys)
    if not preset.keys:
        return None
    if preset.actions == 'ee_delta':
        raise SetupError(
            f'clients of the preset {preset.name!r} send no joint positions, without which no '
            'policy here can act'
        )
    return Convention(preset, joints['robot_joint_names'], joints['gripper_limits'])


def read_api_key(path: Path | None) -> str:
    """Returns the key of a file, else of the environment; '' without one.

    Raises:
        SetupError: the file cannot be read, or holds no key.
    """
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
