# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot driver with a Franka arm over real rclpy, against franky-sim over TCP and UDP."""

import os
import re
import time
from threading import Event

import numpy as np
import pytest
from fci_server import FciServer
from patience import spin_until

pytest.importorskip('rclpy')
pytest.importorskip('franky')
pytest.importorskip('franky_sim')

import rclpy
from geometry_msgs.msg import PoseStamped, WrenchStamped
from rclpy.executors import SingleThreadedExecutor
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import qos_profile_sensor_data
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from frame_ros.core.errors import MissingExtraError
from frame_ros.core.time import stamp_ns
from frame_ros.hardware.driver_state import Activity
from frame_ros.msg import ContactState
from frame_ros.nodes.robot_driver.fci_publishers import Pace
from frame_ros.nodes.robot_driver.node import RobotDriverNode
from frame_ros.nodes.runtime import message_bytes
from frame_ros.robots import differential_ik, load_robot
from frame_ros.robots.shapes.clearance import ClearanceCheck

NAMES = [*(f'fr3_joint{i}' for i in range(1, 8)), 'fr3_finger_joint1']
BROADCASTER = 'franka_robot_state_broadcaster'


@pytest.fixture(scope='module')
def server():
    server = FciServer()
    yield server
    server.kill()


class Bench:
    """The driver on a simulated arm, and a node that watches."""

    def __init__(self, server, **parameters):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        values = {
            'robot': 'fr3', 'host': server.host, 'fci.realtime': 'ignore',
            'fci.answer_timeout': 2.0, 'reconnect_period': 0.2, 'fci.rate': 100.0,
            'fci.estimates_rate': 50.0, **parameters,
        }  # fmt: skip
        overrides = [Parameter(name, value=value) for name, value in values.items()]
        self.executor = SingleThreadedExecutor(context=self.context)
        self.node = Node('probe', context=self.context)
        self.executor.add_node(self.node)
        self.states, self.wrenches, self.contacts = [], [], []
        listen = self.node.create_subscription
        listen(JointState, 'joint_states', self.states.append, 50)
        wrench = f'{BROADCASTER}/external_wrench_in_base_frame'
        listen(WrenchStamped, wrench, self.wrenches.append, qos_profile_sensor_data)
        listen(ContactState, f'{BROADCASTER}/contact', self.contacts.append, 50)
        self.commands = self.node.create_publisher(JointState, 'joint_commands', 10)
        self.poses = self.node.create_publisher(PoseStamped, 'pose_commands', 10)
        self.recovery = self.node.create_client(Trigger, 'robot_driver/recover_errors')
        self.driver = RobotDriverNode(context=self.context, parameter_overrides=overrides)
        self.executor.add_node(self.driver)

    def until(self, condition, action=None):
        """Spins until the condition holds, repeating the action now and then."""
        spin_until(self.executor, condition, action, 0.03)

    def command(self, positions=(), velocities=(), names=NAMES):
        message = JointState(name=list(names)[: max(len(positions), len(velocities))])
        message.position = [float(p) for p in positions]
        message.velocity = [float(v) for v in velocities]
        message.header.stamp = self.node.get_clock().now().to_msg()
        self.commands.publish(message)

    @property
    def positions(self):
        return np.array(self.states[-1].position)

    @property
    def state(self):
        return self.driver._fci._loop.state

    def close(self):
        self.executor.remove_node(self.driver)
        self.driver.destroy_node()
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.try_shutdown(context=self.context)


def scheduler():
    """The policy of this thread."""
    return os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK


@pytest.fixture()
def bench(ros_domain, server):
    benches = []
    before = scheduler()

    def start(**parameters):
        benches.append(Bench(server, **parameters))
        benches[-1].until(lambda: benches[-1].states and benches[-1].positions[7] > 0.0)
        return benches[-1]

    yield start
    for each in benches:
        each.close()
    assert scheduler() == before


