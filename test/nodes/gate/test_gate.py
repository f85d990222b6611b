# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The gate node over real rclpy: commands in, commands to the arm out; real processes that die."""

import contextlib
import itertools
import math
import signal
import threading
import time
from pathlib import Path

import pytest
from patience import PATIENCE

rclpy = pytest.importorskip('rclpy')

from gate_bench import HOME, JOINTS, Bench  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState  # noqa: E402
from own_thread import in_own_thread  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402
from std_msgs.msg import Bool, Float64MultiArray  # noqa: E402

from frame_ros.core.errors import FrameRosError  # noqa: E402
from frame_ros.core.health import Level  # noqa: E402
from frame_ros.core.time import stamp_ns  # noqa: E402
from frame_ros.msg import (  # noqa: E402
    EpisodeEvent,
    GateIntervention,
    GateState,
    PolicyHeartbeat,
)
from frame_ros.nodes.gate.node import GateNode  # noqa: E402
from frame_ros.nodes.gate.options import GateOptions  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture()
def bench(ros_context):
    made = Bench()
    yield made
    made.close()


def stamps(messages):
    return [(m.header.stamp.sec, m.header.stamp.nanosec) for m in messages]


def test_commands_of_a_good_policy_pass_unchanged(bench):
    bench.gate()
    sent = bench.cell.drive(0.6)
    bench.wait(lambda: len(bench.cell.commands) >= len(sent))
    passed = [message for _, message in bench.cell.commands[: len(sent)]]
    assert stamps(passed) == stamps(sent)
    assert [m.position.tolist() for m in passed] == [list(m.position) for m in sent]
    last = max(bench.cell.states, key=lambda state: state.received)
    assert last.received == last.passed + last.limited + last.refused
    assert any(s.state == GateState.PASSING and s.latency > 0.0 for s in bench.cell.states)
    assert all(m.cause == 'stale_command' for m in bench.cell.interventions)


def test_what_is_refused_is_published_and_marks_the_episode(bench):
    bench.gate()
    bench.cell.event(EpisodeEvent.START)
    bench.cell.drive(0.2)
    bench.cell.command([math.nan, *HOME[1:]])
    bench.wait(lambda: any(m.cause == 'not_finite' for m in bench.cell.interventions))
    message = next(m for m in bench.cell.interventions if m.cause == 'not_finite')
    assert (message.action, message.joint) == (GateIntervention.REFUSED, 'shoulder_pan')
    assert message.episode_id == 'e1' and not message.is_over
    bench.wait(lambda: any(e.source == 'gate' for e in bench.cell.events))
    note = next(e for e in bench.cell.events if e.source == 'gate')
    assert note.type == EpisodeEvent.NOTE and 'not_finite' in note.text
    assert {item.key: item.value for item in note.attributes}['cause'] == 'not_finite'


def test_a_policy_that_is_refused_all_the_time_is_logged(bench, monkeypatch):
    logged = []
    monkeypatch.setattr(
        'frame_ros.nodes.gate.outputs.RepeatedWarnings.warn',
        lambda self, kind, text: logged.append(text),
    )
    bench.gate()
    bench.cell.event(EpisodeEvent.START)
    far = [HOME[0] + 1.8, *HOME[1:]]
    bench.wait(lambda: bench.cell.command(far) and any('step_limit' in text for text in logged))
    assert 'refuses the commands: step_limit: the first command is 1.8 rad' in logged[0]
    assert not bench.cell.commands


def test_a_slow_policy_that_is_refused_all_the_time_is_logged_too(bench, monkeypatch):
    logged, sent = [], [time.monotonic()]
    monkeypatch.setattr(
        'frame_ros.nodes.gate.outputs.RepeatedWarnings.warn',
        lambda self, kind, text: logged.append(text),
    )
    bench.gate()
    bench.cell.event(EpisodeEvent.START)

    def send() -> bool:
        if time.monotonic() > sent[0] + 0.5:
            sent[0] = time.monotonic()
            bench.cell.command([HOME[0] + 1.8, *HOME[1:]])
        return any('refuses the commands: step_limit' in text for text in logged)

    bench.wait(send)
    assert not bench.cell.commands


