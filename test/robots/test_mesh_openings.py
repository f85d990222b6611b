# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Openings of a housing that its neighbours close."""

import numpy as np
import pytest

from frame_ros.robots.shapes.fit_quality import fit_quality
from frame_ros.robots.shapes.mesh_openings import closed_surface
from frame_ros.robots.shapes.shape_fit import fit_shapes

trimesh = pytest.importorskip('trimesh')
RADIUS, LENGTH = 0.04, 0.2  # m


def pipe():
    """(T, 3, 3) of a cylinder about z without its ends."""
    mesh = trimesh.creation.cylinder(RADIUS, LENGTH, sections=64)
    return np.array(mesh.triangles)[np.abs(mesh.face_normals[:, 2]) < 0.5]


def volume(triangles):
    """m^3 that a closed surface encloses, whichever way its triangles run."""
    centre = triangles.mean(axis=(0, 1))
    a, b, c = np.moveaxis(triangles - centre, 1, 0)
    return np.abs(np.einsum('ij,ij->i', a, np.cross(b, c))).sum() / 6.0


def test_the_ends_of_a_pipe_are_closed_and_what_is_closed_stays_as_it_is():
    closed = closed_surface(pipe())
    caps = closed[len(pipe()) :]
    np.testing.assert_array_equal(closed[: len(pipe())], pipe())
    assert len(caps) == 2 * 64
    np.testing.assert_allclose(np.abs(caps[..., 2]), LENGTH / 2, atol=1e-6)
    assert volume(closed) == pytest.approx(np.pi * RADIUS**2 * LENGTH, rel=0.01)
    assert len(closed_surface(closed)) == len(closed)


def test_one_shape_fills_a_housing_whose_ends_are_closed():
    surface = closed_surface(pipe())
    shapes = fit_shapes(surface, 0.0025, 0.005, 3)
    assert len(shapes) == 1
    assert fit_quality(surface, shapes).waste < 2e-5 < 5e-4 < fit_quality(pipe(), shapes).waste
