# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node over real rclpy.

Real images, joint states and events in; commands and inference messages out.
"""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import yaml

rclpy = pytest.importorskip('rclpy')

from diagnostic_msgs.msg import KeyValue  # noqa: E402
from geometry_msgs.msg import PoseStamped  # noqa: E402
from lifecycle_msgs.msg import Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import QoSDurabilityPolicy, QoSProfile  # noqa: E402
from rclpy.time import Time  # noqa: E402
from sensor_msgs.msg import Image, JointState  # noqa: E402

from frame_ros.errors import SetupError  # noqa: E402
from frame_ros.msg import EpisodeEvent, PolicyInference  # noqa: E402
from frame_ros.nodes.policy import PolicyNode  # noqa: E402
from frame_ros.nodes.policy_settings import PolicySettings  # noqa: E402
from frame_ros.nodes.spinning import spin_until_stopped  # noqa: E402
from frame_ros.policies.protocol import Inference  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'test' / 'policies'))

JOINTS = ('shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper')
SIZE = (64, 96)


class Robot(Node):
    """What the policy node talks to: publishes its inputs at 30 Hz and keeps what it publishes.

    published: names of the inputs to publish. nan_joints: whether joint states are not finite.
    """

    def __init__(self) -> None:
        super().__init__('robot')
        latched = QoSProfile(depth=50, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)
        self.published = {'joint_states', 'front', 'wrist'}
        self.nan_joints = False
        self.commands: list[JointState] = []
        self.inferences: list[PolicyInference] = []
        self._joints = self.create_publisher(JointState, 'joint_states', 10)
        self._cameras = {
            name: self.create_publisher(Image, f'{name}/image_raw', 5)
            for name in ('front', 'wrist')
        }
        self._poses = {
            name: self.create_publisher(PoseStamped, f'ground_truth/{name}_pose', 10)
            for name in ('object', 'goal')
        }
        self._events = self.create_publisher(EpisodeEvent, 'episode_events', latched)
        self.create_subscription(JointState, 'joint_commands', self.commands.append, 500)
        self.create_subscription(PolicyInference, 'policy_inference', self.inferences.append, 500)
        pixels = np.random.default_rng(0).integers(0, 256, (*SIZE, 3), dtype=np.uint8).tobytes()
        self._image = Image(
            height=SIZE[0], width=SIZE[1], encoding='rgb8', step=3 * SIZE[1], data=pixels
        )
        self.create_timer(1 / 30, self._publish)

    def _publish(self) -> None:
        stamp = self.get_clock().now().to_msg()
        if 'joint_states' in self.published:
            positions = [float('nan') if self.nan_joints else 0.1 * i for i in range(6)]
            message = JointState(name=JOINTS[::-1], position=positions[::-1])
            message.header.stamp = stamp
            self._joints.publish(message)
        for name, publisher in self._cameras.items():
            if name in self.published:
                self._image.header.stamp = stamp
                publisher.publish(self._image)
        for (name, publisher), x in zip(self._poses.items(), (0.22, 0.2), strict=True):
            if name in self.published:
                message = PoseStamped()
                message.header.stamp = stamp
                message.pose.position.x, message.pose.position.y = (
                    x,
                    0.1 if name == 'goal' else -0.05,
                )
                message.pose.position.z, message.pose.orientation.w = 0.015, 1.0
                publisher.publish(message)

    def send(self, type_: int, episode_id: str = 'e1', delay: float = 0.3, **fields) -> int:
        """Publishes an event `delay` s ahead; returns its stamp in ns."""
        stamp = self.get_clock().now().nanoseconds + round(delay * 1e9)
        event = EpisodeEvent(type=type_, episode_id=episode_id, source='recorder', **fields)
        event.header.stamp = Time(nanoseconds=stamp).to_msg()
        self._events.publish(event)
        return stamp


class Runner:
    """A policy node and a robot, each in an executor of its own thread."""

    def __init__(self, capture: pytest.CaptureFixture) -> None:
        self._capture, self._log = capture, ''
        self.robot = Robot()
        self.nodes: list[Node] = []
        self._threads: list[tuple[threading.Event, threading.Thread]] = []
        self._spin(self.robot)

    def start(self, given=None, **parameters) -> PolicyNode:
        """Starts a policy node with these parameters."""
        overrides = [Parameter(name, value=value) for name, value in parameters.items()]
        node = PolicyNode(given, parameter_overrides=overrides)
        self._spin(node)
        return node

    def _spin(self, node: Node) -> None:
        self.nodes.append(node)
        stop = threading.Event()
        thread = threading.Thread(target=spin_until_stopped, args=(node, stop), daemon=True)
        thread.start()
        self._threads.append((stop, thread))

    def wait(self, condition, timeout: float = 20.0) -> None:
        """Waits until the condition holds; fails if it never does."""
        deadline = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < deadline, (
                f'never came true; the log ends: {self.log()[-500:]}'
            )
            time.sleep(0.01)

    def wait_for_log(self, text: str) -> None:
        self.wait(lambda: text in self.log())

    def log(self) -> str:
        """All that the nodes have logged so far."""
        self._log += self._capture.readouterr().err
        return self._log

    def close(self) -> None:
        for stop, thread in self._threads:
            stop.set()
            thread.join()
        for node in self.nodes:
            node.destroy_node()


@pytest.fixture()
def runner(ros_context, capfd):
    runner = Runner(capfd)
    yield runner
    runner.close()


def ns(stamp) -> int:
    return Time.from_msg(stamp).nanoseconds


class CountingPolicy:
    """A real policy: each chunk goes on from where the executed actions are, in steps of 0.001 rad
    on all joints.

    duration: s that an inference takes. wrong: calls (counted from 0) that raise, or give NaN, or
    leave the limits.
    """

    name, checkpoint, poses = 'counting', '', ()

    def __init__(self, duration: float = 0.0, horizon: int = 60, cameras=(), wrong=None) -> None:
        self.duration, self.horizon, self.cameras, self.wrong = (
            duration,
            horizon,
            cameras,
            wrong or {},
        )
        self.seeds, self.observations = [], []

    def reset(self, seed=None) -> None:
        self.seeds.append(seed)

    def infer(self, observation) -> Inference:
        time.sleep(self.duration)
        self.observations.append(observation)
        kind = self.wrong.get(len(self.observations) - 1)
        if kind == 'raise':
            raise ZeroDivisionError('a bug in the policy')
        steps = round(observation.executed * 30) + np.arange(self.horizon)
        actions = np.tile(0.001 * steps[:, None], (1, 6))
        if kind == 'nan':
            actions[3, 2] = np.nan
        if kind == 'outside':
            actions[:, 5] = 7.0
        return Inference(actions, 1 / 30, JOINTS, ('rad',) * 6)


@pytest.fixture(scope='module')
def checkpoint(tmp_path_factory):
    pytest.importorskip('lerobot')
    from checkpoints import make_act_checkpoint

    return make_act_checkpoint(tmp_path_factory.mktemp('act'), image_size=SIZE)


def test_an_act_checkpoint_acts_through_the_node(runner, checkpoint):
    from frame_ros.policies.lerobot import load_lerobot_policy

    node = runner.start(
        policy='lerobot',
        checkpoint=str(checkpoint),
        units='rad',
        instruction='nothing',
        n_action_steps=8,
    )
    start = runner.robot.send(EpisodeEvent.START, instruction='pick up the cube')
    runner.wait(lambda: len(runner.robot.inferences) >= 4 and len(runner.robot.commands) > 40)
    end = runner.robot.send(EpisodeEvent.END)
    runner.wait(lambda: runner.robot.get_clock().now().nanoseconds > end + 3e8)
    commands, inferences = list(runner.robot.commands), list(runner.robot.inferences)

    stamps = [ns(command.header.stamp) for command in commands]
    assert all(a < b for a, b in zip(stamps, stamps[1:], strict=False))
    assert start <= stamps[0] and stamps[-1] < end
    assert len(commands) > len(inferences)
    assert all(tuple(command.name) == JOINTS and len(command.position) == 6 for command in commands)
    assert 'errors' not in node.counters
    # A call that ran at the end was too late for the queue.
    in_time = [message for message in inferences if ns(message.header.stamp) < end]
    check_inferences(in_time, checkpoint, start)

    # What is commanded is what was inferred: the first command is the first row of the first chunk.
    policy = load_lerobot_policy(checkpoint, JOINTS, units='rad')
    rows = np.array(inferences[0].actions).reshape(30, 6)
    np.testing.assert_array_equal(commands[0].position, rows[0])
    assert policy.name == inferences[0].policy


def check_inferences(inferences, checkpoint, start: int) -> None:
    for k, message in enumerate(inferences):
        assert (message.sequence, message.episode_id, message.instruction) == (
            k,
            'e1',
            'pick up the cube',
        )
        assert (message.policy, message.checkpoint) == ('act', str(checkpoint))
        assert (message.horizon, message.action_dimension, len(message.actions)) == (30, 6, 180)
        assert tuple(message.action_names) == JOINTS
        assert list(message.action_units) == ['rad'] * 6
        assert message.action_space == 'joint_position'
        assert message.action_dt == pytest.approx(1 / 30)
        parts = (message.preprocess, message.forward, message.postprocess)
        assert min(parts) > 0 and message.cpu_time > 0
        assert sum(parts) <= message.latency
        assert (message.transport, message.memory_device) == (0.0, 0.0)
        assert message.memory_rss > 1e8
        assert start <= ns(message.request_stamp) < ns(message.header.stamp)
        assert 0 < ns(message.observation_stamp) <= ns(message.request_stamp)
        assert message.sample_count == len(message.samples) == len(message.token_entropy) == 0
    assert np.isnan(inferences[0].chunk_overlap)
    assert all(message.chunk_overlap >= 0 for message in inferences[1:])
    assert inferences[0].stalls > 0


def test_ticks_go_on_while_a_slow_policy_infers(runner):
    runner.start(CountingPolicy(duration=0.5), run_on='always')
    runner.wait(lambda: len(runner.robot.inferences) >= 4)
    commands, inferences = list(runner.robot.commands), list(runner.robot.inferences)
    assert all(message.latency >= 0.5 and np.isnan(message.preprocess) for message in inferences)
    assert len(commands) > len(inferences)
    # However long an inference took, no step was left out, and one was repeated only for a stall.
    steps = [round(command.position[0] / 0.001) for command in commands]
    assert steps[0] == 0 and steps[-1] > 0
    assert set(np.diff(steps)) <= {0, 1}
    assert [message.chunk_overlap for message in inferences[1:]] == [0.0] * (len(inferences) - 1)


def test_an_empty_queue_holds_the_last_action_and_counts_stalls(runner):
    runner.start(CountingPolicy(duration=0.3, horizon=3), run_on='always')
    runner.wait(lambda: len(runner.robot.inferences) >= 4)
    steps = [round(command.position[0] / 0.001) for command in runner.robot.commands]
    assert set(np.diff(steps)) == {0, 1}
    assert any(message.stalls > 0 for message in runner.robot.inferences[1:])


def test_a_missing_or_stopped_camera_is_named_and_nothing_is_inferred(runner):
    policy = CountingPolicy(cameras=('front', 'wrist'), horizon=5)
    runner.robot.published.remove('wrist')
    runner.start(policy)
    runner.robot.send(EpisodeEvent.START)
    runner.wait_for_log('no inference: wrist was never received')
    assert not policy.observations and not runner.robot.commands and not runner.robot.inferences
    runner.robot.published.add('wrist')
    runner.wait(lambda: len(runner.robot.inferences) > 2)
    assert policy.observations[0].images['wrist'].shape == (*SIZE, 3)
    runner.robot.published.remove('front')
    runner.wait_for_log('front stopped: the newest is')
    count = len(policy.observations)
    held = len(runner.robot.commands)
    runner.wait(lambda: len(runner.robot.commands) > held + 10)
    assert len(policy.observations) == count
    last = [list(command.position) for command in runner.robot.commands[-5:]]
    assert all(position == last[0] for position in last)


def test_joint_states_that_are_not_finite_are_not_used(runner):
    runner.robot.nan_joints = True
    policy = CountingPolicy()
    runner.start(policy, run_on='always')
    runner.wait_for_log('joint_states: joint positions that are not finite')
    assert not policy.observations
    runner.robot.nan_joints = False
    runner.wait(lambda: policy.observations)
    np.testing.assert_allclose(policy.observations[0].joint_positions, 0.1 * np.arange(6))


def test_wrong_chunks_are_dropped_and_the_node_goes_on(runner):
    policy = CountingPolicy(horizon=5, wrong={1: 'raise', 2: 'nan', 4: 'outside'})
    node = runner.start(policy, run_on='always')
    runner.wait(lambda: len(policy.observations) > 6 and len(runner.robot.inferences) >= 4)
    assert node.counters['errors'] >= 2
    assert node.counters['dropped_chunks'] == 1
    assert node.counters['clipped_values'] == 5
    runner.wait_for_log('the policy raised ZeroDivisionError in test_policy.py')
    positions = np.array([command.position for command in runner.robot.commands])
    assert np.isfinite(positions).all()
    assert positions[:, 5].max() <= 1.74533


def test_episodes_reset_the_policy_and_bound_the_commands(runner):
    policy = CountingPolicy(horizon=10)
    runner.start(policy, seed=100)
    bounds = []
    for episode_id, attributes in (('a', []), ('b', [KeyValue(key='seed', value='7')])):
        start = runner.robot.send(EpisodeEvent.START, episode_id, attributes=attributes)
        count = len(runner.robot.commands)
        runner.wait(lambda count=count: len(runner.robot.commands) > count + 15)
        kind = EpisodeEvent.END if episode_id == 'a' else EpisodeEvent.STOP
        end = runner.robot.send(kind, episode_id)
        bounds.append((start, end))
        runner.wait(lambda end=end: runner.robot.get_clock().now().nanoseconds > end + 3e8)
    assert policy.seeds == [100, 7]
    stamps = [ns(command.header.stamp) for command in runner.robot.commands]
    assert all(any(start <= stamp < end for start, end in bounds) for stamp in stamps)
    assert {message.episode_id for message in runner.robot.inferences} == {'a', 'b'}
    first_of_b = next(c for c in runner.robot.commands if ns(c.header.stamp) > bounds[1][0])
    assert first_of_b.position[0] == 0.0


def test_the_scripted_policy_acts_through_the_node(runner):
    pytest.importorskip('pinocchio')
    runner.robot.published = {'joint_states', 'object', 'goal'}
    node = runner.start(quality=0.5, samples=3)
    assert node.get_parameter('policy').value == 'scripted'
    runner.robot.send(EpisodeEvent.START, attributes=[KeyValue(key='seed', value='3')])
    runner.wait(lambda: len(runner.robot.commands) > 60 and len(runner.robot.inferences) > 2)
    positions = np.array([command.position for command in runner.robot.commands])
    assert np.ptp(positions, axis=0).max() > 0.05
    message = runner.robot.inferences[1]
    samples = np.reshape(message.samples, (3, message.horizon, message.action_dimension))
    assert message.sample_count == 3
    assert samples.std(axis=0).mean() > 0.0
    assert not node.set_parameters([Parameter('quality', value=1.5)])[0].successful
    assert node.set_parameters([Parameter('quality', value=0.9)])[0].successful
    runner.robot.send(EpisodeEvent.END)
    runner.robot.send(EpisodeEvent.START, 'e2')
    runner.wait(lambda: any(message.episode_id == 'e2' for message in runner.robot.inferences))
    assert node._policy.quality == 0.9


def test_a_camera_that_is_not_there_is_told(ros_context):
    with pytest.raises(SetupError, match=r"needs cameras \['top'\].*has \['front', 'wrist'\]"):
        PolicyNode(CountingPolicy(cameras=('top',)))


def test_without_autostart_the_node_waits_and_can_be_cycled(runner):
    node = runner.start(CountingPolicy(), autostart=False, run_on='always')
    client = runner.robot.create_client(ChangeState, 'policy/change_state')
    assert client.wait_for_service(20.0)

    def change(transition: int) -> bool:
        future = client.call_async(ChangeState.Request(transition=Transition(id=transition)))
        runner.wait(future.done)
        return future.result().success

    assert not runner.robot.commands
    for _ in range(2):
        assert change(Transition.TRANSITION_CONFIGURE) and change(Transition.TRANSITION_ACTIVATE)
        count = len(runner.robot.commands)
        runner.wait(lambda count=count: len(runner.robot.commands) > count)
        assert change(Transition.TRANSITION_DEACTIVATE) and change(Transition.TRANSITION_CLEANUP)
    assert node.counters == {}


def test_the_commented_file_holds_the_defaults(ros_context):
    content = yaml.safe_load((ROOT / 'config' / 'policy.yaml').read_text())['/**'][
        'ros__parameters'
    ]
    node = PolicyNode(CountingPolicy())
    declared = {name: node.get_parameter(name).value for name in content}
    node.destroy_node()
    assert declared == content
    assert set(content) == {'autostart', *PolicySettings.__dataclass_fields__}


def test_the_process_ends_cleanly_and_a_missing_checkpoint_ends_it_with_a_message(ros_domain):
    command = [sys.executable, '-m', 'frame_ros.nodes.policy', '--ros-args', '-p']
    environment = {
        **os.environ,
        'PYTHONPATH': os.pathsep.join([str(ROOT), os.environ.get('PYTHONPATH', '')]),
    }
    pipes = {
        'stdout': subprocess.PIPE,
        'stderr': subprocess.STDOUT,
        'text': True,
        'env': environment,
    }
    process = subprocess.Popen([*command, 'policy:=hold'], **pipes)
    assert 'policy hold for so101 at 30 Hz' in process.stdout.readline()
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=30)
    assert (process.returncode, 'Traceback' in output) == (0, False)
    failed = subprocess.run([*command, 'policy:=/nowhere'], timeout=60, **pipes)
    assert failed.returncode == 1
    assert "no policy '/nowhere'" in failed.stdout and 'Traceback' not in failed.stdout
