# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thin things, such as cables: a pixel or two wide, so that most neighbours are not theirs.

A pixel of one is nearer than what lies on both sides of it, which nothing that flies at an edge is;
and others along a line are at about its depth, within the noise. A line that is too faint in one
image counts if it was in the same place in the images before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.sensing.proximity.depth import thin_kernels as kernels
from frame_ros.sensing.proximity.depth.camera import Depth, DepthCamera
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.scan import Nearest
from frame_ros.sensing.proximity.depth.shapes import CameraShapes
from frame_ros.sensing.proximity.depth.unseen_places import groups

Array = NDArray[np.float64]
Rows = NDArray[np.intp]
IsOwn = Callable[[Rows, Rows, Array], NDArray[np.bool_]]
MOST = 4096  # pixels of thin things that are looked at
FAINT = 0.5  # share of the support with which a pixel counts if it is there again and again
DECAY = 0.7  # of the evidence, from an image to the next
ENOUGH = 1.1  # evidence that counts: of at least two of the last images
ASIDE = 4.0  # tolerances from the padding: single pixels of the robot are as noisy as any
CELL = 0.02  # m, edge of the cells in which evidence is kept
CELLS = 1 << 15
_MIX = np.array([73856093, 19349663, 83492791], np.int64)


class ThinThings:
    """Finds thin things in the images of one camera. Not thread-safe: it keeps evidence."""

    def __init__(self, camera: DepthCamera, settings: DepthOptions) -> None:
        """settings: thin_support, 0: nothing thin is looked for."""
        self._camera, self._settings = camera, settings
        self._normals, self._offsets = settings.half_spaces()
        self._limits = np.array(
            [settings.min_range, settings.max_range, settings.tolerance, settings.depth_noise]
        )
        self._ridges = np.zeros((camera.height, camera.width), np.bool_)
        self._counts = np.zeros(camera.height, np.uint32)
        self._evidence = np.zeros(CELLS, np.float32)

    def nearer(
        self,
        nearest: Nearest,
        depth: Depth,
        seen: CameraShapes,
        rotation: Array,
        translation: Array,
        padding: float,
        is_own: IsOwn | None = None,
    ) -> Nearest:
        """Returns the nearest pixel of each link, of `nearest` and of thin things.

        Args:
            nearest: in the optical frame.
            depth: (H, W) as the camera gave it.
            seen: the robot, as the camera sees it.
            rotation, translation: pose of the optical frame in the base frame.
            padding: m around the robot, within which nothing counts.
            is_own: of rows, columns (K,) and their depths (K,) m, which are the robot all the same.
        """
        if self._settings.thin_support <= 0:
            return nearest
        points = self._points(depth, seen, rotation, translation, padding, is_own)
        if not len(points):
            return nearest
        found = np.column_stack((nearest.distances, nearest.points, nearest.surface))
        kernels.take_nearer(points, seen.table, seen.owners, found)
        return Nearest(found[:, 0], found[:, 1:4], found[:, 4:])

    def _points(
        self,
        depth: Depth,
        seen: CameraShapes,
        rotation: Array,
        translation: Array,
        padding: float,
        is_own: IsOwn | None,
    ) -> Array:
        """(K, 3) m, in the optical frame."""
        settings = self._settings
        points, counts, rows, columns = self._candidates(depth, is_own)
        keep, links = np.ones(len(points), np.bool_), groups(seen.exact)
        kernels.keep_free(
            points, np.ascontiguousarray(self._normals @ rotation),
            self._offsets - self._normals @ translation, seen.table, links,
            padding + ASIDE * settings.tolerance, settings.depth_noise, keep,
        )  # fmt: skip
        self._leave_out_outlines(depth, seen, links, rows, columns, padding, keep)
        points, counts = points[keep], counts[keep]
        was_there = self._was_there(points @ rotation.T + translation)
        return np.ascontiguousarray(points[(counts >= settings.thin_support) | was_there])

    def _leave_out_outlines(
        self,
        depth: Depth,
        seen: CameraShapes,
        links: Array,
        rows: Rows,
        columns: Rows,
        padding: float,
        keep: NDArray[np.bool_],
    ) -> None:
        """Clears `keep` (K,) of pixels that fly at an outline of the robot. links: `groups`."""
        image, scale = _read_only(depth)
        x, y = self._camera.rays()
        chosen = np.flatnonzero(keep)
        found = np.ones(len(chosen), np.bool_)
        kernels.keep_unmixed(
            image, scale, self._limits, x, y, np.ascontiguousarray(rows[chosen]),
            np.ascontiguousarray(columns[chosen]), seen.table, links, padding, found,
        )  # fmt: skip
        keep[chosen] = found

    def _candidates(
        self, depth: Depth, is_own: IsOwn | None
    ) -> tuple[Array, NDArray[np.int64], Rows, Rows]:
        """Pixels along lines, as points (K, 3) m in the optical frame, their support (K,), rows and
        columns (K,).
        """
        image, scale = _read_only(depth)
        factors = self._limits / np.array([scale, scale, scale, 1.0 / scale])
        kernels.mark_ridges(image, factors, self._ridges, self._counts)
        marked = np.flatnonzero(self._counts)
        within, across = np.nonzero(self._ridges[marked])
        step = max(1, -(-len(within) // MOST))  # of more, some from everywhere in the image
        rows: Rows = np.ascontiguousarray(marked[within[::step]])
        columns: Rows = np.ascontiguousarray(across[::step])
        counts = np.empty(len(rows), np.int64)
        kernels.support_of_ridges(image, scale, self._limits, self._ridges, rows, columns, counts)
        chosen = np.flatnonzero(counts >= max(FAINT * self._settings.thin_support, 1))
        z = image[rows[chosen], columns[chosen]].astype(np.float64) * scale
        if is_own is not None:
            is_other = ~is_own(rows[chosen], columns[chosen], z)
            chosen, z = chosen[is_other], z[is_other]
        x, y = self._camera.rays()
        points = np.stack((x[columns[chosen]] * z, y[rows[chosen]] * z, z), axis=1)
        return points, counts[chosen], rows[chosen], columns[chosen]

    def _was_there(self, points: Array) -> NDArray[np.bool_]:
        """Returns (K,) whether there is evidence of earlier images at points (K, 3) m in the base
        frame; and adds that of this one.
        """
        cells = np.floor(points / CELL).astype(np.int64) @ _MIX % CELLS
        found: NDArray[np.bool_] = self._evidence[cells] >= ENOUGH
        self._evidence *= DECAY
        self._evidence[np.unique(cells)] += 1.0
        return found


def _read_only(depth: Depth) -> tuple[Any, float]:
    """Returns the image as one type for the compiler, whether it may be written or not, and its m
    per unit.
    """
    image = np.ascontiguousarray(depth).view()
    image.flags.writeable = False
    return image, 1e-3 if depth.dtype == np.uint16 else 1.0
