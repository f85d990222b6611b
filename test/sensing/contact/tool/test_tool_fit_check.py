# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fits of a tool that do not explain the readings, of a sensor in MuJoCo that is turned."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.time import SECOND
from frame_ros.sensing.contact.wrench.sensor_rotation import fit_sensor_rotation
from frame_ros.sensing.contact.wrench.still_poses import StillPose
from frame_ros.sensing.contact.wrench.tool_fit_check import force_residual, misfit
from frame_ros.sensing.contact.wrench.tool_identification import fit_tool

BIAS = np.array([3.0, -5.0, 8.0, 0.1, 0.2, -0.1])
LINKS = Rotation.random(10, random_state=4).as_matrix()


def mujoco_readings(mount, mass=1.1):
    """(K, 6) of a force-torque sensor turned by `mount` in its link, as MuJoCo has them: reactions,
    so that the sign is turned round. The link stands still; gravity turns instead.
    """
    mujoco = pytest.importorskip('mujoco')
    x, y, z, w = Rotation.from_matrix(mount).as_quat()
    model = mujoco.MjModel.from_xml_string(f"""
        <mujoco><worldbody><body name="link"><body name="tool">
          <inertial mass="{mass}" pos="0.03 -0.02 0.06" diaginertia="0.004 0.003 0.002"/>
          <site name="sensor" quat="{w} {x} {y} {z}"/>
        </body></body></worldbody><sensor>
          <force site="sensor"/><torque site="sensor"/></sensor></mujoco>""")
    data, rows = mujoco.MjData(model), []
    for link in LINKS:
        model.opt.gravity = link.T @ [0.0, 0.0, -9.80665]
        mujoco.mj_forward(model, data)
        rows.append(-data.sensordata.copy())
    return np.array(rows)


def judged(readings, noise=0.05, drift=0.0, mount=None, seed=0, most=None):
    """Returns the fit and what is said of it, of poses 4 s apart whose means have a third of the
    noise.
    """
    rng, scale = np.random.default_rng(seed), np.array([1.0, 1.0, 1.0, 0.04, 0.04, 0.04])
    poses = []
    for number, row in enumerate(readings):
        wrench = row + BIAS + (rng.normal(size=6) * noise / 3.0 + drift * 4.0 * number) * scale
        poses.append(StillPose(number * 4 * SECOND, np.zeros(7), wrench, noise * scale, 250))
    rotations = LINKS if mount is None else LINKS @ mount
    wrenches = np.array([pose.wrench for pose in poses])
    fit = fit_tool(rotations, wrenches, is_robust=True)
    return fit, misfit(fit, poses, fit_sensor_rotation(rotations, wrenches), most), poses


@pytest.mark.parametrize(
    ('vector', 'words'),
    [
        ([0, 0, 0.785398], '45.0 degrees about z'),
        ([0, 0, 0.3], '17.2 degrees about z'),
        ([0, -0.12, 0], '-6.9 degrees about y'),
        ([0.3, 0.0, -0.4], 'about (0.60, 0.00, -0.80)'),
        ([2.5, 0, 0], '143.2 degrees about x'),
    ],
)
def test_a_turned_sensor_is_found_and_with_its_mount_the_fit_is_right(vector, words):
    mount = Rotation.from_rotvec(vector).as_matrix()
    readings = mujoco_readings(mount)
    # By 143 degrees the mass comes out below 0.
    if abs(vector[0]) < 2.0:
        _, why, _ = judged(readings, noise=0.01)
        assert words in why and 'N are left then, and the tool has 1.100 kg' in why
    fit, why, _ = judged(readings, mount=mount)
    assert why == '' and fit.mass == pytest.approx(1.1, abs=0.01)
    in_link = mount @ fit.centre_of_mass
    np.testing.assert_allclose(in_link, [0.03, -0.02, 0.06], atol=0.002)


@pytest.mark.parametrize('noise', [0.01, 0.05, 0.2])
@pytest.mark.parametrize('mass', [0.1, 1.1])
@pytest.mark.parametrize('seed', range(5))
def test_noise_and_drift_are_no_misfit(noise, mass, seed):
    _, why, _ = judged(mujoco_readings(np.eye(3), mass), noise, drift=0.001, seed=seed)
    assert why == ''


def test_what_is_expected_follows_noise_drift_and_weight():
    """Worked by hand: 3 sqrt(noise^2 + (rate T)^2 / 12 + (0.01 m g)^2)."""
    readings = mujoco_readings(np.eye(3))
    fit, _, poses = judged(readings, 0.2)
    expected = 3.0 * np.sqrt(0.2**2 + (0.002 * 36.0) ** 2 / 12.0 + (0.01 * 1.1 * 9.80665) ** 2)
    assert force_residual(fit, poses).most == pytest.approx(expected, rel=0.01)


def test_a_pose_that_was_touched_counts_less_and_several_are_named():
    readings = mujoco_readings(np.eye(3))
    readings[3] += [4.0, -2.5, 1.0, 0.2, 0.1, 0.0]
    fit, why, _ = judged(readings, 0.01)
    assert why == '' and fit.mass == pytest.approx(1.1, abs=0.02)
    readings[6] += [-90.0, 120.0, 50.0, 0.5, 0.1, 0.7]
    readings[8] += [90.0, 50.0, -120.0, 0.5, -0.8, 0.2]
    assert 'Pose 4, 7, 9 does not fit the others' in judged(readings, 0.01)[1]


def test_another_tool_in_some_poses_is_no_rotation():
    readings = mujoco_readings(np.eye(3))
    readings[::2] = mujoco_readings(np.eye(3), 2.2)[::2]
    _, why, _ = judged(readings)
    assert 'No rotation of the sensor explains them either' in why


def test_a_torque_about_another_point():
    readings = mujoco_readings(np.eye(3))
    readings[5:, 3:] += [0.5, -0.5, 0.5]
    _, why, _ = judged(readings)
    assert 'The forces fit, the torques do not' in why


def test_a_residual_that_is_accepted():
    readings = mujoco_readings(Rotation.from_euler('z', 0.3).as_matrix())
    assert judged(readings)[1] and judged(readings, most=0.5)[1]
    assert judged(readings, most=3.0)[1] == ''
