# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The monitor node over real rclpy: scores, distances and contacts in, verdicts out; the gate."""

import attrs
import pytest

rclpy = pytest.importorskip('rclpy')

from gate_bench import HOME, JOINTS  # noqa: E402
from gate_bench import Cell as GateCell  # noqa: E402
from lifecycle_msgs.msg import State  # noqa: E402
from monitor_bench import FIXED, Bench, act, calibration  # noqa: E402
from own_thread import in_own_thread  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402

from frame_ros.bags.find_bags import find_bags  # noqa: E402
from frame_ros.bags.reader import Bag  # noqa: E402
from frame_ros.bags.streams.events import read_events  # noqa: E402
from frame_ros.core.errors import CalibrationError  # noqa: E402
from frame_ros.core.health import Level  # noqa: E402
from frame_ros.core.time import stamp_ns  # noqa: E402
from frame_ros.episodes.monitoring.replay import replay_monitor  # noqa: E402
from frame_ros.msg import EpisodeEvent, GateState, MonitorState  # noqa: E402
from frame_ros.nodes.gate.node import GateNode  # noqa: E402
from frame_ros.nodes.monitor.inputs import MonitorSubscriptions, NewestInputs  # noqa: E402
from frame_ros.nodes.monitor.node import MonitorNode  # noqa: E402
from frame_ros.nodes.monitor.options import MonitorOptions  # noqa: E402

OK, CAUTION, HALT, STALE = (
    getattr(MonitorState, f'LEVEL_{name}') for name in ('OK', 'CAUTION', 'HALT', 'STALE')
)


@pytest.fixture()
def bench(ros_context, tmp_path):
    made = Bench(tmp_path)
    yield made
    made.close()


def test_a_halt_is_recommended_where_the_policy_is_unsure_and_near_or_in_contact(bench):
    bench.monitor(calibration())
    cell = bench.cell
    cell.sense(1.0)
    outside = bench.until(STALE)
    assert outside.episode_id == ''
    cell.event(EpisodeEvent.START)
    bench.wait(lambda: bench.states[-1].episode_id == 'e1')
    sure = bench.until(OK, act(cell, 0.9, distance=0.02), confidence=0.9, distance=0.02)
    assert sure.halt_distance == 0.08
    assert 0.4 <= sure.threshold <= 0.6 and 0.0 <= sure.completion < 1.0
    unsure = bench.until(CAUTION, act(cell, 0.3), distance=1.0)
    assert unsure.causes == ['score'] and not unsure.is_halt_recommended
    halt = bench.until(HALT, act(cell, 0.3, distance=0.05), distance=0.05)
    assert set(halt.causes) == {'score', 'near'} and halt.is_halt_recommended
    assert 'confidence 0.3 is below its threshold' in halt.reasons[0]
    bench.until(OK, act(cell, 0.9))
    touched = bench.until(HALT, act(cell, 0.3, contact=True), in_contact=True)
    assert 'in_contact' in touched.causes
    cell.event(EpisodeEvent.END)
    bench.wait(lambda: bench.states[-1].episode_id == '')
    halts = [e for e in cell.events if e.source == 'monitor']
    assert len(halts) >= 2 and {(e.type, e.episode_id) for e in halts} == {
        (EpisodeEvent.NOTE, 'e1')
    }
    assert all(e.text.startswith('halt: confidence 0.3 is below') for e in halts)
    stamps = [stamp_ns(state.header.stamp) for state in bench.states]
    assert all(before < after for before, after in zip(stamps, stamps[1:]))


def test_a_contact_between_two_inferences_is_judged_at_once(bench):
    bench.monitor(**FIXED, rate=0.1)  # so that nothing but inputs has it judged
    caution = bench.until(CAUTION, act(bench.cell, 0.2))
    halt = bench.until(HALT, lambda: bench.cell.send('contact', in_contact=True), in_contact=True)
    assert stamp_ns(halt.score_stamp) >= stamp_ns(caution.score_stamp)
    assert 'in_contact' in halt.causes


