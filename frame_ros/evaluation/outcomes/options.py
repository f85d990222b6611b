# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the reading of outcomes."""

from __future__ import annotations

from frame_ros.core.options import option, options
from frame_ros.evaluation.operations.options import OperationOptions
from frame_ros.evaluation.outcomes.label_choice import DETECTED, EVENTS


@options
class EpisodeOutcomeOptions(OperationOptions):
    """The outcome of one episode."""

    labels: str = option(
        EVENTS,
        'operations by the events, or as detected in the telemetry of the gripper where it allows '
        'that; this reads whole bags',
        choices=(EVENTS, DETECTED),
    )
    stages_from_streams: bool = option(
        False,
        'decide the stages grasped, lifted and placed by the gripper and the poses of the object, '
        'where the facts name none: this reads whole bags',
    )
    lift_height: float = option(
        0.03, 'rise of the object, held, from which it counts as lifted', unit='m', above=0.0
    )


@options
class OutcomeOptions(EpisodeOutcomeOptions):
    """Outcomes of bags and files."""

    zones: str = option('', 'YAML file of zones for labels that are detected')
    reviewed: str = option(
        '',
        'CSV file of `frame-ros operations --review`, after it was edited: the operations of its '
        'episodes',
    )
    pair_by_position: bool = option(
        False,
        'the n-th episodes of a task in files of lerobot-eval without seeds are a pair: all were '
        'run with one --seed',
    )
    cache: bool = option(
        True, 'keep the outcomes of each bag in a small file, which later runs read instead'
    )
    cache_folder: str = option(
        '',
        "folder of these files; '': outcomes in FRAME_ROS_CACHE, else frame_ros/outcomes in "
        'XDG_CACHE_HOME or ~/.cache',
    )
