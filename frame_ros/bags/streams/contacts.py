# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact, the grasp that it shows, and proximity."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.form import MessageForm, RecordedStream

CONTACT_TYPE = 'frame_ros/msg/ContactState'
NAN = float('nan')
UNKNOWN_CONTACT = (None, False, NAN, NAN, NAN, NAN)
# Fields that messages of an older version lack; their values then count as not measured.
OPTIONAL = ('unavailable', 'is_expected', 'forces', 'peak_forces')
# Likewise, of what was not seen.
OF_UNSEEN = ('unobserved_distance', 'is_partial')


def contact_values(message: Any) -> tuple[bool | None, bool, float, float, float, float]:
    """Returns in_contact, in_collision, force and peak force (N) of a ContactState. Also the two
    forces of the contacts that are not expected, NaN where it does not distinguish them. NaN: not
    measured. If contact is unknown: None, False, NaN, ...
    """
    if message.unavailable:
        return UNKNOWN_CONTACT
    forces, peaks, is_expected = message.forces, message.peak_forces, message.is_expected
    return (
        bool(message.in_contact), bool(message.in_collision), float(message.force),
        _largest_of(peaks, ()), _largest_of(forces, is_expected), _largest_of(peaks, is_expected),
    )  # fmt: skip


def _largest_of(values: Sequence[float], is_left_out: Sequence[bool]) -> float:
    """Returns the largest known value; NaN if there is none."""
    count = len(is_left_out)
    kept = (v for i, v in enumerate(values) if v == v and not (i < count and is_left_out[i]))
    return float(max(kept, default=NAN))


def contact_samples(
    values: Mapping[str, NDArray],
) -> list[tuple[bool | None, bool, float, float, float, float]]:
    """Returns the samples of `contact_values` from columns.

    values: in_contact, in_collision (T,) bool, force (T,) N; and, unless recorded with messages
    that had none, unavailable (T,) text, forces, peak_forces (T, K) N, rows padded with NaN, and
    is_expected (T, K).
    """
    contacts = values['in_contact'].astype(bool).tolist()
    collisions = values['in_collision'].astype(bool).tolist()
    forces = values['force'].tolist()
    count = len(forces)
    is_expected = values.get('is_expected')
    rows = zip(
        contacts, collisions, forces, _largest(values, 'peak_forces', None, count),
        _largest(values, 'forces', is_expected, count),
        _largest(values, 'peak_forces', is_expected, count), strict=True,
    )  # fmt: skip
    return [
        UNKNOWN_CONTACT if is_unknown else row
        for row, is_unknown in zip(rows, _is_unknown(values, count), strict=True)
    ]


def _is_unknown(values: Mapping[str, NDArray], count: int) -> list[bool]:
    if 'unavailable' not in values:
        return [False] * count
    return [bool(text) for text in values['unavailable'].tolist()]


def _largest(
    values: Mapping[str, NDArray], name: str, is_left_out: NDArray | None, count: int
) -> list[float]:
    """Returns (T,), the largest known value of each row; NaN if there is none."""
    found = values.get(name)
    if found is None or found.ndim < 2 or not found.shape[1]:
        return [NAN] * count
    is_taken = ~np.isnan(found)
    if is_left_out is not None and is_left_out.ndim == 2:
        width = min(found.shape[1], is_left_out.shape[1])
        is_taken[:, :width] &= ~is_left_out[:, :width].astype(bool)
    largest = np.where(is_taken, found, -np.inf).max(axis=1)
    return np.where(is_taken.any(axis=1), largest, NAN).tolist()


def usable_contact(
    value: Sequence[Any],
) -> tuple[bool | None, bool, float, float, float, float] | None:
    """Returns the values of `contact_values`; those after the force may be left out."""
    in_contact, in_collision, force = value[:3]
    peak = value[3] if len(value) > 3 else force
    own_force, own_peak = value[4:6] if len(value) > 4 else (math.nan, math.nan)
    if any(map(math.isinf, (force, peak, own_force, own_peak))):
        return None
    return in_contact, in_collision, force, peak, own_force, own_peak


def grasp_contact_values(message: Any) -> tuple[float, float]:
    """Returns how many links touch one object as expected (NaN: unknown), and NaN."""
    if message.unavailable:
        return NAN, NAN
    pairs = zip(message.links, message.others, message.is_expected)
    return grasp_contact(bool(message.in_contact), bool(message.in_collision), pairs)


def grasp_contact(
    in_contact: bool, in_collision: bool, pairs: Iterable[tuple[str, str, bool]]
) -> tuple[float, float]:
    """Returns the same from values; pairs: link, touched object, whether that is expected. A sensor
    that does not distinguish contacts counts as one link.
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


def grasp_contact_samples(values: Mapping[str, NDArray]) -> list[tuple[float, float]]:
    """Returns the samples of `grasp_contact_values` from columns."""
    counts = values.get('links_count', np.zeros(len(values['in_contact']))).tolist()
    unknown = _is_unknown(values, len(counts))
    samples = []
    for i, count in enumerate(map(int, counts)):
        names = zip(values['links'][i][:count], values['others'][i][:count])
        meant = values['is_expected'][i] if 'is_expected' in values else np.zeros(count)
        pairs = [(str(link), str(other), bool(is_)) for (link, other), is_ in zip(names, meant)]
        flags = bool(values['in_contact'][i]), bool(values['in_collision'][i])
        samples.append((NAN, NAN) if unknown[i] else grasp_contact(*flags, pairs))
    return samples


def proximity_values(message: Any) -> tuple[float, float]:
    """Returns the distance (m, NaN if not measured) of a Proximity message, and that of the nearest
    place that was not seen (infinite if none is near, NaN if not known).
    """
    return float(message.distance), float(message.unobserved_distance)


def proximity_samples(values: Mapping[str, NDArray]) -> list[tuple[float, float]]:
    """Returns the samples of `proximity_values` from columns; messages of an older version say
    nothing of what was not seen.
    """
    distances = values['distance'].tolist()
    unobserved = values.get('unobserved_distance')
    rest = [NAN] * len(distances) if unobserved is None else unobserved.tolist()
    return list(zip(distances, rest, strict=True))


def usable_distance(value: Sequence[float]) -> tuple[float, float] | None:
    """Returns both distances, m; the first is NaN if not measured, negative on overlap, never
    infinite. The second may be left out.
    """
    distance = value[0]
    if math.isinf(distance):
        return None
    return distance, value[1] if len(value) > 1 else NAN


def _same(*names: str) -> dict[str, str]:
    return {name: name for name in names}


CONTACT = RecordedStream(
    'contact',
    ('contact',),
    (
        MessageForm(
            CONTACT_TYPE, _same('in_contact', 'in_collision', 'force', *OPTIONAL),
            contact_values, contact_samples, OPTIONAL,
        ),
    ),
    usable_contact,
    is_steady=True,
)  # fmt: skip
# Contacts may show the grasp instead of the joint of the gripper.
GRASP_CONTACT = MessageForm(
    CONTACT_TYPE, _same('in_contact', 'in_collision', 'links', 'others', *OPTIONAL[:2]),
    grasp_contact_values, grasp_contact_samples, OPTIONAL,
)  # fmt: skip
PROXIMITY = RecordedStream(
    'proximity',
    ('proximity',),
    (
        MessageForm(
            'frame_ros/msg/Proximity', _same('distance', *OF_UNSEEN), proximity_values,
            proximity_samples, OF_UNSEEN,
        ),
    ),
    usable_distance,
    is_steady=True,
)  # fmt: skip
