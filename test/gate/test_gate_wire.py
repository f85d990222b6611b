# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The check of the gate's outputs on the wire: silent where limits are kept, and not where not."""

import random

import numpy as np
import pytest
from benchmark_parts import import_parts

from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.robots import load_robot

SLOT, DELAY = 0.02, 0.005


@pytest.fixture()
def check(monkeypatch):
    (gate_wire,) = import_parts(monkeypatch, 'gate_wire')
    return gate_wire.WireCheck(limits_of(load_robot('so101')), 0, SLOT + DELAY)


def stream(speed, gain, seed=0, count=1000):
    """(place, published) of a joint driven to and fro at so many times its limits."""
    limits, rng = limits_of(load_robot('so101')), random.Random(seed)
    clock = time = place = velocity = 0.0
    for _ in range(count):
        clock += rng.choice((0.02, 0.02, 0.013, 0.03, 0.005))
        later = max(time, clock - rng.uniform(0.0, SLOT))
        h, time = later - time, later
        sign = -np.sign(place) if abs(place) > 0.8 else rng.choice((-1.0, 1.0))
        most = gain * limits.acceleration[0] * h
        wanted = sign * speed * limits.velocity[0]
        velocity = np.clip(wanted, velocity - most, velocity + most) if h else velocity
        place = float(np.clip(place + velocity * h, -1.9, 1.9))
        if abs(place) == 1.9:
            return
        yield place, clock + rng.uniform(0.0, DELAY)


@pytest.mark.parametrize('seed', range(5))
def test_a_joint_that_keeps_to_its_limits_breaks_none(check, seed):
    assert not any(check.see(*output) for output in stream(1.0, 1.0, seed))


@pytest.mark.parametrize(('speed', 'gain'), [(1.3, 1.0), (1.0, 2.0), (0.5, 20.0)])
def test_a_joint_that_does_not_is_found(check, speed, gain):
    found = [text for output in stream(speed, gain) if (text := check.see(*output))]
    assert found and 'shoulder_pan' in found[0]


def test_a_place_out_of_range_is_found(check):
    assert check.see(2.5, 0.0) == 'shoulder_pan at 2.5'
