# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors of projected outlines against a picture in which each pixel's object is known."""

from __future__ import annotations

import attrs
import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.scenes.cards.camera import PlacedCamera

Array = NDArray[np.float64]
_LEAST_PIXELS = 30  # of an object, fewer of which say nothing


@attrs.frozen(kw_only=True)
class OutlineError:
    """The error of one object's outline, in mm on the level plane through its middle.

    Attributes:
        centre: distance of the middles of outline and picture, mm.
        outline: root mean square of the distances of the picture's boundary from the outline, mm.
        worst: the largest of them, mm.
        overlap: pixels in both, per pixel in either, 0 to 1.
    """

    centre: float
    outline: float
    worst: float
    overlap: float


def outline_error(
    silhouette: Array, seen: NDArray[np.bool_], camera: PlacedCamera, height: float
) -> OutlineError | None:
    """Returns the error of an outline (N, 2) pixels against the pixels (H, W) of its object.

    Args:
        height: m, of the object's middle.

    Returns None where fewer than 30 pixels of it are seen, or the plane is not.

    Raises:
        ShapeError: the picture is not of the camera's size.
    """
    lens = camera.lens
    if seen.shape != (lens.height, lens.width):
        raise ShapeError(
            f'the picture is {seen.shape}; the camera has {lens.height} rows of {lens.width} pixels'
        )
    if seen.sum() < _LEAST_PIXELS or len(silhouette) < 3:
        return None
    drawn = np.zeros(seen.shape, np.uint8)
    cv2.fillConvexPoly(drawn, np.rint(silhouette * 16).astype(np.int32), 1, cv2.LINE_8, 4)
    found = drawn.astype(bool)
    middles = camera.on_plane(np.array((_middle(found), _middle(seen))), height)
    boundary = _boundary(seen)
    nearest = _nearest(boundary, silhouette)
    here, there = (camera.on_plane(points, height) for points in (boundary, nearest))
    distances = 1e3 * np.linalg.norm(here - there, axis=1)
    if not np.isfinite(distances).all() or not np.isfinite(middles).all():
        return None
    return OutlineError(
        centre=1e3 * float(np.linalg.norm(middles[1] - middles[0])),
        outline=float(np.sqrt(np.mean(distances**2))),
        worst=float(distances.max()),
        overlap=float((found & seen).sum() / (found | seen).sum()),
    )


def _middle(mask: NDArray[np.bool_]) -> Array:
    rows, columns = np.nonzero(mask)
    return np.array((columns.mean(), rows.mean()))


def _boundary(mask: NDArray[np.bool_]) -> Array:
    """(N, 2) x and y, half way between pixels of a mask and their neighbours that are not of it."""
    rows, columns = np.nonzero(mask[:, 1:] != mask[:, :-1])
    across = np.column_stack((columns + 0.5, rows))
    rows, columns = np.nonzero(mask[1:] != mask[:-1])
    return np.concatenate((across, np.column_stack((columns, rows + 0.5))))


def _nearest(points: Array, outline: Array) -> Array:
    """(N, 2) the nearest points on a closed outline (M, 2) to points (N, 2)."""
    starts, ends = outline, np.roll(outline, -1, axis=0)
    lines = ends - starts
    square = np.maximum(np.einsum('ij,ij->i', lines, lines), 1e-12)
    share = np.einsum('nmj,mj->nm', points[:, None] - starts, lines) / square
    on_lines = starts + np.clip(share, 0, 1)[..., None] * lines
    best = np.argmin(np.linalg.norm(points[:, None] - on_lines, axis=2), axis=1)
    return np.asarray(on_lines[np.arange(len(points)), best])