def test_states_and_estimates_under_franka_ros2_s_names(bench):
    found = bench()
    found.until(lambda: found.wrenches and found.contacts and found.positions[7] > 0.0)
    state = found.states[-1]
    assert list(state.name) == NAMES
    assert np.isfinite(state.effort[:7]).all() and np.isnan(state.effort[7])
    assert found.wrenches[-1].header.frame_id == 'fr3_link0'

    def stamp(message):
        return message.header.stamp.sec, message.header.stamp.nanosec

    # What is published of one state has one stamp.
    found.until(lambda: {*map(stamp, found.wrenches[1:])} & {*map(stamp, found.states)})
    contact = found.contacts[-1]
    assert contact.source == ContactState.SOURCE_ROBOT and not contact.in_contact
    assert len(contact.joint_residuals) == len(contact.joint_thresholds) == 7


def test_only_what_somebody_hears_is_converted_and_published(bench):
    found = bench()
    estimates = found.driver._fci._publishers._estimates
    found.until(lambda: found.wrenches and found.contacts)
    heard = {publisher.topic_name.rsplit('/', 1)[1] for publisher, _ in estimates._heard}
    assert heard == {'external_wrench_in_base_frame', 'contact'}
    poses = []
    listen = found.node.create_subscription
    listen(PoseStamped, f'{BROADCASTER}/current_pose', poses.append, qos_profile_sensor_data)
    found.until(lambda: poses)
    at, pose = poses[-1].pose.position, found.state.reading.pose
    assert np.linalg.norm(np.array((at.x, at.y, at.z)) - pose[:3]) < 0.01


@pytest.mark.parametrize(('rate', 'gaps'), [(1000.0, [1]), (250.0, [4]), (400.0, [2, 3])])
def test_states_are_picked_by_the_arm_s_count(rate, gaps):
    pace = Pace(rate)
    due = [count for count in range(7, 2007) if pace.is_due(count)]
    assert due[0] == 7 and sorted({*np.diff(due)}) == gaps and len(due) == 2 * rate
    late = max(due) + 2 * max(gaps)  # some were missed
    assert pace.is_due(late) and pace.is_due(late + max(gaps))
    again = [count for count in range(3, 3 + max(gaps) + 1) if pace.is_due(count)]
    assert again == [3, 3 + max(gaps)]


@pytest.mark.parametrize('agrees', [True, False])
def test_who_comes_later_hears_the_states_by_whatever_bytes(bench, monkeypatch, agrees):
    """Written over, or serialised one by one where the middleware's bytes are unknown."""
    if not agrees:
        monkeypatch.setattr(message_bytes, '_agrees', lambda *_: False)
    found, late = bench(), []
    kind = message_bytes.FieldWriter if agrees else message_bytes.SerialisingWriter
    assert isinstance(found.driver._fci._publishers._writer, kind)
    found.node.create_subscription(JointState, 'joint_states', late.append, 50)
    found.until(lambda: len(late) > 5)
    stamps = [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in late]
    assert (np.diff(stamps) > 0).all() and abs(time.time_ns() - stamps[-1]) < 10**11
    assert list(late[-1].name) == NAMES and np.isnan(late[-1].effort[7])
    last = found.state.reading
    assert np.abs(np.array(late[-1].position[:7]) - last.positions).max() < 0.01
    assert np.isfinite(late[-1].velocity[:7]).all() and any(late[-1].effort[:7])


def test_a_command_that_cannot_be_read_is_refused_and_the_arm_kept(bench, monkeypatch):
    found = bench()
    goal = found.positions[:7]
    driver = found.driver._fci
    refused, warn = [], driver._warn_of
    monkeypatch.setattr(driver, '_warn_of', lambda text: (refused.append(text), warn(text)))
    with monkeypatch.context() as patch:
        patch.setattr(driver._loop.commands, 'joints', lambda *_: {}['nothing'])
        found.until(lambda: any('KeyError' in text for text in refused),
                    lambda: found.command(goal))  # fmt: skip
    found.until(lambda: found.state.activity is Activity.FOLLOWING, lambda: found.command(goal))
    assert found.state.counts.losses == 0


