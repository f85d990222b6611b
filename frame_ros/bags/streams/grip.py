# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What tells of the grasp, from columns of a bag: a joint of joint states."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray


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