def test_what_has_waited_is_taken_at_once_and_judged_where_it_counts(bench):
    judged = []
    node = bench.add(rclpy.create_node('listener'))
    inputs = NewestInputs(('confidence',))
    listening = MonitorSubscriptions(
        node, MonitorOptions(), inputs, lambda: judged.append(inputs.sample(1)), {}
    )
    bench.wait(bench.cell.matched)
    for k in range(200):
        bench.cell.sense(1.0 + k, contact=k == 100)
    for confidence in (0.9, 0.8):
        bench.cell.infer(confidence)
    newest = stamp_ns(bench.cell.said['contact'][-1].header.stamp)

    def polled():
        listening.poll()
        last = judged[-1] if judged else None
        return last and last.contact_stamp == newest and last.distance == 200.0

    bench.wait(polled)
    bench.wait(lambda: listening.poll() or sum(s.scores is not None for s in judged) == 2)
    contacts = [sample.contact for sample in judged]
    assert True in contacts and contacts[-1] is False
    listening.close()


def test_the_verdicts_come_again_from_the_bag(bench):
    node = bench.monitor(calibration(duration=2.0), aggregation='window', window=3)
    cell = bench.cell
    cell.event(EpisodeEvent.START)
    bench.wait(lambda: bench.states and bench.states[-1].episode_id == 'e1')
    for confidence, distance in ((0.9, 1.0), (0.2, 0.5), (0.1, 0.07), (0.95, 0.02), (0.1, 0.06)):
        act(cell, confidence, distance)()
        count = len(bench.states)
        bench.wait(lambda before=count: len(bench.states) > before + 2)
        if confidence == 0.95:
            (result,) = node.set_parameters([Parameter('halt_distance', value=0.01)])
            assert result.successful, result.reason
    cell.event(EpisodeEvent.END)
    bench.wait(lambda: bench.states[-1].episode_id == '')
    assert {HALT, CAUTION, OK} <= {state.level for state in bench.states}
    bag = Bag(bench.bag())
    events = read_events(bag, '/episode_events')
    states, found = replay_monitor(bag, '', 'e1', events)
    assert len(states) == sum(state.episode_id == 'e1' for state in bench.states) > 10
    assert (found.problem, found.lacking, found.differences) == ('', 0, ())
    assert found.same == found.compared == len(states)


def test_the_verdicts_of_a_monitor_that_began_again_come_again(bench):
    node = bench.monitor(**FIXED, aggregation='all')
    cell = bench.cell
    cell.event(EpisodeEvent.START)
    bench.wait(lambda: bench.states and bench.states[-1].episode_id == 'e1')
    bench.until(CAUTION, act(cell, 0.1))
    in_own_thread(node, node.trigger_deactivate)
    in_own_thread(node, node.trigger_activate)
    bench.wait(cell.matched)
    bench.until(OK, act(cell, 0.9), episode_id='e1')
    cell.event(EpisodeEvent.END)
    bench.wait(lambda: bench.states[-1].episode_id == '')
    bag = Bag(bench.bag())
    states, found = replay_monitor(bag, '', 'e1', read_events(bag, '/episode_events'))
    assert (found.problem, found.lacking, found.differences) == ('', 0, ())
    assert found.same == found.compared == len(states)


@pytest.mark.parametrize(
    ('given', 'text'),
    [
        ({}, 'no threshold: threshold_from horizon needs a calibration file'),
        ({'calibration_file': '/no/such.json'}, 'calibration file /no/such.json: No such file'),
        ({'threshold_from': 'fixed'}, 'thresholds is .*one for each of the 1 scores'),
        ({**FIXED, 'scores': ['zeal']}, "'zeal'"),
    ],
)
def test_without_thresholds_it_does_not_start(ros_context, given, text):
    overrides = [Parameter(name, value=value) for name, value in given.items()]
    with pytest.raises(Exception, match=text):
        MonitorNode(parameter_overrides=overrides).destroy_node()


def test_a_calibration_of_another_robot_is_refused_by_name(ros_context, tmp_path):
    calibration(robot='fr3').save(tmp_path / 'c.json')
    overrides = [
        Parameter('calibration_file', value=str(tmp_path / 'c.json')),
        Parameter('autostart', value=False),
    ]
    node = MonitorNode(parameter_overrides=overrides)
    try:
        node.trigger_configure()
        assert node._state_machine.current_state[0] == State.PRIMARY_STATE_UNCONFIGURED
        problem = node.problem()
        assert "robot: the calibration holds for 'fr3', here it is 'so101'" in problem
        assert isinstance(node._error, CalibrationError)
    finally:
        node.destroy_node()


