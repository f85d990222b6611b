# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Arguments of the policy that the parameters of the policy node describe, without ROS.

It imports no ROS.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame_ros.core.name_values import parse_pairs

# Parameters of the policy node that the policy must take unless they have their default.
ASKED = (
    'checkpoint',
    'samples',
    'temperatures',
    'device',
    'units',
    'camera_names',
    'action_rate',
)
FOLDER = {'checkpoint': 'folder'}  # parameter -> option of policies, where the names differ


def offered_of(settings: Any, limits: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """Returns arguments offered to every policy, see `make_policy`.

    Also quality and dt (s between two control ticks), for test policies. settings: has the node's
    parameters as attributes.
    """
    offered = {
        'robot_joint_names': tuple(limits),
        'joint_limits': dict(limits),
        'gripper_limits': {name: pair for name, pair in limits.items() if 'gripper' in name},
        'device': settings.device,
        'units': settings.units,
        'action_rate': settings.action_rate or settings.control_rate,
        'camera_names': parse_pairs('camera_names', settings.camera_names.split(',')) or None,
        'samples': settings.samples,
        'temperatures': tuple(settings.temperatures),
        'seed': settings.seed,
        'dt': 1.0 / settings.control_rate,
        'quality': settings.quality,
    }
    if settings.checkpoint:
        offered['folder'] = settings.checkpoint
    return offered


def required_of(settings: Any, defaults: Any) -> dict[str, str]:
    """Returns argument -> the user's name for it, of those not at their default."""
    return {
        FOLDER.get(name, name): f'the parameter {name}'
        for name in ASKED
        if _plain(getattr(settings, name)) != _plain(getattr(defaults, name))
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, (list, tuple)) else value
