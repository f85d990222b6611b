# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Free motion: drawn from a seed, within limits, and clear of everything when it is carried out."""

from itertools import islice

import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.core.errors import ValueRangeError
from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.robots import load_robot
from frame_ros.scenes.generation.free_motion import FreeMotion, MotionStyle
from frame_ros.scenes.simulation.simulation import PickPlaceSimulation

RATE = 50.0
STYLE = MotionStyle(pause=(0.0, 0.1))


@pytest.fixture(scope='module')
def simulation():
    return PickPlaceSimulation(3)


def drawn(simulation, seed, seconds=6.0, style=STYLE):
    moves = FreeMotion(simulation, seed, RATE, style)
    return np.array(list(islice(moves.commands(), int(seconds * RATE))))


@pytest.fixture(scope='module')
def commands(simulation):
    return drawn(simulation, 3)


def test_the_seed_gives_the_same_motion_and_the_simulation_stays(simulation, commands):
    before = simulation.data.qpos.tobytes()
    assert (drawn(simulation, 3) == commands).all()
    assert not np.allclose(drawn(simulation, 4), commands)
    assert (simulation.time, simulation.data.qpos.tobytes()) == (0.0, before)


@pytest.mark.parametrize('sway', [0.0, 1.0])
def test_it_begins_at_home_and_keeps_to_the_limits_of_the_joints(simulation, sway):
    rows = drawn(simulation, 5, style=MotionStyle(pause=(0.0, 0.0), sway=sway))
    assert rows[0] == pytest.approx(simulation.robot.home)
    assert ((simulation.lower <= rows) & (rows <= simulation.upper)).all()
    limits = limits_of(load_robot('so101'))
    order = [limits.names.index(name) for name in simulation.joint_names]
    speeds = np.abs(np.diff(rows, axis=0)) * RATE / limits.velocity[order]
    # It moves, as fast as its style says; a window over sines adds a little.
    assert 0.08 < speeds.max() < 0.75
    assert (np.ptp(rows, axis=0) > 0.02).all()


def test_an_arm_that_follows_touches_nothing(simulation, commands):
    simulation.reset(3)
    least = np.inf
    for command in commands:
        simulation.step(command, 10)
        assert simulation.contacts() == []
        least = min(least, simulation.distance().distance)
    # The servos lag and sag by a part of the clearance.
    assert least > STYLE.clearance / 2


def test_no_commands_without_a_rate(simulation):
    with pytest.raises(ValueRangeError, match='positive rate'):
        FreeMotion(simulation, 0, 0.0, STYLE)
