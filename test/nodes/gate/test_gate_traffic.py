# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The gate node with events, floods, and publishers that should not be."""

import threading
import time

import pytest
from patience import PATIENCE

rclpy = pytest.importorskip('rclpy')

from gate_bench import HOME, JOINTS, Bench  # noqa: E402
from own_thread import in_own_thread  # noqa: E402
from rclpy.qos import QoSProfile, QoSReliabilityPolicy  # noqa: E402
from rclpy.serialization import serialize_message  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from frame_ros.core.health import Level  # noqa: E402
from frame_ros.msg import (  # noqa: E402
    EpisodeEvent,
    GateIntervention,
    GateState,
)
from frame_ros.nodes.gate.command_intake import CommandIntake  # noqa: E402
from frame_ros.nodes.runtime.topics import POLICY_COMMANDS  # noqa: E402

BEST_EFFORT = QoSProfile(depth=5, reliability=QoSReliabilityPolicy.BEST_EFFORT)


@pytest.fixture()
def bench(ros_context):
    made = Bench()
    yield made
    made.close()


@pytest.fixture()
def stranger(ros_context):
    node = rclpy.create_node('stranger')
    yield node
    node.destroy_node()


def passing(bench, **parameters):
    node = bench.gate(**parameters)
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.04))
    return node


def publisher_of(bench, node, kind, topic, qos=10):
    """A publisher that the gate hears, while the policy drives on."""
    publisher = node.create_publisher(kind, topic, qos)
    bench.wait(lambda: bench.cell.drive(0.04) and publisher.get_subscription_count())
    return publisher


STOPS = {
    'without a stamp': {'ago': None},
    "by another machine's clock": {'ago': 3600.0},
    'by a clock that is ahead': {'ago': -3600.0},
    "in the gate's name": {'ago': 0.0, 'source': 'gate'},
    'of another episode': {'ago': None, 'episode_id': 'another'},
    'by a publisher that is not reliable': {'ago': None, 'qos': BEST_EFFORT},
}


@pytest.mark.parametrize('case', STOPS)
@pytest.mark.parametrize('in_episode', [False, True])
def test_a_stop_event_stops_whatever_its_stamp_and_source(bench, stranger, case, in_episode):
    given = STOPS[case]
    passing(bench)
    if in_episode:
        bench.cell.event(EpisodeEvent.START)
    qos = given.get('qos', 10)
    publisher = publisher_of(bench, stranger, EpisodeEvent, 'episode_events', qos)
    event = EpisodeEvent(type=EpisodeEvent.STOP, text='hand in the cage')
    event.source, event.episode_id = given.get('source', 'button'), given.get('episode_id', '')
    if given['ago'] is not None:
        now = time.time() - given['ago']
        event.header.stamp.sec, event.header.stamp.nanosec = int(now), int(now % 1 * 1e9)

    def again():
        bench.cell.drive(0.04)
        if qos is BEST_EFFORT:  # one of them may be lost
            publisher.publish(event)

    publisher.publish(event)
    bench.wait_for(GateState.STOPPED, again)
    assert bench.cell.states[-1].cause == 'episode_stop'
    assert 'hand in the cage' in bench.cell.states[-1].text


def test_the_gates_own_stop_is_none_of_somebody_else(bench):
    passing(bench)
    assert bench.call(bench.cell.stop).success
    assert bench.call(bench.cell.reset).success
    bench.wait(lambda: any(e.type == EpisodeEvent.STOP for e in bench.cell.events))
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.04))
    bench.cell.drive(0.3)
    assert bench.cell.states[-1].stops == 1


def test_a_stop_that_was_latched_before_the_gate_began_is_history(bench):
    bench.cell.event(EpisodeEvent.STOP, 'long ago')
    passing(bench)
    bench.cell.drive(0.3)
    assert all(state.state != GateState.STOPPED for state in bench.cell.states)


def test_the_stop_service_needs_no_executor(bench):
    bench.gate(spins=False)
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.04))
    assert bench.call(bench.cell.stop).success
    bench.wait_for(GateState.STOPPED)
    assert bench.cell.states[-1].cause == 'operator'


def test_the_services_answer_while_the_gate_is_not_active(bench):
    node = bench.gate()
    in_own_thread(node, node.trigger_deactivate)
    assert 'not active' in bench.call(bench.cell.stop).message


