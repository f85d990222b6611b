# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Decisions on the grasp for bags without the topic `grasp`, from the evidence in them."""

from __future__ import annotations

from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.grasp import decided_grasp
from frame_ros.core.errors import FrameRosError
from frame_ros.core.events import EventType
from frame_ros.core.input_files import load_json
from frame_ros.core.options import flatten, from_values
from frame_ros.episodes.episode import Episode
from frame_ros.robots.profiles import find_profile
from frame_ros.sensing.contact.grasp import CONTACT, GraspOptions

# Name among the recorded options of metrics, which had those of the grasp -> option.
NAMES = {
    **{f'grasp.{name}': name for name in flatten(GraspOptions())},
    **{f'gripper_{n}': n for n in ('joint', 'closed', 'smaller_is_closed', 'empty', 'margin')},
    **{name: name for name in ('effort_on', 'effort_off', 'contact_links')},
    'gripper_open': 'opened', 'grasp_source': 'source', 'grasp_debounce': 'debounce',
}  # fmt: skip


def grasp_of(episode: Episode) -> Stream | None:
    """Returns the stream 'grasp' by the options that were recorded, or by the profile of the robot
    where the metrics recorded none at all. None where there is no evidence, the gripper is not
    known, or a run that decided elsewhere has no decisions. Options that cannot be used are noted
    in the problems.
    """
    streams = episode.streams
    try:
        options = _options_of(episode)
    except FrameRosError as error:
        episode.problems.append(f'the grasp cannot be decided: {error}')
        return None
    evidence = streams.get('gripper')
    if evidence is None and options is not None and options.source != CONTACT:
        evidence = streams.get('joint_states')
    if options is None or evidence is None:
        return None
    starts = [event.stamp for event in episode.events if event.type is EventType.START]
    return decided_grasp(evidence, options, starts)


def _options_of(episode: Episode) -> GraspOptions | None:
    """Raises FrameRosError for options that cannot be, or a robot that is not known."""
    text = episode.attributes.get('metrics_config', '')
    given = {NAMES[n]: value for n, value in load_json(text or '{}').items() if n in NAMES}
    if text and not given:  # the options were those of another node, and are not known
        return None
    options, robot = from_values(GraspOptions, given), episode.attributes.get('robot')
    return options.of(find_profile(robot) if robot and options.needs_profile else None)
