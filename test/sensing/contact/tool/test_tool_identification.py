# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Identification of a tool from still poses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from frame_ros.core.errors import ShapeError, ValueRangeError
from frame_ros.sensing.contact.wrench.tool_identification import fit_tool
from frame_ros.sensing.contact.wrench.tool_model import Tool, ToolLoad

TOOL = Tool(0.73, (0.01, -0.005, 0.06))
BIAS = np.array([3.0, -2.0, 5.0, 0.1, -0.2, 0.3])


def readings(rotations, tool=TOOL, noise=0.0, seed=0):
    load = ToolLoad(tool)
    clean = load.weights(load.gravities(rotations)) + BIAS
    scale = noise * np.array([1.0, 1.0, 1.0, 0.04, 0.04, 0.04])
    return clean + np.random.default_rng(seed).normal(size=clean.shape) * scale


def poses(count, seed=1):
    return Rotation.random(count, random_state=seed).as_matrix()


def about(axis, degrees):
    angles = np.radians(degrees)[:, None] * np.array(axis, dtype=float)
    return Rotation.from_rotvec(angles).as_matrix()


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 1000), st.floats(0.1, 3.0), st.booleans())
def test_without_noise_it_is_exact(seed, mass, is_force_on_tool):
    tool = Tool(mass, (0.02, 0.03, -0.08))
    rotations = poses(8, seed)
    sign = 1.0 if is_force_on_tool else -1.0
    fit = fit_tool(rotations, sign * readings(rotations, tool), is_force_on_tool=is_force_on_tool)
    assert fit.mass == pytest.approx(mass, abs=1e-9)
    np.testing.assert_allclose(fit.centre_of_mass, tool.centre_of_mass, atol=1e-8)
    np.testing.assert_allclose(fit.bias, BIAS, atol=1e-8)
    assert not fit.undetermined and fit.force_rms < 1e-9 and fit.torque_rms < 1e-9
    assert fit.tool().mass == fit.mass


def test_standard_errors_are_those_of_many_fits():
    rotations = poses(10)
    fits = [fit_tool(rotations, readings(rotations, noise=0.1, seed=s)) for s in range(120)]
    masses = np.array([fit.mass for fit in fits])
    centres = np.array([fit.centre_of_mass for fit in fits])
    biases = np.array([fit.bias for fit in fits])
    assert np.mean([fit.mass_error for fit in fits]) == pytest.approx(masses.std(), rel=0.2)
    expected = np.mean([fit.centre_error for fit in fits], axis=0)
    np.testing.assert_allclose(centres.std(axis=0), expected, rtol=0.25)
    expected = np.mean([fit.bias_error for fit in fits], axis=0)
    np.testing.assert_allclose(biases.std(axis=0), expected, rtol=0.25)
    assert abs(masses.mean() - TOOL.mass) < 3 * masses.std() / np.sqrt(120)


def test_poses_about_one_horizontal_axis_leave_nothing_open():
    rotations = about([1, 0, 0], [-120, -60, 0, 60, 120])
    fit = fit_tool(rotations, readings(rotations))
    np.testing.assert_allclose(fit.centre_of_mass, TOOL.centre_of_mass, atol=1e-9)
    assert fit.condition < 10


def test_poses_about_the_vertical_tell_nothing():
    rotations = about([0, 0, 1], [0, 60, 120, 180])
    fit = fit_tool(rotations, readings(rotations))
    assert fit.undetermined[0] == 'mass'
    # Nothing of what is not determined is told as if it were, whatever the sign of the reading.
    for wrenches in (readings(rotations), -readings(rotations)):
        fit = fit_tool(rotations, wrenches)
        told = [fit.mass, fit.mass_error, *fit.centre_of_mass, *fit.centre_error, *fit.bias]
        assert np.isnan([*told, *fit.bias_error]).all() and fit.force_rms < 1e-9
        with pytest.raises(ValueRangeError, match='the 4 poses do not .*varies by 0.0 degrees'):
            fit.tool()


def test_poses_too_much_alike_are_told_with_numbers():
    """Half of the poses 4 degrees one way, half the other: 4 degrees, root mean square."""
    rotations = about([1, 0, 0], [-4, 4, -4, 4])
    with pytest.raises(ValueRangeError) as caught:
        fit_tool(rotations, readings(rotations)).tool()
    for part in ('varies by 4.0 degrees', 'at least 8 are needed', 'add poses', '8 to 12 poses'):
        assert part in str(caught.value)
    rotations = about([1, 0, 0], [-9, 9, -9, 9])
    fit = fit_tool(rotations, readings(rotations))
    assert fit.mass == pytest.approx(TOOL.mass, abs=1e-6)
    assert 'varies by 0.0 degrees' in fit.undetermined[0] and 'at least 8' in fit.undetermined[0]


def test_gravity_up_and_down_leaves_the_place_along_it_open():
    rotations = about([1, 0, 0], [0, 180, 1, 179])
    fit = fit_tool(rotations, readings(rotations))
    assert fit.mass == pytest.approx(TOOL.mass, abs=1e-6)
    assert len(fit.undetermined) == 1 and '1.00) of the sensor' in fit.undetermined[0]
    np.testing.assert_allclose(fit.bias[:3], BIAS[:3], atol=1e-6)
    assert np.isnan(fit.centre_of_mass).all() and np.isnan(fit.bias[3:]).all()


def test_a_touched_pose_counts_less_in_a_robust_fit():
    rotations = poses(12)
    wrenches = readings(rotations, noise=0.02)
    wrenches[4, :3] += [4.0, -3.0, 2.0]
    plain, robust = fit_tool(rotations, wrenches), fit_tool(rotations, wrenches, is_robust=True)
    assert abs(robust.mass - TOOL.mass) < 0.2 * abs(plain.mass - TOOL.mass)
    assert np.argmin(robust.weights) == 4 and robust.weights[4] < 0.1
    assert np.argmax(np.linalg.norm(plain.residuals[:, :3], axis=1)) == 4
    assert (plain.weights == 1).all()


def test_the_other_sign_is_found_out():
    rotations = poses(6)
    with pytest.raises(ValueRangeError, match='is_force_on_tool to false'):
        fit_tool(rotations, -readings(rotations))


def test_a_tool_of_no_weight_has_no_centre():
    rotations = poses(6)
    fit = fit_tool(rotations, readings(rotations, Tool(0.001)))
    assert 'weighs only' in fit.undetermined[0] and np.isnan(fit.centre_of_mass).all()
    with pytest.raises(ValueRangeError, match='no weight that turns with gravity .*needs no tool'):
        fit.tool()


def test_bad_input():
    rotations = poses(5)
    wrenches = readings(rotations)
    with pytest.raises(ShapeError, match='3 still poses; at least 4 .* by 8 degrees'):
        fit_tool(rotations[:3], wrenches[:3])
    with pytest.raises(ShapeError):
        fit_tool(rotations, wrenches[:4])
    with pytest.raises(ValueRangeError, match='pose 2'):
        fit_tool(rotations, np.where(np.arange(5)[:, None] == 2, np.nan, wrenches))
    with pytest.raises(ValueRangeError, match='rotation'):
        fit_tool(2.0 * rotations, wrenches)