@pytest.mark.parametrize('control', ['joint_velocity', 'joint_position'])
def test_a_stream_of_goals_is_followed_and_its_end_is_a_stop(bench, control):
    found = bench(**{'fci.control': control, 'command_timeout': 1.0})
    goal = found.positions
    goal[6] += -0.1 if goal[6] > 0.7 else 0.1
    goal[7] = 0.03 if goal[7] < 0.025 else 0.015
    found.until(lambda: np.abs(found.positions - goal).max() < 4e-3, lambda: found.command(goal))
    assert found.state.activity is Activity.FOLLOWING
    found.until(lambda: found.state.activity is Activity.HOLDING)
    found.until(lambda: not found.driver._fci._arm.is_moving)
    assert found.state.counts.holds == 1
    assert np.abs(found.positions[:7] - goal[:7]).max() < 4e-3


@pytest.mark.parametrize('control', ['joint_velocity', 'joint_position'])
def test_an_arm_that_is_led_into_itself_is_held_before(bench, control):
    found = bench(**{'fci.control': control, 'fci.dynamics': 0.5, 'command_timeout': 2.0})
    robot = load_robot('fr3')
    check = ClearanceCheck(robot, robot.joint_names)
    start = found.positions[:7]
    assert check.at(start).selves.min() > 0.07
    folded = np.array((0.6, 1.5, -0.7, -2.9, -0.8, 0.7, -0.1))  # the forearm in the shoulder
    assert check.at(folded).selves.min() < 0.0

    loop = found.driver._fci._loop
    found.until(lambda: bool(loop._near), lambda: found.command(folded))
    before = len(found.states)
    found.until(lambda: len(found.states) > before + 300, lambda: found.command(folded))
    distances = [check.at(np.array(s.position[:7])).selves.min() for s in found.states[::20]]
    assert min(distances) > 0.06
    assert np.abs(found.positions[:7] - folded).max() > 0.1
    found.until(lambda: np.abs(found.positions[:7] - start).max() < 0.05,
                lambda: found.command(start))  # fmt: skip
    assert loop._near == '' and found.state.counts.aborts == 0


def test_velocities_are_followed(bench):
    found = bench()
    start = found.positions[5]
    sign = 1.0 if start < 1.6 else -1.0
    velocities = sign * 0.1 * np.eye(7)[5]
    found.until(
        lambda: abs(found.positions[5] - start) > 0.05,
        lambda: found.command(velocities=velocities),
    )


def pose_message(position, quaternion):
    message = PoseStamped()
    message.header.frame_id = 'base'
    at, turned = message.pose.position, message.pose.orientation
    at.x, at.y, at.z = map(float, position)
    turned.x, turned.y, turned.z, turned.w = map(float, quaternion)
    return message


def test_poses_are_followed_by_the_joints_and_joints_are_not(bench):
    pytest.importorskip('pink')
    found = bench(**{'fci.control': 'cartesian_pose'})
    robot, start = load_robot('fr3', 'tcp'), found.positions[:7]
    # A line to where the joints come by moving towards the middle of their ranges.
    middle = np.array([np.mean(robot.joint_limits[name]) for name in NAMES[:7]])
    ends = [robot.forward(q) for q in (start, start + np.clip(middle - start, -0.1, 0.1))]
    (before, turned), (goal, finally_turned) = ends
    finally_turned *= np.sign(finally_turned @ turned)
    share, path = 0.0, []

    def act():
        nonlocal share
        share = min(1.0, share + 0.03)
        quaternion = (1.0 - share) * turned + share * finally_turned
        quaternion /= np.linalg.norm(quaternion)
        found.poses.publish(pose_message(before + share * (goal - before), quaternion))
        found.command(start + 0.3)
        path.append(found.state.reading.pose)

    found.until(lambda: np.linalg.norm(found.state.reading.pose[:3] - goal) < 2e-3, act)
    way, moved = goal - before, np.array(path)[:, :3] - before
    along = moved @ way / (way @ way)
    assert np.linalg.norm(way) > 0.02
    assert np.linalg.norm(moved - np.outer(along, way), axis=1).max() < 3e-3
    assert abs(found.state.reading.pose[3:] @ finally_turned) > 0.9999
    assert found.state.counts.aborts == 0


