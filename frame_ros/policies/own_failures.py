# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Exceptions that are a policy's own failures, and those of the computer or of a connection."""

from __future__ import annotations

from frame_ros.core.errors import FrameRosError, PolicyFailedError

# As torch and JAX say that a graphics card is in disorder or has no memory left.
CARD_WORDS = ('CUDA error', 'cuDNN error', 'HIP error', 'CUDA out of memory', 'RESOURCE_EXHAUSTED')
# Top-level packages whose errors are of the way to a server; not all of them are OSErrors.
TRANSPORTS = ('aiohttp', 'grpc', 'httpcore', 'httpx', 'requests', 'urllib3', 'websockets', 'zmq')


def is_own_failure(error: BaseException) -> bool:
    """Returns whether the policy's own code is to blame for what its call raised: not the memory,
    the system, a graphics card or the way to a server, nor bad input that frame_ros refuses.
    """
    if isinstance(error, PolicyFailedError):
        return True
    if isinstance(error, FrameRosError | MemoryError | OSError):
        return False
    kinds = type(error).__mro__
    text = str(error)
    is_of_card = type(error).__name__ == 'OutOfMemoryError' or any(w in text for w in CARD_WORDS)
    return not (
        is_of_card or any(kind.__module__.partition('.')[0] in TRANSPORTS for kind in kinds)
    )
