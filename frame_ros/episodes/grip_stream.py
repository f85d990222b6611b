# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What tells of the grasp, from columns of a bag: a joint of joint states, or contacts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from frame_ros.episodes.conversion import grasp_contact


def gripper_samples(values: Mapping[str, NDArray], joint: str) -> list[tuple[float, float] | None]:
    """Position and effort of one joint, as `conversion.gripper_values` gives them."""
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
            columns.append([float('nan')] * count)
            continue
        taken = found[np.arange(count), np.minimum(at, found.shape[1] - 1)]
        columns.append(np.where(at < counts, taken, np.nan).tolist())
    return [pair if is_there else None for pair, is_there in zip(zip(*columns), has_joint)]


def grasp_contact_samples(values: Mapping[str, NDArray]) -> list[tuple[float, float]]:
    """Links that touch the same thing, as `conversion.grasp_contact_values` gives them."""
    counts = values.get('links_count', np.zeros(len(values['in_contact']))).tolist()
    samples = []
    for i, count in enumerate(map(int, counts)):
        columns = (values[name][i][:count] for name in ('links', 'others', 'is_expected'))
        pairs = [(str(link), str(other), bool(meant)) for link, other, meant in zip(*columns)]
        flags = bool(values['in_contact'][i]), bool(values['in_collision'][i])
        samples.append(grasp_contact(*flags, pairs))
    return samples