def test_a_pose_out_of_reach_is_counted_and_stops_nothing(bench):
    pytest.importorskip('pink')
    found = bench(**{'fci.control': 'cartesian_pose'})
    before = found.state.reading.pose
    far = pose_message(before[:3] + (2.0, 0.0, 0.0), before[3:])
    found.until(lambda: found.state.counts.limited > 5, lambda: found.poses.publish(far))
    assert found.state.counts.aborts == 0
    # With it the arm has moved on.
    near = pose_message(found.state.reading.pose[:3], before[3:])
    limited = found.state.counts.limited
    found.until(lambda: found.state.counts.sent > limited + 5, lambda: found.poses.publish(near))
    assert found.state.activity is Activity.FOLLOWING


def test_a_new_start_knows_nothing_of_the_poses_before(bench):
    pytest.importorskip('pink')
    found = bench(**{'fci.control': 'cartesian_pose', 'command_timeout': 60.0})
    before = found.state.reading.pose
    pose = pose_message(before[:3], before[3:])
    found.until(lambda: found.state.counts.sent > 2, lambda: found.poses.publish(pose))
    assert found.driver._fci._poses._goals is not None
    found.driver.trigger_deactivate()
    found.driver.trigger_activate()
    assert found.driver._fci._poses._goals is None


def test_poses_without_their_solver_are_an_error_of_the_configuration(ros_domain, monkeypatch):
    def missing():
        raise MissingExtraError('end-effector actions need pink')

    monkeypatch.setattr(differential_ik, '_pink', missing)
    context = rclpy.Context()
    rclpy.init(context=context)
    values = {'robot': 'fr3', 'host': 'nowhere.invalid', 'autostart': False}
    values['fci.control'] = 'cartesian_pose'
    overrides = [Parameter(name, value=value) for name, value in values.items()]
    node = RobotDriverNode(context=context, parameter_overrides=overrides)
    try:
        assert node.trigger_configure() != TransitionCallbackReturn.SUCCESS
        assert 'pink' in node.readiness.state().reason
        monkeypatch.undo()
        pytest.importorskip('pink')
        assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    finally:
        node.destroy_node()
        rclpy.try_shutdown(context=context)


@pytest.mark.parametrize('kind', ['goals', 'velocities', 'joint_position'])
def test_joints_keep_to_the_velocities_that_the_arm_allows_near_their_ends(bench, kind):
    control = kind if kind == 'joint_position' else 'joint_velocity'
    found = bench(**{'command_timeout': 2.0, 'fci.control': control})
    joint = 3
    urdf = found.driver._fci._arm._robot.model_urdf
    figures = re.search(
        r'<joint name="[^"]*joint4".*?upper="([^"]+)".*?deceleration_limit="([^"]+)"'
        r' velocity_offset="([^"]+)"',
        urdf,
        re.DOTALL,
    )
    upper, deceleration, offset = map(float, figures.groups())
    goal = found.positions[:7]
    start = goal.copy()
    goal[joint] = load_robot('fr3').joint_limits[NAMES[joint]][1]
    start[joint] = upper - 0.7
    rates = 0.5 * np.eye(7)[joint]

    def act():
        if kind == 'velocities':
            found.command(velocities=rates)
        else:
            found.command(goal)

    def back_away():
        found.until(lambda: found.positions[joint] < upper - 0.6, lambda: found.command(start))

    back_away()
    found.until(lambda: found.positions[joint] > upper - 0.2, act)
    found.states.clear()
    found.until(
        lambda: (
            len(found.states) > 50
            and found.states[-1].position[joint] - found.states[-50].position[joint] < 1e-4
        ),
        act,
    )
    times = np.array([stamp_ns(state.header.stamp) / 1e9 for state in found.states])
    positions = np.array([state.position[joint] for state in found.states])
    # Over 50 ms: the simulated arm's own velocity chatters.
    velocities = (positions[5:] - positions[:-5]) / (times[5:] - times[:-5])
    left = upper - positions[:-5]
    allowed = np.sqrt(2.0 * deceleration * np.maximum(0.0, left)) - offset
    assert (velocities <= np.maximum(0.0, allowed) + 0.02).all()
    back_away()  # for those that follow
    assert found.state.counts.aborts == 0


