# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies in a process of their own: our server, and clients of it and of OpenPI's servers."""

from frame_ros.policies.remote.client import RemoteInference, RemotePolicy
from frame_ros.policies.remote.codec import decode, encode
from frame_ros.policies.remote.connecting import RemoteServer, connect_remote_policy
from frame_ros.policies.remote.presets import PRESETS, Preset
from frame_ros.policies.remote.server import PolicyServer
from frame_ros.policies.remote.service import InferenceService

__all__ = [
    'PRESETS',
    'InferenceService',
    'PolicyServer',
    'Preset',
    'RemoteInference',
    'RemotePolicy',
    'RemoteServer',
    'connect_remote_policy',
    'decode',
    'encode',
]