def test_a_calibration_for_another_instruction_gives_no_verdict(bench):
    node = bench.monitor(calibration(instructions=('put the cube on the goal',)))
    cell = bench.cell
    cell.event(EpisodeEvent.START)
    bench.wait(lambda: bench.states and bench.states[-1].episode_id == 'e1')
    cell.send('policy_inference', instruction='open the drawer')
    bench.wait(node.problem)
    act(cell, 0.1, contact=True)()
    bench.wait(lambda: bench.states[-1].confidence == 0.1)
    state = bench.states[-1]
    assert state.level == STALE
    assert "instruction: the calibration holds for 'put the cube on the goal'" in state.unavailable
    assert state.reasons == [state.unavailable] and state.causes == ['unavailable']
    assert not any(state.is_halt_recommended for state in bench.states)
    (status,) = [each for each in node.health() if each.name == 'calibration']
    assert status.level == Level.ERROR and 'open the drawer' in status.message
    assert 'open the drawer' in node.problem()


def test_an_inference_of_an_ended_episode_that_comes_late_is_not_judged(bench):
    bench.monitor(**FIXED, context='anywhere')
    cell = bench.cell
    late = cell.get_clock().now().to_msg()
    cell.event(EpisodeEvent.START)
    bench.wait(lambda: bench.states and bench.states[-1].episode_id == 'e1')
    bench.until(OK, lambda: cell.infer(0.9))
    cell.event(EpisodeEvent.END)
    bench.wait(lambda: bench.states[-1].episode_id == '')
    cell.infer(0.1, stamp=late)
    count = len(bench.states)
    bench.wait(lambda: len(bench.states) > count + 5)
    assert {state.level for state in bench.states[count:]} == {STALE}
    bench.until(HALT, lambda: cell.infer(0.1))


def test_scores_that_are_no_longer_those_of_the_calibration_are_drift(bench):
    risks = [round(-0.9 - 0.0005 * k, 6) for k in range(200)]
    file = attrs.evolve(calibration(), drift={'confidence': risks})
    node = bench.monitor(file, drift_alpha=0.2, drift_episodes=20.0)
    cell = bench.cell

    def episode():
        name = f'e{len(cell.events)}'
        cell.event(EpisodeEvent.START, name)
        bench.wait(lambda: bench.states and bench.states[-1].episode_id == name)
        act(cell, 0.2)()
        bench.wait(lambda: bench.states[-1].confidence == 0.2)
        cell.event(EpisodeEvent.END, name)
        bench.wait(lambda: bench.states[-1].episode_id == '')
        return bench.states[-1]

    assert not episode().has_drifted
    assert any(episode().has_drifted for _ in range(12))
    assert bench.states[-1].drift >= 1.0
    (status,) = [each for each in node.health() if each.name == 'drift']
    assert status.level == Level.WARN and 'confidence' in status.message


def test_what_is_set_between_configure_and_activate_holds(ros_context, tmp_path):
    given = {**FIXED, 'autostart': False, 'snapshot.before': 0.0, 'directory': str(tmp_path)}
    node = MonitorNode(parameter_overrides=[Parameter(n, value=v) for n, v in given.items()])
    try:
        node.trigger_configure()
        (refused,) = node.set_parameters([Parameter('window', value=9)])
        assert not refused.successful and 'clean it up first' in refused.reason
        (result,) = node.set_parameters([Parameter('halt_distance', value=0.3)])
        assert result.successful, result.reason
        node.trigger_activate()
        assert node._monitor.options.halt_distance == 0.3
        assert node._settings.options.halt_distance == 0.3 and node._settings.since > 1
    finally:
        node.destroy_node()


def test_inputs_that_stop_make_the_verdict_stale(bench):
    bench.monitor(**FIXED, score_timeout=0.5, distance_timeout=0.3)
    bench.until(OK, act(bench.cell, 0.9))
    state = bench.until(STALE)
    bench.wait(lambda: {'no_score', 'no_distance'} <= set(bench.states[-1].causes))
    assert state.confidence == 0.9


