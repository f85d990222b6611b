# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The parameters of the episode recorder; config/episode_recorder.yaml tells what they mean."""

from __future__ import annotations

from typing import Any

DEFAULTS: dict[str, Any] = {
    'autostart': True,
    'enabled': True,
    'directory': 'runs',
    'prefix': 'episode',
    'include': [''],
    'also': [''],
    'exclude': [
        '/rosout', '/parameter_events', '.*/_.*', '.*/(transition_event|metric_markers)',
        '.*/proximity/points',
    ],
    'expected': [''],
    'nodes': [''],
    'ready_timeout': 5.0,
    'require_ready': False,
    'announce': 0.1,
    'pre_roll': 1.0,
    'pre_roll_bytes': 256 << 20,
    'post_roll': 1.0,
    'camera_images': 'raw',
    'compression_level': 3,
    'max_bytes': 0,
    'min_free_bytes': 512 << 20,
    'queue_bytes': 512 << 20,
    'poll_period': 0.004,
    'discovery_period': 0.5,
    'video_topic': 'front/image_raw',
}  # fmt: skip
# What each episode reads anew; the rest is read when the node is configured and activated.
SETTABLE = (
    'ready_timeout',
    'require_ready',
    'directory',
    'prefix',
    'announce',
    'post_roll',
    'camera_images',
    'compression_level',
    'max_bytes',
    'min_free_bytes',
    'queue_bytes',
    'video_topic',
)
