# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A remote policy from its options."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from frame_ros.core.errors import PolicyError
from frame_ros.core.options import option, options
from frame_ros.policies.remote.client import OpenPIPolicy, RemotePolicy
from frame_ros.policies.remote.codec import MAX_MESSAGE_SIZE, import_msgpack
from frame_ros.policies.remote.convention import Convention
from frame_ros.policies.remote.link import LinkOptions
from frame_ros.policies.remote.presets import ACTIONS, PRESETS, TCP, Preset, make_preset
from frame_ros.policies.remote.server import import_websockets, is_loopback
from frame_ros.robots.grippers import GRIPPER_CONVENTIONS

KEY_VARIABLE = 'FRAME_ROS_API_KEY'
OWN_PRESET = 'frame_ros'


@options
class RemoteOptions:
    """Options of a policy on a server: the server, and the inputs of its policy.

    The last seven replace what a preset says of OpenPI's servers.
    """

    url: str = option('', 'ws://HOST:PORT, or wss:// for TLS')
    preset: str = option(
        OWN_PRESET,
        'frame_ros: a server of ours, which reports what its policy needs; droid, aloha, libero: '
        "OpenPI's servers of these platforms; openpi: others, with observation_keys",
        choices=PRESETS,
    )
    robot_joint_names: tuple[str, ...] = option(
        (), "of OpenPI's servers: joints in the order of state and action"
    )
    gripper_limits: Mapping[str, tuple[float, float]] | None = option(
        None, "of OpenPI's servers: gripper joint -> closed and open position, rad or m"
    )
    camera_names: Mapping[str, str] | None = option(
        None, 'camera of the policy, or key of an image of other presets -> camera'
    )
    cameras: tuple[str, ...] = option((), 'cameras of the policy of our server, with wait 0')
    action_rate: float = option(30.0, 'of a preset without a rate', unit='Hz', above=0.0)
    samples: int = option(0, 'chunks sampled with each inference', at_least=2, besides=(0,))
    deadline: float = option(2.0, 'longest inference', unit='s', above=0.0)
    wait: float = option(10.0, 'longest wait for the first connection', unit='s', at_least=0.0)
    api_key: str = option(
        '', f'sent as Authorization: Api-Key; empty: that of the environment, {KEY_VARIABLE}'
    )
    ca_file: str = option('', 'certificate to trust, for wss://')
    max_message_size: int = option(MAX_MESSAGE_SIZE, 'bytes of a message', at_least=1)
    observation_keys: Mapping[str, str] | None = option(None, 'key -> what it holds')
    action_dt: float | None = option(None, 'time between two actions', unit='s', above=0.0)
    image_size: tuple[int, ...] | None = option(
        None, 'height and width of images', at_least=1, lengths=(2,)
    )
    is_channel_first: bool | None = option(None, 'images are (3, H, W)')
    gripper: str | None = option(None, 'how its opening is written', choices=GRIPPER_CONVENTIONS)
    is_in_degrees: bool | None = option(None, "the arm's joints are, in state and action")
    actions: str | None = option(None, 'meaning of the actions', choices=ACTIONS)


class RemoteServer(RemotePolicy):
    """A RemotePolicy that connects in the background as its options say; a connection that is lost
    is made again.
    """

    Options = RemoteOptions
    needs = {'url': 'the address of its server, such as ws://127.0.0.1:8000'}

    @classmethod
    def make(cls, options: RemoteOptions, is_logged: bool = True) -> RemotePolicy:
        """Connects.

        is_logged: connections that are made and lost go to the log, with the url.

        Raises:
            PolicyError: there is no server, it refuses, or options do not fit each other.
            MissingExtraError: msgpack or websockets is not installed.
        """
        import_msgpack()
        import_websockets()
        _check_url(options.url)
        link = LinkOptions(
            url=options.url,
            api_key=options.api_key or os.environ.get(KEY_VARIABLE, ''),
            ca_file=options.ca_file,
            max_message_size=options.max_message_size,
            is_logged=is_logged,
        )
        preset = _preset(options)
        policy = (
            _policy_of_ours(link, options)
            if not preset.keys
            else (_openpi_policy(link, options, preset))
        )
        _wait(policy, options.wait, bool(options.cameras) or bool(preset.keys))
        if _is_in_the_clear(link):
            policy.notes.append(
                f'the key goes to {options.url} in the clear; use wss:// or a tunnel'
            )
        return policy

    @classmethod
    def check(cls, options: RemoteOptions) -> None:
        """Checks the address and the preset.

        Raises:
            PolicyError: one of them is wrong.
        """
        _check_url(options.url)
        _preset(options)


def connect_remote_policy(
    url: str, robot_joint_names: Sequence[str] = (), preset: str = OWN_PRESET, **others: Any
) -> RemotePolicy:
    """Connects to a policy server. others: further `RemoteOptions`.

    Raises:
        FrameRosError: as of `RemoteServer.make`, or an option is out of range.
    """
    names, read = tuple(robot_joint_names), RemoteServer.read_options
    return RemoteServer.make(read(url=url, robot_joint_names=names, preset=preset, **others))


def _preset(options: RemoteOptions) -> Preset:
    return make_preset(
        options.preset,
        options.observation_keys,
        None if options.preset == OWN_PRESET else options.camera_names,
        dt=options.action_dt,
        image_size=options.image_size,
        is_channel_first=options.is_channel_first,
        gripper=options.gripper,
        is_in_degrees=options.is_in_degrees,
        actions=options.actions,
    )


def _policy_of_ours(link: LinkOptions, options: RemoteOptions) -> RemotePolicy:
    return RemotePolicy(
        link,
        None,
        options.deadline,
        samples=options.samples,
        cameras=options.cameras,
        camera_names=options.camera_names,
    )


def _openpi_policy(link: LinkOptions, options: RemoteOptions, preset: Preset) -> OpenPIPolicy:
    """A policy on a server of OpenPI's, whose preset names its inputs."""
    return OpenPIPolicy(
        link,
        Convention(preset, options.robot_joint_names, options.gripper_limits),
        options.deadline,
        dt=preset.dt or 1.0 / options.action_rate,
        cameras=tuple(dict.fromkeys(preset.cameras)),
        poses=(TCP,) if preset.needs_tcp else (),
    )


def _wait(policy: RemotePolicy, wait: float, knows_inputs: bool) -> None:
    if not wait and not knows_inputs:
        policy.close()
        raise PolicyError(
            'wait is 0, so that the server cannot say which cameras its policy needs; name them '
            'with cameras, or wait'
        )
    try:
        if wait:
            policy.wait(wait)
    except PolicyError:
        policy.close()
        raise


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        is_right = parts.scheme in ('ws', 'wss') and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_right = False
    if not is_right:
        raise PolicyError(f'the url is {url!r}; it must be like ws://127.0.0.1:8000 or wss://host')


def _is_in_the_clear(settings: LinkOptions) -> bool:
    parts = urlsplit(settings.url)
    return bool(settings.api_key) and parts.scheme == 'ws' and not is_loopback(parts.hostname or '')
