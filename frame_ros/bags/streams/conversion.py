# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages to values, duck-typed: a live rclpy message and one deserialised from a bag give the
same numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.confidence.inference_uncertainty import (
    CHOSEN_FIELDS,
    ENSEMBLE_FIELD,
    TOKEN_FIELDS,
    chosen_confidence,
    ensemble_values,
    sample_variability,
    token_uncertainty,
)
from frame_ros.core.errors import ValueRangeError
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND, stamp_ns

NAN = float('nan')
UNKNOWN_CONTACT = (None, False, NAN, NAN, NAN, NAN)

# Facts of START that have their own field in EpisodeEvent.msg; as attributes they keep the field's
# name.
EVENT_TEXT_FIELDS = ('instruction', 'object', 'policy', 'checkpoint', 'operator_name')

INFERENCE_FIELDS = (
    'sequence',
    'latency',
    'preprocess',
    'forward',
    'postprocess',
    'transport',
    'cpu_time',
    'memory_rss',
    'memory_device',
    'queue_depth',
    'stalls',
    'chunk_overlap',
    'sample_count',
    'vocabulary_size',
)


def pose_values(message: Any) -> tuple[float, float, float, float, float, float, float]:
    """Returns position (m) and quaternion of a PoseStamped as x, y, z, qx, qy, qz, qw."""
    position, orientation = message.pose.position, message.pose.orientation
    return (
        position.x,
        position.y,
        position.z,
        orientation.x,
        orientation.y,
        orientation.z,
        orientation.w,
    )


def action_values(message: Any) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    """Returns the names (D) and positions (D,) (rad or m) of a JointState.

    Names and positions of different length are returned as they are: whoever uses them decides.
    """
    return tuple(message.name), np.array(message.position, dtype=np.float64)


def contact_values(message: Any) -> tuple[bool | None, bool, float, float, float, float]:
    """Returns in_contact, in_collision, force and the largest force since a contact began (N, NaN
    if not measured) of a ContactState; and the two of the contacts that are not expected, NaN where
    it does not tell them apart. Where contact is not known: None, False, NaN, ...
    """
    if message.unavailable:
        return UNKNOWN_CONTACT
    forces, peaks, is_expected = message.forces, message.peak_forces, message.is_expected
    return (
        bool(message.in_contact), bool(message.in_collision), float(message.force),
        _largest(peaks, ()), _largest(forces, is_expected), _largest(peaks, is_expected),
    )  # fmt: skip


def _largest(values: Sequence[float], is_left_out: Sequence[bool]) -> float:
    """The largest that is known; NaN: none is."""
    count = len(is_left_out)
    kept = (v for i, v in enumerate(values) if v == v and not (i < count and is_left_out[i]))
    return float(max(kept, default=NAN))


def proximity_values(message: Any) -> tuple[float]:
    """Returns the distance (m, NaN if not measured) of a Proximity message."""
    return (float(message.distance),)


def target_values(message: Any) -> tuple[float, float, float, str]:
    """Returns position (m) and frame of a PoseStamped of an object or goal: x, y, z, frame_id."""
    position = message.pose.position
    return position.x, position.y, position.z, str(message.header.frame_id)


def gripper_values(message: Any, joint: str) -> tuple[float, float] | None:
    """Returns position (rad or m) and effort (N m or N, NaN if not measured) of one joint of a
    JointState; None if the message does not have that joint.
    """
    names = message.name
    if joint not in names:
        return None
    at, positions, efforts = list(names).index(joint), message.position, message.effort
    return (
        float(positions[at]) if at < len(positions) else NAN,
        float(efforts[at]) if at < len(efforts) else NAN,
    )


def grasp_contact_values(message: Any) -> tuple[float, float]:
    """Returns how many links of the robot a ContactState says to touch the same thing, as
    expected, and NaN: there is no effort. Both NaN where contact is not known.
    """
    if message.unavailable:
        return NAN, NAN
    pairs = zip(message.links, message.others, message.is_expected)
    return grasp_contact(bool(message.in_contact), bool(message.in_collision), pairs)


def grasp_contact(
    in_contact: bool, in_collision: bool, pairs: Iterable[tuple[str, str, bool]]
) -> tuple[float, float]:
    """The same from values; pairs: link, what it touches, whether that is expected. A sensor that
    tells no contacts apart counts as one link.
    """
    links: dict[str, set[str]] = {}
    is_told_apart = False
    for link, other, is_expected in pairs:
        is_told_apart = True
        if is_expected:
            links.setdefault(other, set()).add(link)
    if not is_told_apart:
        return float(in_contact and not in_collision), NAN
    return float(max(map(len, links.values()), default=0)), NAN


def inference_values(message: Any) -> dict[str, Any]:
    """Returns the numbers of a PolicyInference by name, `observation_age`, the counts, and its
    uncertainties and confidences: its tokens, samples and rephrasings are reduced to them.

    observation_age: s, request_stamp - observation_stamp; NaN if either is zero (unset).
    UNCERTAINTY_VALUES: see `inference_uncertainty`.
    """
    values: dict[str, Any] = {name: float(getattr(message, name)) for name in INFERENCE_FIELDS}
    request, observation = stamp_ns(message.request_stamp), stamp_ns(message.observation_stamp)
    is_known = request != 0 and observation != 0
    values['observation_age'] = (request - observation) / SECOND if is_known else float('nan')
    for name in ('sequence', 'sample_count', 'vocabulary_size'):
        values[name] = int(getattr(message, name))
    values['token_count'] = len(message.token_max_probability)
    tokens = {name: getattr(message, name) for name in TOKEN_FIELDS}
    values.update(token_uncertainty(tokens, values['vocabulary_size']))
    chosen = {name: getattr(message, name) for name in CHOSEN_FIELDS}
    values.update(chosen_confidence(chosen, values['token_count']))
    values.update(ensemble_values(getattr(message, ENSEMBLE_FIELD)))
    shape = (values['sample_count'], int(message.horizon), int(message.action_dimension))
    values.update(sample_variability(message.samples, *shape))
    return values


def event(message: Any) -> Event:
    """Returns an EpisodeEvent as data.Event; the text fields of START that are not empty become
    attributes.

    Raises:
        ValueRangeError: the kind or outcome is none of those in EpisodeEvent.msg.
    """
    try:
        kind, outcome = EventType(int(message.type)), Outcome(int(message.outcome))
    except ValueError as error:
        raise ValueRangeError(
            f'EpisodeEvent with type {message.type} and outcome {message.outcome}: '
            'known are the constants of EpisodeEvent.msg'
        ) from error
    attributes = {name: getattr(message, name) for name in EVENT_TEXT_FIELDS}
    attributes = {name: str(value) for name, value in attributes.items() if value}
    attributes.update((str(pair.key), str(pair.value)) for pair in message.attributes)
    return Event(
        stamp=stamp_ns(message.header.stamp),
        type=kind,
        episode_id=str(message.episode_id),
        outcome=outcome,
        operation=int(message.operation),
        source=str(message.source),
        text=str(message.text),
        attributes=attributes,
    )