def test_a_flood_of_commands_stops_the_arm_until_it_is_over(bench):
    passing(bench, command_rate_limit=100.0)
    ending = threading.Event()

    def flood():
        while not ending.wait(0.0005):
            bench.cell.command(HOME)

    thread = threading.Thread(target=flood)
    thread.start()
    try:
        bench.wait_for(GateState.STOPPED)
        assert bench.cell.states[-1].cause == 'command_flood'
        assert 'policy_commands' in bench.cell.states[-1].text
        answer = bench.call(bench.cell.reset)
        assert not answer.success and 'command_flood' in answer.message
    finally:
        ending.set()
        thread.join()
    bench.wait(lambda: bench.call(bench.cell.reset).success)
    bench.wait_for(GateState.PASSING, lambda: bench.cell.drive(0.04))


def test_a_second_publisher_of_commands_is_refused_and_named(bench, stranger):
    node = passing(bench)
    publisher = publisher_of(bench, stranger, JointState, 'policy_commands')

    def both():
        bench.cell.drive(0.04)
        message = JointState(name=JOINTS, position=[place + 0.1 for place in HOME])
        message.header.stamp = stranger.get_clock().now().to_msg()
        publisher.publish(message)

    found = []

    def is_said():
        both()
        found[:] = [m for m in bench.cell.interventions if m.cause == 'second_publisher']
        return bool(found)

    bench.wait(is_said)
    assert '/cell is followed, /stranger is not' in found[0].text
    assert bench.cell.state == GateState.PASSING
    status = {status.name: status for status in node.health()}['policy_commands']
    assert status.level == Level.WARN and '/cell, /stranger' in status.message


def test_a_second_publisher_of_joint_states_stops_and_is_named(bench, stranger):
    passing(bench)
    publisher = publisher_of(bench, stranger, JointState, 'joint_states')

    def lie():
        bench.cell.drive(0.04)
        message = JointState(name=JOINTS, position=bench.cell.positions)
        message.header.stamp = stranger.get_clock().now().to_msg()
        publisher.publish(message)

    bench.wait_for(GateState.STOPPED, lie)
    assert bench.cell.states[-1].cause == 'second_publisher'
    assert '/cell is followed, /stranger is not' in bench.cell.states[-1].text


def test_who_commands_the_arm_beside_the_gate_stops_it_and_is_named(bench, stranger):
    node = passing(bench)
    publisher = publisher_of(bench, stranger, JointState, 'joint_commands')

    def meddle():
        bench.cell.drive(0.04)
        publisher.publish(JointState(name=JOINTS, position=bench.cell.positions))

    bench.wait_for(GateState.STOPPED, meddle)
    assert bench.cell.states[-1].cause == 'second_publisher'
    assert '/stranger publishes /joint_commands too' in bench.cell.states[-1].text
    status = {status.name: status for status in node.health()}['joint_commands']
    assert status.level == Level.WARN and '/gate, /stranger' in status.message
    bench.wait(lambda: bench.call(bench.cell.reset).success)


def test_commands_past_an_idle_gate_are_logged(bench, stranger, capfd):
    """As of a policy that somebody started by hand without the gate's topic."""
    bench.gate()
    publisher = stranger.create_publisher(JointState, 'joint_commands', 10)
    said = []

    def is_said():
        publisher.publish(JointState(name=JOINTS, position=bench.cell.positions))
        said.append(capfd.readouterr().err)
        return '/stranger publishes /joint_commands too: that reaches the arm' in ''.join(said)

    bench.wait(is_said)
    assert bench.cell.state == GateState.IDLE


def test_two_gates_on_one_topic_stop_each_other_or_one_refuses(bench):
    """Of two processes, as an operator would start them by mistake: where both drive both stop, and
    who notices the other before its own first command refuses.
    """
    others, remaps = [], ('__node:=another_gate', 'gate_state:=another_state')
    bench.cell.create_subscription(GateState, 'another_state', others.append, 10)
    for arguments in ((), tuple(part for remap in remaps for part in ('-r', remap))):
        bench.process('gate', *arguments)
    bench.wait(lambda: bench.cell.states and others)
    bench.wait(lambda: bench.cell.count_subscribers('policy_commands') == 2)

    def do_both_stand():
        return GateState.STOPPED == bench.cell.state == others[-1].state

    def refusals():
        seen = [m for m in bench.cell.interventions if m.action == GateIntervention.REFUSED]
        return {m.text for m in seen if m.cause == 'second_publisher'}

    def is_refused():
        """A reset; it passes if the other one was starved of the processor and sent nothing."""
        answer = bench.call(bench.cell.reset)
        return not answer.success and 'second_publisher' in answer.message

    bench.wait(lambda: bench.cell.drive(0.04) and (do_both_stand() or refusals()))
    texts = refusals()
    if do_both_stand():
        # Who notices first says so to the other one by a STOP event.
        texts |= {bench.cell.states[-1].text, others[-1].text}
        bench.wait(lambda: bench.cell.drive(0.04) and is_refused())
    named = ('/another_gate publishes /joint_commands too', '/gate publishes /joint_commands too')
    assert any(name in text for name in named for text in texts)
    bench.processes[1].terminate()
    assert bench.processes[1].wait(PATIENCE) == 0

    def is_released():
        return bench.cell.state != GateState.STOPPED or bench.call(bench.cell.reset).success

    bench.wait(is_released)
    bench.wait(
        lambda: is_released() and bench.cell.drive(0.04) and bench.cell.state == GateState.PASSING
    )


