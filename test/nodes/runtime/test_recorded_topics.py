# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Topics that the recorder takes, the driver's own among them."""

import time

import pytest
from input_watch import InputWatch
from patience import PATIENCE

pytest.importorskip('rclpy')

from sensor_msgs.msg import Image, JointState

from frame_ros.bags.reader import Bag
from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.process_table import arm_processes
from frame_ros.bringup.supervisor import Supervisor
from frame_ros.core.errors import SetupError
from frame_ros.nodes.runtime.recorded_topics import TopicFilter, absolute_names
from frame_ros.srv import EndEpisode, StartEpisode


def test_topics_of_any_namespace_are_recorded_besides():
    names = TopicFilter('/left', [''], ['.*/hidden'], ['/follower/joint_states', '/other/hidden'])
    assert names.is_wanted('/follower/joint_states')
    assert names.is_wanted('/left/ee_pose')
    assert not names.is_wanted('/follower/joint_states/more')
    assert not names.is_wanted('/follower/wrench')
    assert not names.is_wanted('/other/hidden')
    chosen = TopicFilter('/left', ['ee_.*'], [''], ['/follower/joint_states'])
    assert chosen.is_wanted('/follower/joint_states')
    assert not chosen.is_wanted('/left/path')


def test_names_are_relative_to_the_recorders_namespace(ros_context):
    node = ros_context.create_node('recorder', namespace='/left')
    assert absolute_names(node, ['', 'arm/joints', '/joints']) == ['/left/arm/joints', '/joints']
    with pytest.raises(SetupError, match='two words'):
        absolute_names(node, ['two words'])


class Driver:
    """An arm's driver in a namespace of its own, and a client of the recorder in /left."""

    def __init__(self, rclpy):
        self.rclpy = rclpy
        self.node = rclpy.create_node('driver', namespace='/follower')
        self.publishers = {
            name: self.node.create_publisher(kind, name, 10)
            for name, kind in {
                'joint_states': JointState,
                '/camera/color/image_raw': Image,
                '/left/arm/joint_commands': JointState,
                'unrelated': JointState,
            }.items()
        }

    def until(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, 'it did not happen'
            self.rclpy.spin_once(self.node, timeout_sec=0.02)

    def call(self, kind, name, **fields):
        client = self.node.create_client(kind, name)
        self.until(client.service_is_ready)
        answer = client.call_async(kind.Request(**fields))
        self.until(answer.done)
        return answer.result()


def test_the_inputs_of_an_arm_are_recorded_wherever_they_are(ros_context, tmp_path):
    settings = ArmOptions(
        namespace='left',
        directory=str(tmp_path),
        joint_states_topic='/follower/joint_states',
        front_image_topic='/camera/color/image_raw',
        joint_commands_topic='arm/joint_commands',
    )
    recorder = [p for p in arm_processes(settings) if p.name == 'episode_recorder']
    driver = Driver(ros_context)
    heard = InputWatch(ros_context.create_node('watch', namespace='/left'))
    wanted = [name for name in driver.publishers if name != 'unrelated']
    with Supervisor(recorder, tmp_path / 'logs', 'left', console=lambda line: None):
        driver.until(lambda: all(driver.publishers[n].get_subscription_count() for n in wanted))
        assert driver.call(StartEpisode, '/left/start_episode').success
        for publisher in driver.publishers.values():
            message = publisher.msg_type()
            message.header.stamp.sec = 1
            publisher.publish(message)
        for name in wanted:
            heard.wait_until_taken(driver.publishers[name].topic_name, 10**9)
        ended = driver.call(EndEpisode, '/left/end_episode', outcome=1)
    assert ended.success, ended.message
    counts = {name: len(topic) for name, topic in Bag(ended.bag).topics.items()}
    assert counts.pop('/left/node_readiness') and counts.pop('/diagnostics')
    assert counts == {
        '/follower/joint_states': 1,
        '/camera/color/image_raw': 1,
        '/left/arm/joint_commands': 1,
        '/left/episode_events': 2,
    }
