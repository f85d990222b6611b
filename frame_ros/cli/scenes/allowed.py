# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options that each action of `frame-ros scenes` takes; any other is refused, not ignored."""

from __future__ import annotations

import argparse
from collections.abc import Collection, Mapping
from typing import Any

from frame_ros.cli.scenes.runs import NAMES, NOT_USED, CampaignOptions
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import flag_of
from frame_ros.core.options import walk
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.recording import RecordOptions
from frame_ros.scenes.run_options import SceneRunOptions

FLAGS = {**NAMES, 'is_rectified': '--is-rectified'}


def names_of(*kinds: Any, without: Collection[str] = ()) -> frozenset[str]:
    """Returns the names of the options of classes."""
    return frozenset(each.name for kind in kinds for each in walk(kind)) - frozenset(without)


def run_names() -> frozenset[str]:
    """Returns the options of runs of a policy, as `run` and `search` take them."""
    kinds = (CampaignOptions, RecordOptions, SceneRunOptions, TrialPolicyOptions)
    return names_of(*kinds, without=NOT_USED) | {'output', 'quiet'}


def refuse_others(args: argparse.Namespace, allowed: Mapping[str, Collection[str]]) -> None:
    """Checks that an action got none but its own options.

    Args:
        allowed: action -> the names of its options, of every action.

    Raises:
        SetupError: it got one of another action.
    """
    known = dict.fromkeys(name for names in allowed.values() for name in sorted(names))
    for name in known:
        value = getattr(args, name, None)
        is_declared = name in vars(args) and name not in PLAIN  # absent unless it is given
        is_given = is_declared or value not in (None, False, '', [])
        if is_given and name not in allowed[args.what]:
            *others, last = (action for action, names in allowed.items() if name in names)
            taking = f'{", ".join(others)} and {last}' if others else last
            flag = FLAGS.get(name) or flag_of(name)
            raise SetupError(f'{flag} is an option of {taking}, not of {args.what}')


# Arguments that have a value where they are not given.
PLAIN = frozenset(
    [
        'output', 'quiet', 'models', 'mat', 'only', 'photo', 'camera_info', 'extrinsics',
        'is_rectified', 'instructions', 'json', 'title',
    ]
)  # fmt: skip
