# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Thresholds of the wrench after a batch: those of samples taken one by one."""

import numpy as np
import pytest

from frame_ros.core.time import MILLISECOND
from frame_ros.sensing.contact.wrench.batch import process
from frame_ros.sensing.contact.wrench.detector import WrenchContact
from frame_ros.sensing.contact.wrench.options import WrenchOptions
from frame_ros.sensing.contact.wrench.tool_model import Tool
from frame_ros.sensing.contact.wrench.tool_motion import ToolMotion, ToolMotions

TOOL = Tool(0.5, (0.0, 0.0, 0.05))
COUNT = 1180  # the last sample is within a block


def test_thresholds_after_a_batch_are_those_after_single_samples():
    motion = ToolMotion.at_rest(np.eye(3))
    stamps = np.arange(1, COUNT + 1) * MILLISECOND
    wrenches = 0.01 * np.random.default_rng(0).standard_normal((COUNT, 6))
    batch, one = (WrenchContact(WrenchOptions(), TOOL, np.zeros(6)) for _ in range(2))
    batch.bias = one.bias = np.array([0.0, 0.0, 0.5 * 9.80665, 0.0, 0.0, 0.0])
    process(batch, stamps, wrenches, ToolMotions.of([motion] * COUNT))
    for stamp, wrench in zip(stamps.tolist(), wrenches, strict=True):
        one.update(stamp, wrench, motion)
    assert one.limits[0] < 0.9  # at rest
    np.testing.assert_allclose(batch.limits, one.limits)
    assert batch.sensitivity.force == pytest.approx(one.sensitivity.force)
