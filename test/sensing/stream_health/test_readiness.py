# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reasons for which a run still waits, from the state of its nodes' inputs and outputs."""

import pytest

from frame_ros.core.health import Level
from frame_ros.core.time import SECOND
from frame_ros.sensing.stream_health.node_health import InputHealth, lateness_of
from frame_ros.sensing.stream_health.readiness import (
    SILENT,
    InputState,
    NodeState,
    OutputState,
    ReadinessBoard,
)

ASKED = ' (reliable, volatile was asked for)'


@pytest.mark.parametrize(
    ('state', 'problem'),
    [
        (InputState('/a'), ''),
        (InputState('/a', is_required=True), 'nobody publishes /a'),
        (
            InputState('/a', offered=1),
            '/a: not connected to its publisher' + ASKED,
        ),
        (
            InputState('/a', offered=3, matched=2),
            '/a: connected to 2 of 3 publishers' + ASKED,
        ),
        (
            InputState('/a', offered=1, matched=1, is_steady=True),
            '/a: connected, but no message has come',
        ),
        (InputState('/a', offered=1, matched=1, is_steady=True, received=1), ''),
        (InputState('/a', offered=1, matched=1), ''),
    ],
)
def test_an_input_says_what_it_lacks(state, problem):
    assert state.problem == problem


def test_a_node_is_ready_when_it_and_its_inputs_are():
    late = InputState('/contact', offered=1)
    assert NodeState('/metrics').is_ready
    assert NodeState('/metrics', problem='it is not active', inputs=(late,)).reason == (
        'it is not active; /contact: not connected to its publisher' + ASKED
    )


def test_the_board_names_nodes_that_are_missing_silent_or_not_ready():
    board = ReadinessBoard(['/metrics', '/gate'])
    assert board.missing() == ['/metrics: it is not running', '/gate: it is not running']
    board.set_present(['/metrics', '/contact'])
    board.take(NodeState('/contact', problem='taring'))
    assert board.missing() == [
        '/metrics: it has not reported yet whether it is ready',
        '/gate: it is not running',
        '/contact: taring',
    ]
    board.set_present(['/metrics', '/gate'])  # contact has ended
    board.take(NodeState('/metrics'))
    board.take(NodeState('/gate'))
    assert board.missing() == []


def test_a_node_that_reports_no_more_is_missing():
    """For up to 20 s ROS says that one that was killed is present."""
    board = ReadinessBoard(['/policy'])
    board.set_present(['/policy', '/gate'])
    board.take(NodeState('/policy'), received=100.0)
    board.take(NodeState('/gate'))
    assert board.missing(100.0 + SILENT) == []
    (text,) = board.missing(100.5 + SILENT)
    assert text == '/policy: it stands still or was killed, nothing for 8 s'
    board.take(NodeState('/policy'), received=101.0 + SILENT)
    assert board.missing(101.5 + SILENT) == []


def test_a_publisher_must_reach_every_node_that_listens():
    """A subscription may know of its publisher before that knows of the subscription."""
    connected = (InputState('/contact', offered=1, matched=1),)
    board = ReadinessBoard()
    board.set_present(['/contact', '/metrics', '/recorder'])
    board.take(NodeState('/metrics', inputs=connected))
    board.take(NodeState('/recorder', inputs=connected))
    board.take(NodeState('/contact', outputs=(OutputState('/contact', 1),)))
    assert board.missing() == ['/contact: its /contact reaches 1 of the 2 nodes that listen']
    board.take(NodeState('/contact', outputs=(OutputState('/contact', 2),)))
    assert board.missing() == []


def test_lateness_is_from_the_stamp_to_the_arrival():
    """On the node's clock, which may be another than the system's: here 100 s behind."""
    state = InputState('/a', last_stamp=899 * SECOND, last_received=1000 * SECOND)
    assert lateness_of(state, now=902 * SECOND, wall=1002 * SECOND) == pytest.approx(1.0)
    assert lateness_of(InputState('/a'), 5, 5) is None


def test_health_has_rates_and_says_when_a_steady_input_falls_silent():
    health = InputHealth()

    def state(received, last_received):
        return NodeState(
            '/metrics',
            inputs=(
                InputState(
                    '/pose', is_steady=True, offered=1, matched=1, received=received,
                    last_received=last_received,
                ),
            ),
        )  # fmt: skip

    first = health.status(state(10, 5 * SECOND), 5 * SECOND, 5.0)
    assert (first.level, first.message) == (Level.OK, 'ready')
    second = health.status(state(60, 6 * SECOND), 6 * SECOND, 6.0)
    assert second.values['/pose'].startswith('50.0 Hz, 60 received')
    silent = health.status(state(60, 6 * SECOND), 9 * SECOND, 9.0)
    assert (silent.level, silent.message) == (Level.WARN, '/pose: nothing for 3.0 s')
    assert health.status(NodeState('/metrics', problem='x'), 0, 10.0).message == 'not ready: x'