def test_refusals_between_which_limited_commands_are_sent_on_are_not_logged(bench, monkeypatch):
    logged, sent = [], [time.monotonic(), 0]
    monkeypatch.setattr(
        'frame_ros.nodes.gate.outputs.RepeatedWarnings.warn',
        lambda self, kind, text: logged.append(text),
    )
    node = bench.gate()
    bench.cell.event(EpisodeEvent.START)

    def send() -> bool:
        if time.monotonic() > sent[0] + 0.2:
            sent[:] = time.monotonic(), sent[1] + 1
            place = math.nan if sent[1] % 2 else HOME[0] + 0.3 * (-1) ** (sent[1] // 2)
            bench.cell.command([place, *HOME[1:]])
        return sent[1] >= 20

    bench.wait(send)
    counts = node.gate.counts
    assert counts.limited >= 5 and counts.refused >= 5
    assert not any('refuses the commands' in text for text in logged)


def test_the_gate_is_not_ready_before_it_knows_where_the_arm_was_set(bench):
    """As by a simulator's reset between two episodes: the recorder waits for readiness."""
    node = bench.gate()
    bench.cell.event(EpisodeEvent.START)
    bench.cell.drive(0.3)
    bench.cell.event(EpisodeEvent.END)
    bench.wait_for(GateState.IDLE)
    bench.wait(lambda: node.problem() == '')
    bench.cell.positions[0] -= 0.9
    bench.wait(lambda: 'shoulder_pan' in node.problem())
    bench.wait(lambda: node.problem() == '')
    assert node.gate.measured[0] == pytest.approx(bench.cell.positions[0])


def test_an_arm_that_no_policy_commands_may_be_moved_while_an_episode_begins(bench):
    """As of one that is guided by hand, whose motion is recorded."""
    node = bench.gate()
    bench.cell.event(EpisodeEvent.START)
    bench.cell.drive(0.3)
    bench.cell.event(EpisodeEvent.END)
    bench.wait_for(GateState.IDLE)
    bench.cell.destroy_publisher(bench.cell._policy)
    bench.wait(lambda: not node.count_publishers('policy_commands'))
    bench.cell.positions[0] -= 0.9
    problems = []

    def has_been_noticed() -> bool:
        problems.append(node.problem())
        return 'shoulder_pan' in node._obstacle

    bench.wait(has_been_noticed)
    assert not any([*problems, node.problem()])


def test_a_policy_that_was_started_again_may_command_what_it_left_out(bench):
    node, cell = bench.gate(), bench.cell
    bench.wait(lambda: node.problem() == '' and node.gate._policies)
    cell.event(EpisodeEvent.START)
    bench.wait(lambda: cell.command(HOME[1:3], names=JOINTS[1:3]) and node.gate.counts.passed)
    cell.event(EpisodeEvent.END)
    bench.wait_for(GateState.IDLE)
    before, cell._policy = cell._policy, cell.create_publisher(JointState, 'policy_commands', 10)
    cell.destroy_publisher(before)  # unseen: there was always one
    steps = itertools.cycle([0.004] * 100 + [-0.004] * 100)

    def is_in_the_way() -> bool:
        cell.positions[0] += next(steps)  # by hand
        return 'shoulder_pan' in node.problem()

    bench.wait(is_in_the_way)


def test_limits_may_be_lowered_while_the_arm_moves(bench):
    node = bench.gate(**{'limits.velocity_scale': 0.5})
    bench.cell.event(EpisodeEvent.START)
    bench.cell.drive(0.3)

    def put(name, value):
        (result,) = node.set_parameters([Parameter(f'limits.{name}', value=value)])
        return result.successful or result.reason

    assert 'is 0.6; while the node runs it must be at most 0.5, ' in put('velocity_scale', 0.6)
    assert 'it must have one for all joints, or 6' in put('velocity', [0.1, 0.2])
    # At start it is the robot's own.
    assert 'limits.velocity is too high; while the node runs' in put('velocity', [99.0])
    assert put('velocity', [0.04]) is True
    bench.wait(lambda: any('gate limits' in event.text for event in bench.cell.events))
    note = next(event for event in bench.cell.events if 'gate limits' in event.text)
    assert note.type == EpisodeEvent.NOTE and note.episode_id == 'e1'
    assert note.text == 'gate limits: limits.velocity from [0.0] to [0.04]'
    (status,) = [status for status in node.health() if status.name == 'limits']
    assert status.message == 'limits.velocity from [0.0] to [0.04]'
    place, sent = list(bench.cell.positions), len(bench.cell.commands)
    for _ in range(20):  # 0.03 s and 0.01 rad apart: 0.33 rad/s, where 0.02 are allowed
        place[0] += 0.01
        bench.cell.command(place)
        time.sleep(0.03)
    bench.wait(lambda: any(m.cause == 'velocity_limit' for m in bench.cell.interventions))
    first = [message.position[0] for _, message in bench.cell.commands[sent:]]
    assert 0.0 < first[-1] - first[0] < 0.1
    assert put('velocity', [0.0]) is True
    assert next(iter(node.health())).message == 'as started'


def test_a_limit_lowered_while_the_gate_is_configured_holds(ros_context, monkeypatch):
    node = GateNode(parameter_overrides=[Parameter('autostart', value=False)])
    load, lowered = GateOptions.load_robot, Parameter('limits.velocity', value=[0.04])

    def lower_meanwhile(options):
        assert node.set_parameters([lowered])[0].successful
        return load(options)

    monkeypatch.setattr(GateOptions, 'load_robot', lower_meanwhile)
    try:
        node.trigger_configure()
        assert node._limiter.limits.velocity.tolist() == [0.04] * 6
    finally:
        node.destroy_node()


def test_a_stop_is_latched_announced_and_reset(bench):
    node = bench.gate()
    bench.cell.event(EpisodeEvent.START)
    bench.cell.drive(0.3)
    assert bench.call(bench.cell.stop).success
    bench.wait_for(GateState.STOPPED)
    bench.wait(lambda: any(e.type == EpisodeEvent.STOP for e in bench.cell.events))
    assert bench.cell.states[-1].cause == 'operator'
    status = {status.name: status for status in node.health()}['state']
    assert status.level == Level.ERROR and '~/reset' in status.message
    bench.cell.event(EpisodeEvent.END)
    bench.cell.event(EpisodeEvent.START)  # of another episode, in which nothing would move
    bench.wait(lambda: any(e.text.startswith('gate stopped:') for e in bench.cell.events))
    held = list(bench.cell.positions)
    bench.cell.drive(0.3)
    assert bench.cell.positions == pytest.approx(held)
    answer = bench.call(bench.cell.reset)
    assert answer.success, answer.message
    bench.wait(lambda: bench.cell.state in (GateState.IDLE, GateState.HOLDING))
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.04))
    assert {s.name: s.level for s in node.health()}['state'] == Level.OK
    acts = [m.action for m in bench.cell.interventions if m.cause == 'operator']
    assert acts == [GateIntervention.STOPPED, GateIntervention.RESET]
    assert not bench.call(bench.cell.reset).success


