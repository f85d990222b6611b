# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A driver that is started again while the gate holds, with the arm elsewhere, or with the turns of
a joint counted elsewhere.
"""

import math
import time

import numpy as np
import pytest

pytest.importorskip('rclpy')

from gate_bench import Bench, Cell
from std_msgs.msg import Float64MultiArray
from turning_arm import NAMES, urdf

from frame_ros.msg import GateState

TURN = 2.0 * math.pi
CONTROLLER = 'forward_position_controller/commands'
START = (7.0, 0.2, 0.1)


@pytest.fixture()
def bench(ros_context):
    made = Bench(Cell(NAMES, START))
    yield made
    made.close()


@pytest.mark.parametrize('commanded', [NAMES, ('lift',)], ids=['all', 'lift'])
@pytest.mark.parametrize('moved', [(-TURN, 0.0, 0.0), (0.0, 0.8, 0.0)], ids=['turned', 'fell'])
def test_neither_driver_nor_controller_get_the_place_of_before(bench, commanded, moved):
    """Nor do they get that of a joint that no command names, but the controller needs."""
    cell, received = bench.cell, []
    cell.create_subscription(Float64MultiArray, CONTROLLER, received.append, 50)
    bench.gate(
        robot=urdf(),
        output='ros2_control_position',
        **{'limits.acceleration': [4.0], 'watchdogs.stop_timeout': 0.0},
    )
    bench.wait(lambda: cell.count_publishers(CONTROLLER))

    def command():
        places = dict(zip(NAMES, START, strict=True))
        cell.command([places[name] for name in commanded], names=commanded)
        time.sleep(0.03)

    bench.wait_for(GateState.PASSING, command)
    bench.wait(lambda: received)
    cell.measures = False
    bench.wait_for(GateState.HOLDING, command)
    assert cell.states[-1].cause == 'stale_joint_states'
    time.sleep(0.3)  # whatever was under way
    cell.positions = places = [start + by for start, by in zip(START, moved, strict=True)]
    before = len(cell.commands), len(received)
    cell.measures = True
    bench.wait_for(GateState.STOPPED, command)
    assert ('turn' if moved[0] else 'lift') in cell.states[-1].text
    time.sleep(4.0)  # in which it could have turned once
    there = dict(zip(NAMES, places, strict=True))
    sent = [
        (name, place)
        for _, message in cell.commands[before[0] :]
        for name, place in zip(message.name, message.position, strict=True)
    ]
    held = [name for name in commanded if not moved[NAMES.index(name)]]
    assert {name for name, _ in sent} == set(held)
    assert not [each for each in sent if abs(each[1] - there[each[0]]) > 0.1]
    assert cell.positions == pytest.approx(places)
    got = np.array([each.data for each in received[before[1] :]]).reshape(-1, 3)
    assert np.abs(got - places).max(initial=0.0) < 0.1
