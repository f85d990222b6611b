# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Openings of a surface that others close: a link's housing is often a shell without ends, which
its neighbours cover.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from frame_ros.robots.shapes.mesh_merging import merged_mesh

Array = NDArray[np.float64]
SAME = 1e-5  # m, corners nearer than this are one: files of text have few digits


def closed_surface(triangles: Array) -> Array:
    """Returns triangles (T, 3, 3) m with those that close the openings, (U, 3, 3), U >= T.

    Every connected rim, of edges that one triangle alone has, gets triangles from its edges to its
    middle. They are within the convex hull of the rim.
    """
    mesh = merged_mesh(triangles, SAME)
    corners = mesh.triangles
    edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), 1)
    edges, times = np.unique(edges, axis=0, return_counts=True)
    rim = edges[times == 1]
    if not len(rim):
        return np.asarray(triangles)
    count = len(mesh.vertices)
    links = coo_matrix((np.ones(len(rim)), (rim[:, 0], rim[:, 1])), shape=(count, count))
    _, part = connected_components(links, directed=False)
    ends = np.unique(rim)
    number = np.bincount(part[ends], minlength=count)
    places = mesh.vertices[ends]
    sums = [np.bincount(part[ends], places[:, axis], count) for axis in range(3)]
    middles = np.stack(sums, axis=1)[part[rim[:, 0]]] / number[part[rim[:, 0]], None]
    caps = np.stack((mesh.vertices[rim[:, 0]], mesh.vertices[rim[:, 1]], middles), axis=1)
    return np.concatenate((triangles, caps))
