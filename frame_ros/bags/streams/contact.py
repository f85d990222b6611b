# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts from columns of a bag, as they come live."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from frame_ros.bags.streams.conversion import NAN, UNKNOWN_CONTACT, grasp_contact


def contact_samples(
    values: Mapping[str, NDArray],
) -> list[tuple[bool | None, bool, float, float, float, float]]:
    """in_contact, in_collision, force and peak force, and the two of contacts that are not
    expected, as `conversion.contact_values` gives them.

    values: in_contact, in_collision (T,) bool, force (T,) N; and, unless recorded with messages
    that had none, unavailable (T,) text, forces, peak_forces (T, K) N, rows filled up with NaN, and
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
    """(T,), the largest that is known of each row; NaN where there is none."""
    found = values.get(name)
    if found is None or found.ndim < 2 or not found.shape[1]:
        return [NAN] * count
    is_taken = ~np.isnan(found)
    if is_left_out is not None and is_left_out.ndim == 2:
        width = min(found.shape[1], is_left_out.shape[1])
        is_taken[:, :width] &= ~is_left_out[:, :width].astype(bool)
    largest = np.where(is_taken, found, -np.inf).max(axis=1)
    return np.where(is_taken.any(axis=1), largest, NAN).tolist()


def grasp_contact_samples(values: Mapping[str, NDArray]) -> list[tuple[float, float]]:
    """Links that touch the same thing, as `conversion.grasp_contact_values` gives them."""
    counts = values.get('links_count', np.zeros(len(values['in_contact']))).tolist()
    unknown = _is_unknown(values, len(counts))
    samples = []
    for i, count in enumerate(map(int, counts)):
        columns = (values[name][i][:count] for name in ('links', 'others', 'is_expected'))
        pairs = [(str(link), str(other), bool(meant)) for link, other, meant in zip(*columns)]
        flags = bool(values['in_contact'][i]), bool(values['in_collision'][i])
        samples.append((NAN, NAN) if unknown[i] else grasp_contact(*flags, pairs))
    return samples