def test_the_progress_of_a_topic_gives_the_point_of_the_task(bench):
    bench.monitor(calibration(), completion_from='progress')
    cell = bench.cell

    def say():
        cell.send('task_progress', data=0.5)
        act(cell, 0.9)()

    cell.event(EpisodeEvent.START)
    state = bench.until(OK, say)
    assert state.completion == state.progress == 0.5
    assert state.threshold == pytest.approx(0.501, abs=2e-3)


def test_a_halt_stops_the_arm_by_the_gate_with_its_cause(bench):
    gate = bench.add(GateNode())
    arm = bench.add(GateCell())
    bench.wait(lambda: arm.states)
    node = bench.monitor(**FIXED, halts_gate=True)
    cell = bench.cell
    cell.event(EpisodeEvent.START)
    arm.drive(0.3)
    bench.until(HALT, act(cell, 0.1, distance=0.01))
    bench.wait(lambda: arm.states[-1].state == GateState.STOPPED)
    assert arm.states[-1].cause == 'episode_stop'
    assert arm.states[-1].text.startswith('monitor: halt: confidence 0.1 is below its threshold')
    bench.wait(lambda: not node._gate_stop._is_wanted)
    assert node._gate_stop.problem == ''
    stops = [e for e in cell.events if e.type == EpisodeEvent.STOP and e.source == 'monitor']
    assert len(stops) == 1 and stops[0].episode_id == 'e1'
    held = list(arm.positions)
    arm.drive(0.2)
    assert arm.positions == pytest.approx(held) and len(held) == len(JOINTS) == len(HOME)
    assert gate.gate is not None


def test_a_gate_that_is_not_there_is_reported(bench):
    node = bench.monitor(**FIXED, halts_gate=True)
    (before,) = [each for each in node.health() if each.name == 'gate']
    assert before.level == Level.WARN and 'nobody offers /gate/stop' in before.message
    bench.until(HALT, act(bench.cell, 0.1, distance=0.01))
    bench.wait(lambda: node._gate_stop.problem)
    (status,) = [each for each in node.health() if each.name == 'gate']
    assert status.level == Level.ERROR and 'nobody offers /gate/stop' in status.message


def test_a_halt_is_kept_in_a_bag_of_its_own(bench):
    given = {'snapshot.before': 5.0, 'snapshot.after': 0.3, 'snapshot.free': 0}
    node = bench.monitor(**FIXED, **given)
    cell = bench.cell
    cell.event(EpisodeEvent.START, episode_id='e0')
    cell.event(EpisodeEvent.END, episode_id='e0')
    cell.event(EpisodeEvent.START)
    bench.wait(lambda: bench.states and bench.states[-1].episode_id == 'e1')
    heard = node._snapshots._topics
    bench.wait(lambda: {'/proximity', '/monitor_state'} <= {t.name for t in heard.topics})
    bench.until(OK, act(cell, 0.9))
    halt = bench.until(HALT, act(cell, 0.1, distance=0.01))
    bench.wait(lambda: node._snapshots.snapshots.written)
    (folder,) = find_bags(bench.folder / 'halt_snapshots')
    bag = Bag(folder)
    assert bag.metadata['episode_id'] == 'e1' and 'near' in bag.metadata['causes']
    assert bag.metadata['snapshot_of'] == str(stamp_ns(halt.header.stamp))
    levels = [message.level for _, message in bag.messages('/monitor_state')]
    assert OK in levels and HALT in levels
    assert len(bag.topics['/proximity']) and len(bag.topics['/monitor_config'])
    events = read_events(bag, '/episode_events')
    assert ('START', 'e1') in {(event.type.name, event.episode_id) for event in events}
    states, found = replay_monitor(bag, '', 'e1', events)
    assert states and found.problem == 'a snapshot begins within its episode'


def test_it_ends_well_with_a_snapshot_under_way_and_starts_again(bench):
    node = bench.monitor(**FIXED, **{'snapshot.before': 5.0, 'snapshot.free': 0})
    bench.until(HALT, act(bench.cell, 0.1, distance=0.01))
    snapshots = node._snapshots.snapshots
    bench.wait(lambda: snapshots._end)
    in_own_thread(node, node.trigger_deactivate)
    assert len(snapshots.written) == 1 and node._snapshots is None
    in_own_thread(node, node.trigger_activate)
    bench.until(OK, act(bench.cell, 0.9))