def test_commands_that_cannot_be_followed_are_refused(bench):
    found = bench()
    goal = found.positions[:7]
    take = found.driver._fci._loop.commands.joints
    none = np.array(())
    assert 'its limits are' in take(0, NAMES[:7], goal + 9.0, none)
    assert 'unknown joint' in take(0, ['elbow'], goal[:1], none)
    assert 'not finite' in take(0, NAMES[:7], none, np.full(7, np.nan))
    assert 'velocities are wanted of' in take(0, NAMES[:2], none, np.zeros(2))
    assert 'old' in take(1, NAMES[:7], goal, none)
    assert 'old' in take(0, NAMES[:7], goal, none, time.time_ns() - 10**9)
    assert found.state.counts.refused == 4 and found.state.counts.stale == 2
    before = time.monotonic()
    assert not take(0, NAMES[:7], goal, none, time.time_ns() + 10**12)
    found.until(lambda: found.driver._fci._loop._last_command)
    assert before <= found.driver._fci._loop._last_command <= time.monotonic()


def test_the_age_of_a_command_counts_from_its_reception(bench, monkeypatch):
    found = bench(command_timeout=0.2)
    arm, goal, waits, goes_on = found.driver._fci._arm, found.positions, Event(), Event()
    read = arm.read

    def stalled_read():
        waits.set()
        goes_on.wait(10.0)
        return read()

    monkeypatch.setattr(arm, 'read', stalled_read)
    assert waits.wait(10.0)
    found.commands.publish(JointState(name=NAMES[:7], position=goal[:7].tolist()))
    time.sleep(0.4)
    goes_on.set()
    found.until(lambda: found.state.counts.commands)
    assert found.state.counts.stale == 1
    states = found.state.counts.states
    found.until(lambda: found.state.counts.states > states + 5)
    assert found.state.counts.sent == 0


def test_after_a_reflex_it_waits_for_the_recovery(bench, server, monkeypatch):
    found = bench()
    start = found.positions[:7]
    goal = start + 0.05 * np.eye(7)[6]
    # Before the motion has begun there is none to end.
    found.until(lambda: np.abs(found.positions[:7] - start).max() > 0.01,
                lambda: found.command(goal))  # fmt: skip
    server.order('reflex')
    found.until(lambda: found.state.activity is Activity.ABORTED, lambda: found.command(goal))
    assert 'eflex' in found.state.problem
    refused = found.state.counts.refused
    found.until(lambda: found.state.counts.refused > refused + 3, lambda: found.command(goal))
    driver, sent = found.driver._fci, found.state.counts.sent
    recover, refused = driver._arm.recover, []

    def recover_slowly():
        recover()
        driver._poll()
        found.command(goal)
        assert driver._inputs[0][0].wait(10.0)

    monkeypatch.setattr(driver._arm, 'recover', recover_slowly)
    monkeypatch.setattr(driver, '_warn_of', refused.append)
    answer = found.recovery.call_async(Trigger.Request())
    found.until(answer.done)
    assert answer.result().success, answer.result().message
    states = found.state.counts.states
    found.until(lambda: found.state.counts.states > states + 5)
    assert found.state.counts.sent == sent
    assert 'stopped itself' in [text for text in refused if text][-1]
    found.until(lambda: found.state.activity is Activity.FOLLOWING, lambda: found.command(goal))