def test_a_stop_event_of_somebody_else_stops(bench):
    bench.gate()
    bench.cell.drive(0.2)
    bench.cell.event(EpisodeEvent.STOP, 'hand in the cage')
    bench.wait_for(GateState.STOPPED)
    assert bench.cell.states[-1].cause == 'episode_stop'
    assert 'hand in the cage' in bench.cell.states[-1].text
    assert bench.cell.states[-1].stops == 1


def test_a_person_takes_over_and_gives_back(bench):
    bench.gate()
    bench.cell.event(EpisodeEvent.START)
    bench.cell.drive(0.2)
    bench.cell.takeover.publish(Bool(data=True))
    bench.wait_for(GateState.TAKEOVER)
    before = bench.cell.positions[0]
    bench.cell.drive(0.3, source='person')
    bench.wait(lambda: bench.cell.positions[0] > before + 0.01)
    bench.cell.takeover.publish(Bool(data=False))
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.04))
    kinds = [e.type for e in bench.cell.events if e.source == 'gate']
    assert EpisodeEvent.INTERVENTION_START in kinds and EpisodeEvent.INTERVENTION_END in kinds
    takeovers = [m for m in bench.cell.interventions if m.action == GateIntervention.TAKEOVER]
    assert [m.is_over for m in takeovers] == [False, True]


