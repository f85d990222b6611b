# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Making a remote policy from what a user says."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from frame_ros.core.errors import PolicyError
from frame_ros.policies.remote.client import OpenPIPolicy, RemotePolicy
from frame_ros.policies.remote.codec import MAX_MESSAGE_SIZE, import_msgpack
from frame_ros.policies.remote.convention import Convention
from frame_ros.policies.remote.link import LinkOptions
from frame_ros.policies.remote.presets import TCP, make_preset
from frame_ros.policies.remote.server import import_websockets, is_loopback

KEY_VARIABLE = 'FRAME_ROS_API_KEY'
OWN_PRESET = 'frame_ros'


def connect_remote_policy(
    url: str = 'ws://127.0.0.1:8000',
    robot_joint_names: Sequence[str] = (),
    preset: str = OWN_PRESET,
    gripper_limits: Mapping[str, tuple[float, float]] | None = None,
    camera_names: Mapping[str, str] | None = None,
    action_rate: float = 30.0,
    samples: int = 0,
    deadline: float = 2.0,
    wait: float = 10.0,
    api_key: str = '',
    ca_file: str = '',
    max_message_size: int = MAX_MESSAGE_SIZE,
    cameras: Sequence[str] = (),
    observation_keys: Mapping[str, str] | None = None,
    action_dt: float | None = None,
    image_size: Sequence[int] | None = None,
    is_channel_first: bool | None = None,
    gripper: str | None = None,
    is_in_degrees: bool | None = None,
    actions: str | None = None,
) -> RemotePolicy:
    """Connects to a policy server, in the background; a connection that is lost is made again.

    url: ws://HOST:PORT, or wss:// for TLS. preset: 'frame_ros' for a server of ours, which says
    itself what its policy needs; 'droid', 'aloha', 'libero' for OpenPI's servers of these
    platforms, 'openpi' for others, whose observation_keys say what goes under which key (see
    `presets`). deadline: s per inference. wait: s that the first connection may take; 0: it is not
    waited for, which a server of ours needs, unless `cameras` names the cameras of its policy.
    samples: how many sampled chunks are wanted with each. api_key: sent as `Authorization: Api-Key
    ...`; by default that of the environment variable FRAME_ROS_API_KEY. ca_file: a certificate to
    trust, for wss://.

    For OpenPI's servers: robot_joint_names, the joints in the order of state and action.
    gripper_limits: gripper joint -> closed and open position. camera_names: key of an image ->
    camera, such as 'observation/wrist_image_left' -> 'hand'; for our servers, camera of the policy
    -> camera. action_dt: s between two actions; by default the preset's, or 1 / action_rate.
    image_size (H, W), is_channel_first, gripper, is_in_degrees, actions: in place of the preset's,
    see `Preset`.

    Raises:
        PolicyError: there is no server, it refuses, or an argument is wrong.
        MissingExtraError: msgpack or websockets is not installed.
    """
    import_msgpack()
    import_websockets()
    _check_url(url)
    _check_times(deadline, wait)
    settings = LinkOptions(
        url=url,
        api_key=api_key or os.environ.get(KEY_VARIABLE, ''),
        ca_file=ca_file,
        max_message_size=max_message_size,
    )
    is_ours = preset == OWN_PRESET
    chosen = make_preset(
        preset,
        observation_keys,
        None if is_ours else camera_names,
        dt=action_dt,
        image_size=_size(image_size),
        is_channel_first=is_channel_first,
        gripper=gripper,
        is_in_degrees=is_in_degrees,
        actions=actions,
    )
    if is_ours:
        policy = RemotePolicy(
            settings,
            None,
            deadline,
            samples=samples,
            cameras=tuple(cameras),
            camera_names=camera_names,
        )
    else:
        convention = Convention(chosen, robot_joint_names, gripper_limits)
        policy = _openpi_policy(settings, convention, deadline, action_rate)
    _wait(policy, wait, bool(cameras) or not is_ours)
    if _is_in_the_clear(settings):
        policy.notes.append(f'the key goes to {url} in the clear; use wss:// or a tunnel')
    return policy


def _openpi_policy(
    settings: LinkOptions, convention: Convention, deadline: float, action_rate: float
) -> OpenPIPolicy:
    """A policy on a server of OpenPI's, whose preset names its inputs."""
    preset = convention.preset
    return OpenPIPolicy(
        settings,
        convention,
        deadline,
        dt=preset.dt or 1.0 / action_rate,
        cameras=tuple(dict.fromkeys(preset.cameras)),
        poses=(TCP,) if preset.needs_tcp else (),
    )


def _check_times(deadline: float, wait: float) -> None:
    if not (deadline > 0 and wait >= 0 and math.isfinite(deadline + wait)):
        raise PolicyError(f'deadline is {deadline} s and wait {wait} s; they must be positive')


def _size(image_size: Sequence[int] | None) -> tuple[int, ...] | None:
    """Height and width, as a preset has them."""
    size = tuple(image_size) if image_size is not None else None
    if size is not None and (len(size) != 2 or not all(type(n) is int and n > 0 for n in size)):
        raise PolicyError(f'image_size is {image_size}; it must be height and width')
    return size


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
