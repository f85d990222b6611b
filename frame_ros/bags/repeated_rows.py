# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Columns whose rows are all the same, such as the names of joints, with that row once in memory.

They are arrays like others, but read-only.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def repeated(row: Any, count: int) -> NDArray:
    """Returns a column of `count` times the same row, (count, ...)."""
    row = np.asarray(row)
    return np.broadcast_to(row, (count, *row.shape))


def is_repeated(column: NDArray) -> bool:
    """Returns whether a column (T, ...) has at least one row, and that one once in memory."""
    return column.size > 0 and column.strides[0] == 0


def chosen_rows(column: NDArray, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> NDArray:
    """Returns the rows that are chosen: (T,) booleans, or their places."""
    if not is_repeated(column):
        return column[chosen]
    is_mask = chosen.dtype == np.bool_
    return repeated(column[0], int(np.count_nonzero(chosen)) if is_mask else len(chosen))


def different_rows(column: NDArray) -> NDArray:
    """Returns a column's rows, of one whose rows are all the same in memory that row alone."""
    return column[:1] if is_repeated(column) else column