def test_a_busy_executor_does_not_keep_the_watchdog_waiting(bench):
    """Nothing of the node is spun at all."""
    bench.gate(spins=False)
    bench.cell.drive(0.3)
    bench.wait_for(GateState.HOLDING)
    assert bench.cell.states[-1].cause == 'stale_command'
    bench.wait_for(GateState.STOPPED)


@contextlib.contextmanager
def simulated_clock(bench):
    """Yields the time, s, that is published on /clock while the block runs, and may be set."""
    ended, now = threading.Event(), [1000.0]
    bench.cell.set_parameters([Parameter('use_sim_time', value=True)])

    def tick():
        while not ended.wait(0.01):
            now[0] += 0.01
            message = Clock()
            message.clock.sec, message.clock.nanosec = int(now[0]), int(now[0] % 1 * 1e9)
            bench.cell.clock_publisher.publish(message)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        bench.wait(lambda: bench.cell.get_clock().now().nanoseconds > 0)
        yield now
    finally:
        ended.set()
        thread.join()


def test_a_clock_that_stands_still_does_not_stop_the_watchdog(bench):
    parameters = {'use_sim_time': True, 'watchdogs.joint_states_timeout': 60.0}
    with simulated_clock(bench):
        node = bench.gate(**parameters)
        bench.wait(lambda: node.get_clock().now().nanoseconds > 0)
        bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.1))
    bench.wait_for(GateState.HOLDING)
    assert bench.cell.states[-1].cause == 'stale_command'


def test_commands_are_stamped_by_a_clock_that_was_set_back_by_little(bench):
    """They had the last stamp of the time before, until the clock had passed it again."""
    with simulated_clock(bench) as now:
        node = bench.gate(use_sim_time=True)
        bench.wait(lambda: node.get_clock().now().nanoseconds > 0)
        bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.1))
        bench.call(bench.cell.stop)
        bench.wait_for(GateState.STOPPED)
        last = stamp_ns(bench.cell.commands[-1][1].header.stamp)
        now[0] -= 0.9
        bench.wait(lambda: node.gate.set_backs == 1)
        count = len(bench.cell.commands)
        bench.wait(lambda: len(bench.cell.commands) > count + 3)
        stamps = [stamp_ns(message.header.stamp) for _, message in bench.cell.commands[count:]]
    assert stamps[0] < last
    assert stamps[3] - stamps[1] > 1_000_000


@pytest.mark.parametrize('broken', ['on_heartbeat', 'on_joint_states', 'tick'])
def test_an_error_inside_is_a_stop(bench, broken):
    node = bench.gate()
    bench.cell.drive(0.3)

    def fail(*arguments):
        raise ZeroDivisionError('a bug')

    setattr(node.gate, broken, fail)
    bench.cell.heartbeats.publish(PolicyHeartbeat(is_acting=True))
    bench.wait_for(GateState.STOPPED, lambda: bench.cell.command(bench.cell.positions))
    assert bench.cell.states[-1].cause == 'internal_error'
    assert 'ZeroDivisionError' in bench.cell.states[-1].text
    count = len(bench.cell.commands)
    bench.wait(lambda: len(bench.cell.commands) > count + 5)


