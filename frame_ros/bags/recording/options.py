# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a bag that is recorded."""

from __future__ import annotations

from frame_ros.bags.image_choices import CAMERA_IMAGES
from frame_ros.bags.storage.mcap_writer import COMPRESSION_LEVEL, HIGHEST_LEVEL
from frame_ros.core.options import group, option, options


@options
class RecordingLimits:
    """Limits of memory and disk."""

    pre_roll: int = option(256 << 20, 'memory for pre_roll', unit='B', at_least=0)
    queue: int = option(
        512 << 20,
        'memory for messages that wait for the disk; beyond it they are dropped and counted',
        unit='B',
        at_least=0,
        live=True,
    )
    bag: int = option(
        0,
        'size at which a bag takes no more messages; 0: no limit',
        unit='B',
        at_least=0,
        live=True,
    )
    free: int = option(
        512 << 20,
        'space left on the disk below which no episode begins, and a running one drops and counts '
        'messages',
        unit='B',
        at_least=0,
        live=True,
    )


@options
class RecordingOptions:
    """Bags of episodes."""

    pre_roll: float = option(
        1.0, 'time before the start of an episode that its bag also holds', unit='s', at_least=0.0
    )
    camera_images: str = option(
        'raw',
        'colour images in the bag: raw, bit for bit; jpeg, as <topic>/compressed, for real '
        'cameras, whose noise does not compress',
        choices=CAMERA_IMAGES,
        live=True,
    )
    compression_level: int = option(
        COMPRESSION_LEVEL,
        "zstd level of the bag's chunks, lossless; 0: no compression",
        at_least=0,
        at_most=HIGHEST_LEVEL,
        live=True,
    )
    limits: RecordingLimits = group(RecordingLimits)
