# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Many wrenches at once give what the contact node makes of them one by one."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.evaluation.trials import fault_streams
from frame_ros.evaluation.trials.arm_run import ArmRun, Begins
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.fault_streams import FaultStream, HardSensing, settings_of
from frame_ros.evaluation.trials.pushes import Push
from frame_ros.robots import load_robot
from frame_ros.robots.joint_state_merge import FullJointState
from frame_ros.scenes.simulation.noise.sensor_noise import JointNoise
from frame_ros.scenes.simulation.sampled_steps import SensorSamples
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.sensing.contact.joint_arrays import JointArrays
from frame_ros.sensing.contact.trusted_inputs import TrustedInputs
from frame_ros.sensing.contact.wrench.tool_model import Tool
from frame_ros.sensing.stream_health.streams import WRENCH

FAULTS = ('vibration', 'stamps 20 ms late', 'jitter 5 ms')
SECONDS, TRIAL = 5.0, Trial('wrench_hard', 'fr3', 3, {})


@pytest.fixture(scope='module')
def blocks():
    """A moving FR3 that is pushed twice, and its tool."""
    link = scene_robot('fr3').wrench_link
    sizes = ((2.5, 6.0), (4.2, 2.6))
    pushes = [
        Push(begin, begin + 0.2, link, np.array([0.0, 0.0, 0.05]), np.array([0.6, size, 0.0]))
        for begin, size in sizes
    ]
    arm = ArmRun('fr3', 3, pushes, rest=1.0)
    found = list(arm.blocks(SECONDS))
    body = arm.simulation.model.body(link)
    mass = float(arm.simulation.model.body_subtreemass[body.id])
    return found, Tool(mass, (0.0, 0.0, 0.05))


def one_by_one(blocks, tool, fault):
    """The begins of one fault's detections, by the node's path."""
    robot, model = scene_robot('fr3'), load_robot('fr3')
    arrays = JointArrays(tuple(model.joint_limits))
    stream = FaultStream(TRIAL, fault, tool, arrays)
    trusted = TrustedInputs(model, settings_of('fr3', tool).streams)
    period = robot.sample_steps * robot.timestep
    encoders = JointNoise(1.0 / period, robot.encoder, len(robot.joint_names), TRIAL.seed)
    begins = Begins(period)
    for first in range(0, len(blocks), fault_streams.BLOCKS_AT_ONCE):
        part = blocks[first : first + fault_streams.BLOCKS_AT_ONCE]
        stamps = np.concatenate([block.stamps for block in part])
        columns = zip(*(block.samples for block in part), strict=True)
        samples = SensorSamples(*(np.vstack(column) for column in columns))
        positions, velocities = encoders(samples.positions, samples.velocities)
        stream.send(stamps, samples)
        for row, stamp in enumerate(stamps.tolist()):
            state = FullJointState(
                stamp, robot.joint_names, positions[row], velocities[row], np.zeros(0)
            )
            joints, trust = arrays.take(state), trusted.joints(state)
            if trust.is_used and not trust.unavailable:
                stream.sensor.on_joints(stamp, joints)
            for sent in stream.come(row):
                wrench = SimpleNamespace(
                    stamp=sent.stamp, frame=robot.wrench_link, values=sent.values
                )
                for found in trusted.detections(stream.sensor, WRENCH, wrench, None):
                    begins.add(found.stamp, found.is_contact)
    return begins, stream.sensor


def test_many_at_once_give_the_same_as_one_by_one(blocks, monkeypatch):
    recorded, tool = blocks
    monkeypatch.setattr(fault_streams, 'identified_tool', lambda *_: tool)
    sensing = HardSensing(TRIAL, FAULTS)
    for block in recorded:
        sensing.take(block)
    sensing.finish()
    assert any(stream.begins.begins for stream in sensing.streams)
    # The stamps of these are as far from when the samples were measured as the fault makes them.
    first, late, _ = sensing.streams
    assert first.true_begins.begins == first.begins.begins
    assert late.begins.begins[0] - late.true_begins.begins[0] == pytest.approx(0.02, abs=1e-9)
    for stream in sensing.streams:
        begins, sensor = one_by_one(recorded, tool, stream.fault)
        # Stamps are corrected from some estimate on, in a contact on one path alone: the tool is
        # mounted by the first message there, so estimates are of other moments.
        step, other = (0.02, 0.002) if 'stamps' in stream.fault else (0.0, 1e-9)
        assert stream.begins.begins == pytest.approx(begins.begins, abs=other), stream.fault
        assert stream.begins.in_contact == pytest.approx(begins.in_contact, abs=0.002 + step)
        # The node places the sensor by its first message, which a late stamp holds back: so its
        # first tare may end a block later, of 50 ms.
        assert stream.begins.unavailable == pytest.approx(begins.unavailable, abs=0.06)
        assert stream.sensor.detector.share == pytest.approx(sensor.detector.share, abs=0.01)
        np.testing.assert_allclose(stream.sensor.detector.bias, sensor.detector.bias, atol=0.01)