def test_the_gates_thread_goes_on_when_not_even_a_stop_can_be_sent(bench, monkeypatch):
    node = bench.gate()
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.04))
    thread, failures = node._thread, []

    def fail(*arguments):
        failures.append(arguments)
        raise ZeroDivisionError('a bug')

    with monkeypatch.context() as broken:
        for part, name in (
            (node.gate, 'tick'),
            (node.gate, 'stop'),
            (node._outputs, 'send_last'),
            (node._warnings, 'fail'),
        ):
            broken.setattr(part, name, fail)
        bench.wait(lambda: len(failures) > 20)
    assert thread.is_alive() and node.gate.status == GateState.STOPPED
    count = len(bench.cell.commands)
    bench.wait(lambda: len(bench.cell.commands) > count)
    bench.wait(lambda: bench.call(bench.cell.reset).success)
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.04))


def test_a_gate_that_is_deactivated_at_speed_brakes_the_arm_to_rest(bench):
    place = list(HOME)
    place[0] = bench.cell.positions[0] = -1.5
    bench.gate(**{'limits.acceleration': [3.0]})
    request = ChangeState.Request()
    request.transition.id = Transition.TRANSITION_DEACTIVATE
    asked, future = set(), None
    while future is None or not future.done():
        if place[0] > -0.5 and future is None:
            future = bench.cell.change_state.call_async(request)
        place[0] = min(place[0] + 0.02, 1.9)  # 1 rad/s
        asked.add(stamp_ns(bench.cell.command(place).header.stamp))
        time.sleep(0.02)
    count = 0
    while count < len(bench.cell.commands):
        count = len(bench.cell.commands)
        time.sleep(0.1)
    sent = [message for _, message in bench.cell.commands]
    last = max(k for k, message in enumerate(sent) if stamp_ns(message.header.stamp) in asked)
    places = [message.position[0] for message in sent[last:]]  # the gate's own after the first
    assert places == sorted(places)
    assert places[-1] - places[0] > 0.05  # at 1 rad/s it takes 0.17 rad to come to rest
    assert len(set(places)) > 3
    assert places[-1] == pytest.approx(places[-2], abs=1e-9)


def test_an_activated_gate_goes_on_from_where_the_arm_was_sent_before(bench):
    """Its servos still hold that place, below which it sags."""
    node = bench.gate()
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.04))
    in_own_thread(node, node.trigger_deactivate)
    bench.wait(lambda: not bench.cell.count_subscribers('policy_commands'))
    sent = bench.cell.commands[-1][1].position.tolist()
    bench.cell.positions[1] -= 0.08
    in_own_thread(node, node.trigger_activate)
    bench.wait(lambda: bench.has_measured(node))
    bench.wait(lambda: bench.cell.count_subscribers('policy_commands'))
    count = len(bench.cell.commands)

    def command():
        bench.cell.command(sent)
        time.sleep(0.02)
        return len(bench.cell.commands) > count

    bench.wait(command)
    assert bench.cell.commands[count][1].position.tolist() == pytest.approx(sent, abs=1e-6)


def test_a_deactivated_gate_lets_nothing_pass(bench):
    bench.gate()
    bench.cell.drive(0.3)
    count = len(bench.cell.commands)
    request = ChangeState.Request()
    request.transition.id = Transition.TRANSITION_DEACTIVATE
    assert bench.call(bench.cell.change_state, request).success
    bench.wait(lambda: len(bench.cell.commands) > count)
    time.sleep(0.2)
    count = len(bench.cell.commands)
    bench.cell.drive(0.3)
    assert len(bench.cell.commands) == count
    assert 'not active' in bench.call(bench.cell.stop).message
    request.transition.id = Transition.TRANSITION_ACTIVATE
    assert bench.call(bench.cell.change_state, request).success
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.04))


def policy_process(bench):
    """A real policy that stays where the arm is, in a process of its own."""
    names = ('-r', 'joint_commands:=policy_commands')
    return bench.process('policy', '-p', 'policy:=hold', '-p', 'run_on:=always', *names)


