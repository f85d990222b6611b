# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Decisions on what the gripper holds, as recorded or as they follow from the evidence in a bag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.contacts import CONTACT_TYPE, GRASP_CONTACT, grasp_contact_samples
from frame_ros.bags.streams.form import MessageForm, RecordedStream, Stream, Values
from frame_ros.bags.streams.joints import JOINT_TYPE, STATES
from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.grasp import GraspDetector, GraspOptions

NAN = float('nan')
IS_HELD = {1: False, 2: True}  # GraspState.state -> whether something is held
UNKNOWN = 0
# Of evidence the first sample in each such period is taken, ns.
PERIOD = SECOND // 200


def grasp_values(message: Any) -> tuple[bool | None, str]:
    """Returns whether something is held, of a GraspState; None if it is not known, and why not."""
    return IS_HELD.get(message.state), message.reason


def state_of(is_held: bool | None) -> int:
    """Returns GraspState.state."""
    return next((state for state, held in IS_HELD.items() if held is is_held), UNKNOWN)


def grasp_samples(values: Values) -> list[tuple[bool | None, str]]:
    """Returns the samples of `grasp_values` from columns."""
    states = zip(values['state'].tolist(), values['reason'].tolist())
    return [(IS_HELD.get(state), reason) for state, reason in states]


def gripper_samples(values: Mapping[str, NDArray], joint: str) -> list[tuple[float, float] | None]:
    """Returns position (rad or m) and effort (N m or N) of one joint from columns of JointState.
    NaN: not measured; None where a message does not have that joint.
    """
    names = values['names']
    if names.ndim < 2 or not names.shape[1]:
        return [None] * len(names)
    count = len(names)
    is_joint = (names == joint) & (np.arange(names.shape[1]) < values['names_count'][:, None])
    at, has_joint = is_joint.argmax(axis=1), is_joint.any(axis=1)
    columns = []
    for name in ('positions', 'efforts'):
        found, counts = values[name], values.get(f'{name}_count', np.zeros(count))
        if found.ndim < 2 or not found.shape[1]:
            columns.append([NAN] * count)
            continue
        taken = found[np.arange(count), np.minimum(at, found.shape[1] - 1)]
        columns.append(np.where(at < counts, taken, np.nan).tolist())
    return [pair if is_there else None for pair, is_there in zip(zip(*columns), has_joint)]


def decided_grasp(evidence: Stream, options: GraspOptions, starts: Iterable[int]) -> Stream:
    """Returns the stream 'grasp' that follows from joint states or contacts, a decision a sample;
    each episode begins without any.

    options: with what the robot's profile knows (`GraspOptions.of`). starts: ns, of the episodes.
    """
    if evidence.message_type == CONTACT_TYPE:
        samples: list[tuple[float, float] | None] = list(grasp_contact_samples(evidence.values))
    else:
        samples = gripper_samples(evidence.values, options.joint)
    detector, left = GraspDetector(options), sorted(starts, reverse=True)
    places, states, period = [], [], 0
    for place in np.argsort(evidence.stamps, kind='stable').tolist():
        sample, stamp = samples[place], int(evidence.stamps[place])
        while left and left[-1] <= stamp:
            left.pop()
            detector.reset()
        if sample is None or stamp <= 0 or stamp // PERIOD == period:
            continue
        if detector.update(stamp, *sample):
            period = stamp // PERIOD
            places.append(place)
            states.append(state_of(detector.is_grasped))
    chosen = evidence.select(np.array(places, np.intp))
    values = {'state': np.array(states, np.int64), 'reason': np.full(len(states), '')}
    return Stream(evidence.topic, GRASP_TYPE, chosen.stamps, chosen.received, values)


GRASP_TYPE = 'frame_ros/msg/GraspState'
GRASP = RecordedStream(
    'grasp',
    ('grasp',),
    (MessageForm(GRASP_TYPE, {'state': 'state', 'reason': 'reason'}, grasp_values, grasp_samples),),
    is_steady=True,
)
# Evidence, for bags without decisions.
GRIPPER = RecordedStream(
    'gripper', ('joint_states',), (MessageForm(JOINT_TYPE, STATES), GRASP_CONTACT)
)
