# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Dynamic time warping: how far two paths are apart when time may be stretched."""

from __future__ import annotations

from typing import Any

import array_api_compat
import numpy as np

from frame_ros.core.errors import MissingExtraError, ShapeError, ValueRangeError, install_hint
from frame_ros.metrics.reference_errors import one_path


def dtw_distance(
    positions: Any, reference: Any, window: int | None = None, normalised: bool = False
) -> float:
    """The least sum of distances over all ways to match two paths in order, m.

    A matching begins at both first samples, ends at both last ones, and moves on by one sample of
    either or of both; a pair costs its Euclidean distance. The sum is not squared anywhere, as in
    the textbooks and in the published library of FRAME (dtaidistance's own default is the root of
    the sum of squares). Not differentiable: computed in NumPy, also for torch tensors.

    Args:
        positions: (T, 2 or 3), m, T >= 1.
        reference: (S, the same 2 or 3), m, S >= 1.
        window: samples by which a matching may leave the diagonal, beyond |T - S|. None: any.
        normalised: divide by the larger of T and S: for T = S never above ATE.

    Raises:
        ShapeError: other shapes.
        ValueRangeError: a value is not finite, or a negative window.
        MissingExtraError: dtaidistance is not installed (extra 'dtw').
    """
    points, wanted = _path(positions, 'positions'), _path(reference, 'reference')
    if points.shape[1] != wanted.shape[1]:
        raise ShapeError(
            f'positions have shape {points.shape}, reference {wanted.shape}; '
            f'(T, D) and (S, D) with one D are expected'
        )
    if window is not None and window < 0:
        raise ValueRangeError(f'window is {window}; 0 samples or more, or None, is expected')
    try:
        from dtaidistance import dtw, dtw_ndim
    except ImportError as error:
        raise MissingExtraError(
            f'DTW needs the package dtaidistance: {install_hint("dtw")}'
        ) from error
    distance = dtw_ndim.distance(
        points,
        wanted,
        window=None if window is None else window + 1,
        use_c=dtw.dtw_cc is not None,
        inner_dist='euclidean',
    )
    return float(distance) / (max(len(points), len(wanted)) if normalised else 1)


def _path(positions: Any, name: str) -> np.ndarray[Any, np.dtype[np.float64]]:
    if array_api_compat.is_torch_array(positions):
        positions = positions.detach().cpu().numpy()
    return np.ascontiguousarray(one_path(positions, 1, name)[1], dtype=np.float64)
