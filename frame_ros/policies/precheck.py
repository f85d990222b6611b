# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A look at a policy before anything is started for it: its files and its options, without loading
weights or connecting to anything. The user's own is made, once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from frame_ros.core.errors import CheckpointError, PolicyError
from frame_ros.policies.checkpoint import CheckpointFolder, open_checkpoint
from frame_ros.policies.own_policy import is_own_policy
from frame_ros.policies.trial import try_own_policy

# Options that say what a checkpoint's columns are: then they need not be the robot's joints.
COLUMNS = ('action_names', 'action_space', 'state_names')


def check_policy_files(
    spec: str,
    checkpoint: str,
    options: Mapping[str, Any],
    robot: str,
    offered: Mapping[str, Any] | None = None,
    required: Mapping[str, str] | None = None,
) -> None:
    """Checks what can be seen of a policy without making it; the user's own is made, in a process
    of its own, where `offered` says with what.

    spec: as of `make_policy`. checkpoint: a folder, or ''. options: name -> value.
    offered, required: as of `make_policy`. robot: name or URDF; '' where it is not known yet.

    Raises:
        PolicyError: there is no such policy, or it does not take these options. CheckpointError:
        the checkpoint is incomplete, or of another robot.
    """
    from frame_ros.policies.registry import BUILDERS, builder_of, check_options

    folder = {'folder': 'a checkpoint'} if checkpoint else {}
    if spec in BUILDERS:
        check_options(spec, builder_of(spec), folder, options)
    elif Path(spec).expanduser().is_dir():
        if checkpoint:
            raise PolicyError(
                f'the policy is the folder {spec!r} and the checkpoint is {checkpoint!r}; one of '
                'them must be empty, or the policy a name'
            )
        check_options('lerobot', builder_of('lerobot'), {}, options)
        spec, checkpoint = 'lerobot', spec
    elif is_own_policy(spec):
        try_own_policy(spec, options, bool(checkpoint), offered, required)
    if spec == 'lerobot':
        _check_width(open_checkpoint(checkpoint), options, robot)
    elif spec == 'token_vla':
        from frame_ros.policies.token_vla.folder import open_folder

        open_folder(checkpoint)


def _check_width(checkpoint: CheckpointFolder, options: Iterable[str], robot: str) -> None:
    """It has as many actions as the robot has joints, unless an option says what they are."""
    features = checkpoint.config.get('output_features') or {}
    shape = (features.get('action') or {}).get('shape')
    is_declared = any(name in COLUMNS for name in options)
    if not robot or is_declared or not isinstance(shape, list) or len(shape) != 1:
        return
    from frame_ros.robots import load_robot

    joints = load_robot(robot).joint_limits
    if shape[0] != len(joints):
        raise CheckpointError(
            f'{checkpoint.path} gives {shape[0]} values per action; {robot} has {len(joints)} '
            f'joints ({", ".join(joints)}): it is of another robot, or the option action_names has '
            'to say what its columns are'
        )
