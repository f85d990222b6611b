# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The monitor node among faults: wrong clocks, gates that do not stop, what is sent no longer."""

import pytest

rclpy = pytest.importorskip('rclpy')

from monitor_bench import FIXED, Bench, act  # noqa: E402
from own_thread import in_own_thread  # noqa: E402
from rclpy.duration import Duration  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from std_srvs.srv import Trigger  # noqa: E402

from frame_ros.core.health import Level  # noqa: E402
from frame_ros.core.time import SECOND, stamp_ns  # noqa: E402
from frame_ros.msg import ConfidenceMetrics, MonitorState  # noqa: E402
from frame_ros.nodes.monitor.inputs import NewestInputs  # noqa: E402

OK, HALT = MonitorState.LEVEL_OK, MonitorState.LEVEL_HALT


@pytest.fixture()
def bench(ros_context, tmp_path):
    made = Bench(tmp_path)
    yield made
    made.close()


def test_a_stop_is_asked_for_until_it_has_happened_also_by_a_halt_that_holds(bench):
    answers = iter([False, True])

    def answer(request, response):
        response.success = next(answers)
        response.message = 'stopped' if response.success else 'the gate is not active'
        return response

    gate = bench.add(rclpy.create_node('gate'))
    gate.create_service(Trigger, 'gate/stop', answer)
    node = bench.monitor(**FIXED)
    bench.until(HALT, act(bench.cell, 0.1, distance=0.01))
    (result,) = node.set_parameters([Parameter('halts_gate', value=True)])
    assert result.successful, result.reason
    bench.wait(lambda: 'the gate is not active' in node._gate_stop.problem)
    bench.wait(lambda: not node._gate_stop._is_wanted)
    assert node._gate_stop.problem == '' and next(answers, None) is None


def test_what_is_stamped_in_the_future_blinds_nothing_and_is_said(bench):
    bench.monitor(**FIXED)
    cell = bench.cell
    now = cell.get_clock().now()
    hour = (now + Duration(seconds=3600)).to_msg()
    cell.send('confidence_metrics', hour, confidence=0.9)
    cell.send('proximity', hour, distance=1.0)
    cell.send('contact', hour, in_contact=False)
    halt = bench.until(HALT, act(cell, 0.1, distance=0.01))
    assert stamp_ns(halt.score_stamp) < stamp_ns(hour) > stamp_ns(halt.distance_stamp)


def test_a_monitor_that_fails_says_so_and_not_its_last_verdict(bench, monkeypatch):
    node = bench.monitor(**FIXED)
    bench.until(OK, act(bench.cell, 0.9))

    def fail(sample):
        raise ArithmeticError('no verdict')

    monkeypatch.setattr(node._monitor, 'update', fail)
    bench.wait(lambda: 'no verdict' in node.problem())
    status = judgement(node)
    assert status.level == Level.ERROR and 'no verdict' in status.message
    monkeypatch.undo()
    bench.until(OK, act(bench.cell, 0.9))
    bench.wait(lambda: not node.problem())


def judgement(node):
    return next(each for each in node.health() if each.name == 'judgement')


def test_a_monitor_without_verdicts_shows_no_old_one(bench):
    node = bench.monitor(**FIXED)
    bench.until(OK, act(bench.cell, 0.9))
    in_own_thread(node, node.trigger_deactivate)
    assert judgement(node).level == Level.WARN
    node.set_parameters([Parameter('use_sim_time', value=True)])  # and nobody publishes /clock
    in_own_thread(node, node.trigger_activate)
    bench.wait(lambda: judgement(node).level == Level.ERROR)
    assert 'no verdict for' in judgement(node).message


def test_what_comes_with_start_is_of_the_new_episode():
    inputs = NewestInputs(('confidence',))
    message = ConfidenceMetrics(confidence=0.3)
    message.header.stamp.sec = 10
    assert inputs.take_scores(message)
    inputs.expected_duration = 4.0  # latched, of the task
    inputs.take_progress(0.9, 8 * SECOND)
    inputs.begin_episode(9 * SECOND)
    sample = inputs.sample(11 * SECOND, 5.0)
    assert sample.scores == {'confidence': pytest.approx(0.3)}
    assert (sample.scores_stamp, sample.expected_duration) == (10 * SECOND, 4.0)
    assert sample.progress != sample.progress
    inputs.begin_episode(12 * SECOND)
    assert inputs.sample(13 * SECOND).scores is None and inputs.scores_stamp == 0


def test_a_progress_that_stops_is_not_known():
    inputs = NewestInputs(('confidence',))
    inputs.take_progress(0.5, 10 * SECOND)
    assert inputs.sample(15 * SECOND, 5.0).progress == inputs.progress == 0.5
    assert inputs.sample(15 * SECOND + 1, 5.0).progress != 0.5 and inputs.progress != 0.5
