# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reads the answers of LeRobot's policy server: a pickled list of its TimedAction, nothing else.

Names in the pickle stand for classes of this module: nothing is imported, and neither torch.load
nor torch's way of making tensors is used, which have run code in a file although only weights were
requested (CVE-2025-32434, before torch 2.6).
"""

from __future__ import annotations

import io
import math
import pickle
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import PolicyError

MAX_ACTIONS = 10_000
MAX_WIDTH = 1000
# Precedes an object in torch's older file format, in which a tensor's storage is pickled.
_MAGIC, _PROTOCOL = 0x1950A86A20F9469CFC6C, 1001
_STORAGES = {'HalfStorage': '<f2', 'FloatStorage': '<f4', 'DoubleStorage': '<f8'}


@dataclass(frozen=True)
class ServerActions:
    """The actions of a chunk."""

    stamps: list[int]  # their steps
    values: NDArray[np.float64]  # (H, D), the policy's units


def read_actions(data: bytes) -> ServerActions:
    """Reads a server's answer.

    Raises:
        PolicyError: it is not a list of actions, all of one width.
    """
    try:
        actions = _ActionUnpickler(io.BytesIO(data)).load()
        if not isinstance(actions, list) or not 0 < len(actions) <= MAX_ACTIONS:
            raise ValueError(f'a list of 1 to {MAX_ACTIONS} is expected')
        values = np.stack([_row(vars(action)['action']) for action in actions])
        stamps = [int(vars(action)['timestep']) for action in actions]
    except PolicyError:
        raise
    except Exception as error:  # a damaged pickle raises anything
        raise PolicyError(f"the server's answer is not a list of actions: {error}") from error
    return ServerActions(stamps, values)


class _TimedAction:
    """Stands for LeRobot's, whose fields unpickling puts into it."""


class _Restricted(pickle.Unpickler):
    names: dict[tuple[str, str], Any] = {}

    def find_class(self, module: str, name: str) -> Any:
        """Returns the stand-in for a name in the pickle."""
        if (module, name) not in self.names:
            raise PolicyError(
                f"the server's answer holds {module}.{name}, which no list of actions has"
            )
        return self.names[module, name]


class _StorageUnpickler(_Restricted):
    names = {('torch', name): dtype for name, dtype in _STORAGES.items()}

    def persistent_load(self, pid: Any) -> str:
        """The type of the storage, whose bytes follow the pickles."""
        if not isinstance(pid, tuple) or pid[0] != 'storage' or pid[1] not in _STORAGES.values():
            raise ValueError('its storage is not of floating numbers')
        return str(pid[1])


def _storage(data: bytes) -> NDArray[Any]:
    """The numbers (N,) of a pickled storage: five pickles, their count, and they."""
    file = io.BytesIO(data)
    magic, protocol, _, dtype, keys = (_StorageUnpickler(file).load() for _ in range(5))
    if (magic, protocol) != (_MAGIC, _PROTOCOL) or len(keys) != 1 or not isinstance(dtype, str):
        raise ValueError('its storage is not in the format of torch.save')
    (count,) = struct.unpack('<q', file.read(8))
    return np.frombuffer(file.read(), dtype, count)


def _tensor(storage: Any, offset: Any, size: Any, stride: Any, *_: Any) -> NDArray[np.float64]:
    """One dimension of a storage, within it."""
    if not isinstance(storage, np.ndarray) or len(size) != 1 or len(stride) != 1:
        raise ValueError('an action is a vector of numbers')
    if not 0 < size[0] <= MAX_WIDTH or offset < 0 or stride[0] < 1:
        raise ValueError(f'an action has {size[0]} values from {offset} on, {stride[0]} apart')
    values = storage[offset :: stride[0]][: size[0]]
    if len(values) != size[0]:
        raise ValueError('an action reaches beyond its storage')
    return values.astype(np.float64)


class _ActionUnpickler(_Restricted):
    names = {
        ('lerobot.async_inference.helpers', 'TimedAction'): _TimedAction,
        ('torch._utils', '_rebuild_tensor_v2'): _tensor,
        ('torch.storage', '_load_from_bytes'): _storage,
        ('collections', 'OrderedDict'): dict,
    }


def _row(action: Any) -> NDArray[np.float64]:
    if not isinstance(action, np.ndarray) or action.ndim != 1 or not math.isfinite(action.sum()):
        raise ValueError('an action is not a vector of finite numbers')
    return action
