# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The rotation of a sensor in its link, from still poses, against independent solutions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

from frame_ros.sensing.contact.wrench.sensor_rotation import fit_sensor_rotation, turn_in_words
from frame_ros.sensing.contact.wrench.tool_model import GRAVITY

BIAS = np.array([3.0, -5.0, 8.0, 0.1, 0.2, -0.1])


def readings(links, mount, mass=1.1, noise=0.0, seed=0):
    """Wrenches (K, 6) of a sensor turned by `mount` in its link, by plain vectors."""
    centre, rng, rows = np.array([0.012, -0.021, 0.062]), np.random.default_rng(seed), []
    for link in links:
        force = (link @ mount).T @ np.array([0.0, 0.0, -mass * GRAVITY])
        rows.append(np.concatenate((force, np.cross(centre, force))) + BIAS)
    scale = noise * np.array([1.0, 1.0, 1.0, 0.04, 0.04, 0.04])
    return np.array(rows) + rng.normal(size=(len(rows), 6)) * scale


def poses(count, seed=1):
    return Rotation.random(count, random_state=seed).as_matrix()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.05, 4.0), st.integers(6, 14), st.booleans())
def test_it_is_that_of_align_vectors_whatever_the_sign(seed, mass, count, is_force_on_tool):
    links, mount = poses(count, seed), Rotation.random(random_state=seed + 1).as_matrix()
    wrenches = readings(links, mount, mass, 0.001 * mass, seed)
    sign = 1.0 if is_force_on_tool else -1.0
    fit = fit_sensor_rotation(links, sign * wrenches)
    down, forces = -links[:, 2], wrenches[:, :3]
    other, _ = Rotation.align_vectors(down - down.mean(axis=0), forces - forces.mean(axis=0))
    apart = (Rotation.from_matrix(fit.rotation) * other.inv()).magnitude()
    assert fit.is_force_on_tool == is_force_on_tool
    # The noise turns a weight by 1e-4 rad; robust weights move it by part of that.
    assert apart < 1e-3
    assert fit.mass == pytest.approx(mass, rel=0.01)
    assert (Rotation.from_matrix(fit.rotation.T @ mount)).magnitude() < 1e-3


def test_it_is_that_of_a_general_least_squares():
    links, mount = poses(10), Rotation.from_euler('xyz', [0.3, -0.5, 2.0]).as_matrix()
    wrenches = readings(links, mount, noise=0.05)
    fit = fit_sensor_rotation(links, wrenches)

    def left(x):
        turned = Rotation.from_rotvec(x[:3]).as_matrix().T @ np.swapaxes(links, 1, 2)
        forces = turned @ np.array([0.0, 0.0, -x[3]]) + x[4:]
        return (forces - wrenches[:, :3]).ravel()

    start = np.concatenate((Rotation.from_matrix(mount).as_rotvec() + 0.1, [5.0, 0, 0, 0]))
    # Huber's loss of the norm of a pose is ours; of each component it is nearly the same.
    found = least_squares(left, start)
    apart = Rotation.from_rotvec(found.x[:3]) * Rotation.from_matrix(fit.rotation).inv()
    assert apart.magnitude() < 0.5 * fit.error < 0.005
    assert fit.mass == pytest.approx(found.x[3] / GRAVITY, abs=0.002)
    assert fit.force_left == pytest.approx(np.sqrt(2 * found.cost / 23), rel=0.15)


def test_its_error_is_that_of_many_fits():
    links, mount = poses(10), Rotation.from_euler('z', 0.3).as_matrix()
    fits = [
        fit_sensor_rotation(links, readings(links, mount, noise=0.1, seed=s)) for s in range(99)
    ]
    vectors = [Rotation.from_matrix(fit.rotation.T @ mount).as_rotvec() for fit in fits]
    largest = np.sqrt(np.linalg.eigvalsh(np.cov(np.array(vectors).T))[-1])
    assert np.mean([fit.error for fit in fits]) == pytest.approx(largest, rel=0.25)


def test_a_touched_pose_counts_less():
    links, mount = poses(12), Rotation.from_euler('y', 0.5).as_matrix()
    wrenches = readings(links, mount, noise=0.02)
    wrenches[4, :3] += [4.0, -3.0, 2.0]
    fit = fit_sensor_rotation(links, wrenches)
    assert Rotation.from_matrix(fit.rotation.T @ mount).magnitude() < 0.01


def test_poses_about_one_axis_leave_it_open():
    """Turned about one horizontal axis gravity goes round in a plane: enough but for the sign. By a
    few degrees about it, or about the vertical, it is not.
    """
    mount = Rotation.from_euler('xyz', [0.2, 0.3, 0.4]).as_matrix()

    def about(axis, angles):
        return Rotation.from_rotvec(np.radians(angles)[:, None] * np.array(axis)).as_matrix()

    links = about([1.0, 0, 0], [-120, -60, 0, 60, 120])
    for sign in (True, False):
        wrenches = readings(links, mount, noise=0.01) * (1.0 if sign else -1.0)
        fit = fit_sensor_rotation(links, wrenches, is_force_on_tool=sign)
        assert fit.is_force_on_tool == sign
        assert Rotation.from_matrix(fit.rotation.T @ mount).magnitude() < 0.01
    for links in (about([0, 0, 1.0], [0, 60, 120, 180]), about([1.0, 0, 0], [-20, -10, 10, 20])):
        assert fit_sensor_rotation(links, readings(links, mount)) is None


def test_a_tool_of_no_weight_turns_nothing():
    links = poses(8)
    assert fit_sensor_rotation(links, readings(links, np.eye(3), 0.0, 0.01)) is None


def test_turns_in_words():
    assert turn_in_words(Rotation.from_euler('z', 0.785398).as_matrix()) == '45.0 degrees about z'
    assert turn_in_words(Rotation.from_euler('x', -0.3).as_matrix()) == '-17.2 degrees about x'
    slant = Rotation.from_rotvec([0.3, 0.0, 0.3]).as_matrix()
    assert turn_in_words(slant) == '24.3 degrees about (0.71, 0.00, 0.71)'