def test_a_policy_that_is_killed_stops_the_arm(bench):
    bench.gate()
    policy = policy_process(bench)
    bench.wait_for(GateState.PASSING)
    policy.send_signal(signal.SIGKILL)
    bench.wait_for(GateState.STOPPED)
    assert bench.cell.states[-1].cause in ('heartbeat', 'stale_command')
    count = len(bench.cell.commands)
    bench.wait(lambda: len(bench.cell.commands) > count + 3)  # it goes on being held
    answer = bench.call(bench.cell.reset)
    assert answer.success == (bench.cell.states[-1].cause != 'heartbeat'), answer.message


def test_a_gate_that_is_told_to_end_holds_the_arm_with_its_last_command(bench):
    gate = bench.process('gate')
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.1))
    stop = threading.Thread(target=lambda: (time.sleep(0.05), gate.terminate()))
    stop.start()
    sent = bench.cell.drive(0.3)
    stop.join()
    assert gate.wait(PATIENCE) == 0
    passed = {tuple(stamp) for stamp in stamps(sent)}
    _, last = bench.cell.commands[-1]
    assert tuple(stamps([last])[0]) not in passed
    assert last.position.tolist() == pytest.approx(
        bench.cell.commands[-2][1].position.tolist(), abs=0.02
    )


def test_commands_go_to_a_users_controller_too(bench):
    received = []
    bench.cell.create_subscription(
        Float64MultiArray, 'forward_position_controller/commands', received.append, 50
    )
    bench.gate(output='ros2_control_position', output_options=['gripper=with_joints'])
    bench.wait(lambda: bench.cell.count_publishers('forward_position_controller/commands'))
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.1))
    bench.wait(lambda: received)
    assert list(received[-1].data) == pytest.approx(bench.cell.positions, abs=0.05)
    bench.call(bench.cell.stop)
    count = len(received)
    bench.wait(lambda: len(received) > count + 3)


def test_a_controller_that_wants_all_joints_gets_them_with_a_command_of_one(bench):
    received = []
    bench.cell.create_subscription(
        Float64MultiArray, 'forward_position_controller/commands', received.append, 50
    )
    bench.gate(output='ros2_control_position', output_options=['gripper=with_joints'])
    bench.wait(lambda: bench.cell.count_publishers('forward_position_controller/commands'))
    place = HOME[0]

    def command():
        nonlocal place
        place += 0.001
        bench.cell.command([place], names=['shoulder_pan'])
        time.sleep(0.03)

    bench.wait(lambda: command() or received)
    bench.wait_for(GateState.PASSING, command)
    assert list(received[0].data) == pytest.approx(list(HOME), abs=0.05)
    assert not any(state.cause == 'internal_error' for state in bench.cell.states)


@pytest.mark.parametrize(
    ('parameters', 'message'),
    [
        ({'rate': 0.0}, 'rate is 0.0; it must be 1 to 200 Hz'),
        ({'robot': 'r2d2'}, "no robot 'r2d2'"),
        ({'reactions.velocity_limit': 'ignore'}, 'must be clamp, refuse or stop'),
        ({'watchdogs.on_heartbeat': 'clamp'}, 'must be hold or stop'),
        ({'watchdogs.command_timeout': 0.0}, 'command_timeout is 0.0; it must be above 0 s'),
        ({'workspace.box': [0.0, 0.0]}, 'workspace.box is'),
        ({'workspace.links': 'some'}, 'it must be tip or all'),
        ({'limits.velocity': [1.0, 2.0]}, 'has 2 values'),
        (
            {'limits.velocity': [math.nan]},
            'limits.velocity is .nan.; it must be a list of numbers, each 0, or above 0',
        ),
        ({'limits.step': -1.0}, 'limits.step is -1.0'),
        ({'output': 'ros1'}, "output is 'ros1'"),
    ],
)
def test_a_parameter_that_makes_no_sense_is_refused(ros_context, parameters, message):
    overrides = [Parameter(name, value=value) for name, value in parameters.items()]
    with pytest.raises(FrameRosError, match=message):
        GateNode(parameter_overrides=overrides)
