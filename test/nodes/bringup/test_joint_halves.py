# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""An arm whose joint states come from two publishers, each at its own rate: live against bag."""

import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from half_arm import place
from patience import PATIENCE
from service_answers import call

pytest.importorskip('rclpy')

from sensor_msgs.msg import JointState

from frame_ros.bringup.process_table import demo_processes
from frame_ros.bringup.run_options import DemoOptions
from frame_ros.bringup.supervisor import Supervisor
from frame_ros.episodes.computed_pose import add_computed_pose
from frame_ros.episodes.reading import read_episodes
from frame_ros.msg import EpisodeEvent
from frame_ros.reports.parity.comparison import compare_live
from frame_ros.robots import load_robot
from frame_ros.srv import EndEpisode, StartEpisode

HERE = Path(__file__).resolve().parent.parent
NODES = ('kinematics', 'metrics', 'episode_recorder')
RATES = (100, 70)  # Hz
SECONDS = 6.0
ROBOT = 'so101'


def act(node, joints):
    """Commands that the arm be where it is: each is a step, at which the pose is judged."""
    publisher = node.create_publisher(JointState, 'joint_commands', 100)
    # Metrics and recorder; the one that comes later would miss the first commands, or the poses.
    end = time.monotonic() + PATIENCE
    while publisher.get_subscription_count() < 2 or node.count_subscribers('ee_pose') < 2:
        assert time.monotonic() < end
        time.sleep(0.02)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        stamp = node.get_clock().now()
        message = JointState(name=list(joints))
        message.position = [place(stamp.nanoseconds, joint) for joint in joints]
        message.header.stamp = stamp.to_msg()
        publisher.publish(message)
        time.sleep(1 / 30)


@pytest.fixture()
def episode(ros_context, tmp_path):
    """One that was recorded while two halves of the arm moved."""
    settings = DemoOptions(namespace='arm', directory=str(tmp_path), robot=ROBOT)
    table = [process for process in demo_processes(settings) if process.name in NODES]
    joints = load_robot(ROBOT).joint_names
    with ExitStack() as stack:
        for rate, part in zip(RATES, (joints[:3], joints[3:]), strict=True):
            command = [sys.executable, str(HERE / 'half_arm.py'), '/arm', str(rate), *part]
            half = subprocess.Popen(command)
            stack.callback(half.wait)
            stack.callback(half.kill)
        stack.enter_context(Supervisor(table, tmp_path / 'logs', 'arm', console=lambda line: None))
        node = ros_context.create_node('test', namespace='/arm')
        stack.callback(node.destroy_node)
        call(ros_context, node, StartEpisode, 'start_episode', StartEpisode.Request())
        act(node, joints)
        request = EndEpisode.Request(outcome=EpisodeEvent.OUTCOME_SUCCESS)
        done = call(ros_context, node, EndEpisode, 'end_episode', request)
    (found,) = read_episodes(done.bag)
    return found


def errors(poses):
    """m from where the arm truly was at the stamps of poses."""
    robot = load_robot(ROBOT)
    return [
        np.linalg.norm(position - robot.forward([place(at, j) for j in robot.joint_names])[0])
        for at, position in zip(poses.stamps.tolist(), poses.values['position'], strict=True)
    ]


def test_live_and_bag_are_the_same(episode):
    rows = compare_live(episode)
    # On a busy machine samples come after the step that they belong to; both sides say so of it.
    assert sum(row.compared + row.compared_as_live for row in rows) > 1000
    assert [row for row in rows if row.differences] == []
    # No part is ahead of the other: each lies between its samples at the pose's stamp.
    recorded, joints = episode.streams['pose'], episode.streams['joint_states']
    assert np.median(errors(recorded)) < 1e-3
    # So do those of a bag without poses, though the halves may have come in another order there.
    streams = {'joint_states': joints}
    add_computed_pose(episode.open_bag(), streams, ROBOT)
    computed = streams['pose']
    assert np.median(errors(computed)) < 1e-3
    assert len(np.intersect1d(recorded.stamps, computed.stamps)) > len(recorded) / 2
    # Each publisher counts its own messages: the two together have lost none.
    assert 'recorder.lost' not in episode.data_quality
