# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact by wrench while joint states come seldom, without velocities, or in coarse steps."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from frame_ros.core.time import MILLISECOND
from frame_ros.robots import load_robot
from frame_ros.robots.robot import Robot
from frame_ros.sensing.contact.wrench.batch import process
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import Tool, ToolLoad
from frame_ros.sensing.contact.wrench.tool_motion import (
    ToolMotion,
    ToolMotionEstimator,
    ToolMotions,
)

LINK = 'fr3_hand'
TOOL = Tool(0.73, (0.0, 0.01, 0.03))
HOME = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785])
REST, MOVE, TICKS = 700, 330, 1300  # ms at rest, of the motion, and in all
# rad, of a minimum-jerk motion; the tool reaches 2.4 m/s^2.
WAY = np.array([0.12, 0.035, 0.0, 0.05, 0.0, 0.035, 0.07])
COARSE = 2 * np.pi / 4096  # rad, an encoder of 12 bits


@cache
def arm():
    robot = load_robot('fr3')
    return robot, Robot(robot.urdf, LINK)


@cache
def positions():
    """(TICKS + 2, 7) at 1 kHz, from one tick before the first sample to one after the last."""
    s = np.clip((np.arange(-1, TICKS + 1) - REST) / MOVE, 0.0, 1.0)[:, None]
    return HOME + WAY * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)


@cache
def wrenches():
    """(TICKS, 6) that a sensor without noise reads of the tool, by differences of the pose."""
    poses = [arm()[1].forward(q) for q in positions()]
    places = np.array([place for place, _ in poses])
    turned = Rotation.from_quat([quaternion for _, quaternion in poses])
    omega = (turned[1:] * turned[:-1].inv()).as_rotvec() * 1e3
    motions = ToolMotions.of(
        [
            ToolMotion(turned[i].as_matrix(), a, w, alpha, True)
            for i, a, w, alpha in zip(
                range(1, TICKS + 1), np.diff(places, 2, axis=0) * 1e6,
                (omega[1:] + omega[:-1]) / 2.0, np.diff(omega, axis=0) * 1e3, strict=True,
            )
        ]
    )  # fmt: skip
    load = ToolLoad(TOOL)
    return load.weights(load.gravities(motions.rotation)) + load.inertials(motions)


def estimated(period, has_velocities, resolution=0.0):
    """The motions at 1 kHz by joint states every `period` ms."""
    estimator = ToolMotionEstimator(arm()[0], LINK)
    q = positions()
    speeds = (q[2:] - q[:-2]) * 500.0
    q = np.round(q / resolution) * resolution if resolution else q
    found = []
    for tick in range(TICKS):
        if tick % period == 0:
            estimator.update(
                tick * MILLISECOND, q[tick + 1], speeds[tick] if has_velocities else None
            )
        found.append(estimator.at(tick * MILLISECOND))
    return ToolMotions.of(found)


def run(motions, tool=TOOL, push=0.0):
    contact = WrenchContact(WrenchOptions(still_share=1.0), tool)
    noise = np.random.default_rng(0).normal(size=(TICKS, 6)) * [0.1, 0.1, 0.1, 4e-3, 4e-3, 4e-3]
    readings = wrenches() + noise
    readings[REST + 200 : REST + 300, 1] += push
    return process(contact, np.arange(TICKS) * MILLISECOND, readings, motions), contact


@pytest.mark.parametrize(
    ('period', 'has_velocities', 'resolution'),
    [(20, False, 0.0), (50, False, 0.0), (20, False, COARSE)],
)
def test_inertia_that_joint_states_cannot_tell_is_no_contact(period, has_velocities, resolution):
    motions = estimated(period, has_velocities, resolution)
    found, _ = run(motions)
    assert (found.is_contact[REST:] == 0).all()
    # It would be one, were the motion taken for as good as it looks.
    unsuspecting = replace(motions, delay=0.0 * motions.delay, noise=0.0 * motions.noise)
    assert (run(unsuspecting)[0].is_contact > 0).any()


def test_a_push_is_seen_all_the_same():
    found, _ = run(estimated(20, False), push=5.0)
    assert found.is_contact[REST + 200 : REST + 300].max() == 1
    assert found.is_contact[REST : REST + 200].max() == 0


def test_accelerations_that_are_the_steps_of_an_encoder_are_not_used():
    motions = estimated(1, False, COARSE)
    first = REST + 60  # before the first steps nothing is known of them
    found, _ = run(motions)
    assert (
        found.share[first:].max()
        < 1.0
        < run(replace(motions, noise=0.0 * motions.noise))[0].share[first:].max()
    )
    assert motions.noise[-1] > 2.0, 'they are not forgotten while it stands'


def test_joint_states_at_a_kilohertz_widen_as_before():
    """By a share of the inertia that is compensated, and nothing at rest."""
    motions = estimated(1, True)
    contact = run(motions)[1]
    assert (motions.noise == 0.0).all()
    assert contact.peak[0] < 0.2


def test_a_tool_of_no_weight_changes_nothing():
    motions = estimated(20, False, COARSE)
    found, contact = run(motions, Tool())
    assert contact.peak == (0.0, 0.0) and motions.noise.max() > 2.0
    zero = np.zeros_like(motions.linear_acceleration)
    exact = replace(
        motions, linear_acceleration=zero, angular_velocity=zero, angular_acceleration=zero,
        delay=0.0 * motions.delay, noise=0.0 * motions.noise,
    )  # fmt: skip
    np.testing.assert_array_equal(found.share, run(exact, Tool())[0].share)


def test_a_motion_tells_how_its_accelerations_scatter():
    fine, coarse = estimated(20, False), estimated(20, False, COARSE)
    assert fine.noise.max() < 1.0 < coarse.noise[REST:].max()
    assert (estimated(20, True, COARSE).noise == 0.0).all()
    assert coarse.noise[REST - 20] == 0.0, 'an encoder that stands tells no steps'
