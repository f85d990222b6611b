# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Doubts that arise as an episode ends, while its policy still commands."""

import pytest
from gate_and_arm import Bench

from frame_ros.gate.causes import Cause
from frame_ros.gate.records import GateStatus, Reason


@pytest.mark.parametrize('cause', [Cause.SECOND_PUBLISHER, Cause.COMMAND_FLOOD])
def test_a_command_right_after_the_end_is_refused_while_there_is_a_doubt(cause):
    """It had ended in an error inside, which is a latched stop."""
    bench = Bench()
    bench.gate.on_boundary('start', 'e', bench.moment.clock)
    bench.wait(0.02)
    bench.drive()
    bench.gate.on_boundary('end', 'e', bench.moment.clock)
    bench.wait(0.02)
    if cause == Cause.SECOND_PUBLISHER:
        assert bench.measure(bench.joints, 'another')
    else:
        bench.gate.doubt(Reason(cause, 'too many'), bench.moment)
    bench.wait(0.02)
    refused = bench.gate.counts.refused
    bench.command(bench.joints)
    assert bench.gate.counts.refused == refused + 1
    assert bench.interventions[-1].reason.cause == cause
    bench.wait(2.0)
    assert bench.status == GateStatus.IDLE