def test_recovery_leaves_an_arm_without_an_error_alone(bench):
    found = bench()
    goal = found.positions[:7]
    found.until(lambda: found.state.activity is Activity.FOLLOWING, lambda: found.command(goal))
    answer = found.recovery.call_async(Trigger.Request())
    found.until(answer.done, lambda: found.command(goal))
    assert answer.result().success and 'no error' in answer.result().message
    assert found.state.activity is Activity.FOLLOWING and found.state.counts.aborts == 0


def test_commands_at_full_dynamics_lose_no_arm(bench):
    """The limits of an FR3 are above those that the library allows: the goals run ahead."""
    found = bench(**{'fci.dynamics': 1.0, 'max_relative_target': 0.0})
    start = found.positions[:7]
    sign = 1.0 if start[5] < 2.5 else -1.0  # the middle of the joint's range
    goal = start + sign * 1.5 * np.eye(7)[5]
    found.until(lambda: np.abs(found.positions[:7] - goal).max() < 0.01,
                lambda: found.command(goal))  # fmt: skip
    counts = found.state.counts
    assert counts.losses == counts.aborts == 0


def test_without_a_hand_there_is_no_finger_and_no_status_of_it(ros_domain, server):
    found = Bench(server, **{'fci.gripper': False})
    try:
        found.until(lambda: found.states)
        assert list(found.states[-1].name) == NAMES[:7]
        assert [status.name for status in found.driver.health()] == ['robot']
    finally:
        found.close()


def test_a_lost_arm_is_found_again(ros_domain):
    server = FciServer()
    found = Bench(server, **{'fci.answer_timeout': 0.5})
    try:
        found.until(lambda: found.states)
        server.kill()
        found.until(lambda: found.state.activity is Activity.LOST)
        assert found.driver.health()[0].level == 2
        server.start()
        found.until(lambda: found.state.activity is Activity.HOLDING)
        found.states.clear()
        found.until(lambda: found.states)
    finally:
        found.close()
        server.kill()


def test_a_mistake_of_ours_loses_the_arm_and_not_the_watch_over_it(bench, monkeypatch):
    found = bench()
    goal = found.positions[:7] + 0.05 * np.eye(7)[6]
    found.until(lambda: found.state.activity is Activity.FOLLOWING,
                lambda: found.command(goal))  # fmt: skip
    loop = found.driver._fci._loop
    with monkeypatch.context() as patch:
        patch.setattr(loop, '_watch', lambda _: {}['nothing'])
        found.until(lambda: found.state.activity is Activity.LOST)
        assert 'KeyError' in found.state.problem
    found.until(lambda: found.state.activity is Activity.HOLDING)
    assert loop.counts.losses >= 1


def test_an_arm_that_falls_silent_is_lost_and_found_again(ros_domain):
    """Without a word, as when its cable is pulled; also while it moves."""
    server = FciServer()
    found = Bench(server, **{'fci.answer_timeout': 0.5, 'fci.connect_timeout': 1.0})
    try:
        found.until(lambda: found.states)
        goal = found.positions[:7] + 0.3 * np.eye(7)[6]
        found.until(lambda: found.state.activity is Activity.FOLLOWING,
                    lambda: found.command(goal))  # fmt: skip
        server.silence(True)
        found.until(lambda: found.state.activity is Activity.LOST)
        server.silence(False)
        found.until(lambda: found.state.activity is Activity.HOLDING)
        found.until(lambda: found.state.activity is Activity.FOLLOWING,
                    lambda: found.command(found.positions[:7]))  # fmt: skip
    finally:
        server.silence(False)
        found.close()
        server.kill()


def test_states_bear_simulated_time(bench):
    found = bench(use_sim_time=True)
    clock = found.node.create_publisher(Clock, '/clock', 10)
    now = Clock()
    now.clock.sec, now.clock.nanosec = 700, 500_000_000
    found.until(lambda: found.states[-1].header.stamp.sec == 700, lambda: clock.publish(now))