def test_what_waited_while_the_gate_stood_still_is_taken_before_commands(bench):
    node = bench.gate()
    for _ in range(5):
        with node._lock:  # its thread stands still, and the arm is pushed
            bench.cell.positions[0] += 0.2
            time.sleep(0.15)
            bench.cell._measure()
            bench.cell.command(bench.cell.positions)
        count = len(bench.cell.commands)
        bench.wait(lambda count=count: bench.cell.drive(0.04) and len(bench.cell.commands) > count)
        bench.wait_for(GateState.HOLDING)
        bench.call(bench.cell.stop)
        bench.wait(lambda: bench.call(bench.cell.reset).success)
    refusals = [m for m in bench.cell.interventions if m.action == GateIntervention.REFUSED]
    # On a busy machine joint states may be late themselves: 'joint states are 0.50 s old'.
    assert not [m.text for m in refusals if 'since the gate stood still' in m.text]
    assert 'step_limit' not in {m.cause for m in refusals}


def test_a_gripper_that_is_seldom_measured_is_heard_beside_a_fast_arm(bench, stranger):
    node = bench.gate()
    bench.cell.measures = False
    names, gripper = list(JOINTS[:5]), stranger.create_publisher(JointState, 'joint_states', 10)
    arm = bench.cell.create_publisher(JointState, 'joint_states', 10)
    bench.wait(lambda: gripper.get_subscription_count() and arm.get_subscription_count())
    time.sleep(0.6)  # joint_states_timeout: the cell's own are forgotten

    def measured(names, positions):
        message = JointState(name=names, position=positions)
        message.header.stamp = bench.cell.get_clock().now().to_msg()
        return message

    with node._lock:  # what comes meanwhile waits
        gripper.publish(measured(['gripper'], [0.5]))
        for _ in range(200):
            arm.publish(measured(names, HOME[:5]))
        time.sleep(0.1)
    bench.wait(lambda: node.gate.measured[5] == 0.5)


def test_many_commands_of_a_stranger_do_not_push_out_those_of_the_policy(bench, stranger):
    intake = CommandIntake(stranger, POLICY_COMMANDS, 0.0)
    noisy = stranger.create_publisher(JointState, 'policy_commands', 10)
    bench.wait(
        lambda: bench.cell._policy.get_subscription_count() and noisy.get_subscription_count()
    )
    bench.cell.command([1.0], names=['elbow_flex'])
    bench.wait(lambda: intake.subscription.wait(0.1))
    for place in range(8):
        noisy.publish(JointState(name=['elbow_flex'], position=[float(place)]))
    time.sleep(0.2)
    places = [command.positions.tolist() for command, _, _ in intake.take(time.monotonic_ns())]
    assert places == [[1.0], [4.0], [5.0], [6.0], [7.0]]
    assert intake.thinned == 4
    intake.close()


def test_damaged_commands_and_joint_states_are_left_out(bench):
    node, cell = passing(bench), bench.cell
    whole = serialize_message(JointState(name=list(JOINTS), position=list(HOME)))
    inputs = [node._inputs.commands['policy'].subscription, node._inputs.joint_states.subscription]
    for size in (4, 20, len(whole) // 2, len(whole) - 20):
        cell._policy.publish(whole[:size])
        cell._joints.publish(whole[:size])
        cell.drive(0.1)
    bench.wait(lambda: cell.drive(0.04) and all(each.unreadable for each in inputs))
    bench.wait_for(GateState.PASSING, lambda: cell.drive(0.04))
    assert not any(state.cause == 'internal_error' for state in cell.states)
