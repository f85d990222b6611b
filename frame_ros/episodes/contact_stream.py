# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contacts from columns of a bag, as they come live."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.conversion import NAN, UNKNOWN_CONTACT, grasp_contact


def contact_samples(
    values: Mapping[str, NDArray],
) -> list[tuple[bool | None, bool, float, float]]:
    """in_contact, in_collision, force and peak force, as `conversion.contact_values` gives them.

    values: in_contact, in_collision (T,) bool, force (T,) N; and, unless recorded with messages
    that had none, unavailable (T,) text and peak_forces (T, K) N, rows filled up with NaN.
    """
    contacts = values['in_contact'].astype(bool).tolist()
    collisions = values['in_collision'].astype(bool).tolist()
    forces = values['force'].tolist()
    rows = zip(contacts, collisions, forces, _peaks(values, len(forces)), strict=True)
    return [
        UNKNOWN_CONTACT if is_unknown else row
        for row, is_unknown in zip(rows, _is_unknown(values, len(forces)), strict=True)
    ]


def _is_unknown(values: Mapping[str, NDArray], count: int) -> list[bool]:
    if 'unavailable' not in values:
        return [False] * count
    return [bool(text) for text in values['unavailable'].tolist()]


def _peaks(values: Mapping[str, NDArray], count: int) -> list[float]:
    """(T,) N, the largest of each row; NaN where there is none."""
    peaks = values.get('peak_forces')
    if peaks is None or peaks.ndim < 2 or not peaks.shape[1]:
        return [NAN] * count
    known = np.where(np.isnan(peaks), -np.inf, peaks).max(axis=1)
    return np.where(np.isneginf(known), NAN, known).tolist()


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
