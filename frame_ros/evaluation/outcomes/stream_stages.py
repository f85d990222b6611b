# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stages of an episode, as its streams show them: grasped, lifted, placed."""

from __future__ import annotations

import numpy as np

from frame_ros.bags.streams.form import Stream
from frame_ros.bags.streams.grasp import IS_HELD
from frame_ros.episodes.bounds import within
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.metric_pipeline.recorded_grasp import grasp_of

GRASPED, LIFTED, PLACED = 'grasped', 'lifted', 'placed'
HELD = next(state for state, is_held in IS_HELD.items() if is_held)


def stages_of_streams(
    episode: Episode, is_success: bool | None, height: float
) -> tuple[dict[str, bool], str]:
    """Returns stage -> whether it was reached, and '' or the reason that there is none.

    Grasped: the gripper held something, as recorded or as its joint shows. Lifted: while it did,
    the object rose by the height above where it was at the first grasp; left out without poses of
    the object. Placed: the task succeeded; left out where that is not known. A success reached all.

    Args:
        is_success: of the task.
        height: m, along z of the frame of the object's poses.
    """
    grasp = episode.streams.get('grasp') or grasp_of(episode)
    if grasp is None:
        return {}, 'no stages: neither decisions on the grasp nor a known gripper are in the bag'
    grasp = _ordered(within(episode, grasp))
    is_held = grasp.values['state'] == HELD
    found = {GRASPED: bool(is_held.any()) or is_success is True}
    thing = episode.streams.get('object')
    if thing is not None:
        found[LIFTED] = _is_lifted(grasp, _ordered(thing), height) or is_success is True
    if is_success is not None:
        found[PLACED] = is_success
    return found, ''


def _ordered(stream: Stream) -> Stream:
    return stream.select(np.argsort(stream.stamps, kind='stable'))


def _is_lifted(grasp: Stream, thing: Stream, height: float) -> bool:
    """Returns whether the object, at or after the first grasp, rose while it was held."""
    is_held = grasp.values['state'] == HELD
    if not is_held.any() or not len(thing):
        return False
    first = grasp.stamps[is_held.argmax()]
    heights = thing.values['position'][:, 2]
    rest = heights[max(int(np.searchsorted(thing.stamps, first, 'right')) - 1, 0)]
    newest = np.searchsorted(grasp.stamps, thing.stamps, 'right') - 1
    while_held = (newest >= 0) & is_held[np.maximum(newest, 0)]
    return bool((heights[while_held] >= rest + height).any())
