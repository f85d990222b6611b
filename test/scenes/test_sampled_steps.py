# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Sensors sampled within a block of timesteps are those after each single step."""

import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.scenes import PickPlaceSimulation
from frame_ros.scenes.simulation.sampled_steps import StepSampler


@pytest.mark.parametrize('robot', ['fr3', 'so101'])
def test_samples_are_those_after_each_single_step(robot):
    blockwise, single = (PickPlaceSimulation(robot=robot) for _ in range(2))
    sampler = StepSampler(blockwise, 5)
    targets = blockwise.targets
    targets[1] += 0.3
    for _ in range(20):
        samples = sampler.step(targets)
        for row in range(5):
            single.step(targets, 1)
            joints, wrench = single.joint_state(), np.concatenate(single.wrench())
            assert samples.positions[row] == pytest.approx(joints.positions, abs=1e-9)
            assert samples.velocities[row] == pytest.approx(joints.velocities, abs=1e-7)
            assert samples.efforts[row] == pytest.approx(joints.efforts, abs=1e-6)
            assert samples.wrenches[row] == pytest.approx(wrench, abs=1e-6)
    assert blockwise.time == pytest.approx(single.time)


def test_each_timestep_may_have_targets_of_its_own():
    blockwise, single = (PickPlaceSimulation(robot='fr3') for _ in range(2))
    rows = blockwise.targets + np.linspace(0.01, 0.05, 5)[:, None] * (1, 1, 1, 1, 1, 1, 1, 0)
    samples = StepSampler(blockwise, 5).step(rows)
    for row, targets in enumerate(rows):
        single.step(targets, 1)
        assert samples.positions[row] == pytest.approx(single.joint_state().positions, abs=1e-9)
    assert blockwise.targets == pytest.approx(rows[-1])
