# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a policy server: its address, and what its clients send."""

from __future__ import annotations

from collections.abc import Mapping

from frame_ros.core.options import option, options
from frame_ros.policies.remote.presets import PRESETS

MEGABYTE = 1024 * 1024


@options
class NetworkOptions:
    """The network of a policy server."""

    host: str = option('127.0.0.1', 'address to listen on; 127.0.0.1: this machine only')
    port: int = option(8000, 'port to listen on; 0: a free one', at_least=0, at_most=65535)
    is_shared: bool = option(
        False, 'several clients at once; the policy is reset whenever another one asks'
    )
    client_timeout: float = option(
        60.0,
        'a client that has sent nothing for so long gives its place to the next one',
        unit='s',
        above=0.0,
    )
    max_message_size: float = option(
        32.0, 'of a message, either way', unit='MB', at_least=0.1, at_most=1024.0
    )

    @property
    def most_bytes(self) -> int:
        """Largest size of a message."""
        return int(self.max_message_size * MEGABYTE)


@options
class ClientOptions:
    """Clients other than frame_ros."""

    preset: str = option('frame_ros', 'keys that clients send', choices=PRESETS)
    observation_keys: Mapping[str, str] = option(
        {},
        'with openpi: what is under a key: joints, arm_joints, gripper, instruction, images.CAMERA',
    )
