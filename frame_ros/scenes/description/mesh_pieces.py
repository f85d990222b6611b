# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Mesh files as corners and triangles, and the convex pieces that they consist of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.robots.shapes.mesh_files import load_mesh
from frame_ros.scenes.description.convex_hull import Hull, hull_of

Array = NDArray[np.float64]
Faces = NDArray[np.int64]
MOST_TRIANGLES, MOST_PIECES = 200_000, 64


def read_mesh(file: Path, scale: float | Array = 1.0) -> tuple[Array, Faces]:
    """Returns the corners (V, 3) m that triangles use, and the triangles (T, 3).

    scale: factor on the file's lengths, or (3,) of them.

    Raises:
        SetupError: it has more than MOST_TRIANGLES.
        FrameRosError: as of `load_mesh`.
    """
    corners, faces = load_mesh(file)
    check_triangles(file, len(faces))
    used, faces = np.unique(faces, return_inverse=True)
    return corners[used] * scale, faces.reshape(-1, 3)


def check_triangles(file: Path, count: int) -> None:
    """Raises SetupError if there are too many triangles to be drawn."""
    if count > MOST_TRIANGLES:
        raise SetupError(
            f'{file} has {count} triangles; at most {MOST_TRIANGLES} are drawn in good time: '
            'simplify it'
        )


def parts_of(file: Path, corners: Array, faces: Faces) -> list[tuple[Array, Faces]]:
    """Returns corners (N, 3) and triangles of each connected part of a mesh. Parts that touch are
    apart if each is closed by corners of its own, which those of STL never are.

    Raises:
        SetupError: there are more than MOST_PIECES.
    """
    if _open_edges(faces, len(corners)):
        corners, numbers = _merged(corners)
        faces = numbers[faces]
    edges = np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)]])
    graph = coo_matrix((np.ones(len(edges)), edges.T), shape=(len(corners),) * 2)
    count, labels = connected_components(graph, directed=False)
    if count > MOST_PIECES:
        raise SetupError(f'{file} has {count} pieces that are apart; at most {MOST_PIECES}')
    owners, found = labels[faces[:, 0]], []
    for label in range(count):
        used, part = np.unique(faces[owners == label], return_inverse=True)
        found.append((corners[used], part.reshape(-1, 3)))
    return [each for each in found if len(each[1])]


def solid_hull(file: Path, points: Array) -> Hull:
    """Returns the hull of points (N, 3) m; raises SetupError if they are flat."""
    try:
        return hull_of(points)
    except ValueRangeError as error:
        raise SetupError(f'{file}: {error}; an object must be solid') from error


def open_edges(corners: Array, faces: Faces) -> int:
    """Returns the number of edges of a mesh by which it is open; corners at one place are one."""
    merged, numbers = _merged(corners)
    return _open_edges(numbers[faces], len(merged))


def _open_edges(faces: Faces, count: int) -> int:
    faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    edges = np.sort(np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]]), axis=1)
    found = np.unique(edges[:, 0] * count + edges[:, 1], return_counts=True)[1]
    return int((found % 2).sum())


def _merged(corners: Array) -> tuple[Array, Faces]:
    """The different corners of a mesh, to 1e-6 of its size, and which each of its own is."""
    step = max(float(np.ptp(corners, axis=0).max()), 1e-12) * 1e-6
    places = np.rint(corners / step)
    order = np.lexsort(places.T[::-1])
    is_first = np.ones(len(order), bool)
    is_first[1:] = (places[order[1:]] != places[order[:-1]]).any(axis=1)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(is_first) - 1
    return corners[order[is_first]], numbers
