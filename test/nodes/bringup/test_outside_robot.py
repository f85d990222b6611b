# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A robot whose profile lies outside of the package, watched, commanded and recorded by the whole
stack: from its name to the report of its bag.
"""

import json
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
pytest.importorskip('trajectory_msgs')

from trajectory_msgs.msg import JointTrajectory

from frame_ros.bags.reader import Bag
from frame_ros.bringup.arm_options import ArmOptions
from frame_ros.bringup.process_table import arm_processes
from frame_ros.bringup.run_checks import check_run
from frame_ros.bringup.supervisor import Supervisor
from frame_ros.cli import main
from frame_ros.episodes.reading import read_episodes
from frame_ros.msg import EpisodeEvent
from frame_ros.reports.parity.comparison import compare_live
from frame_ros.robots import load_robot
from frame_ros.srv import EndEpisode, StartEpisode

HERE = Path(__file__).resolve().parent.parent
ROBOTS = HERE.parents[1] / 'examples' / 'robots'
RATE = 100  # Hz
COMMANDS = 30
PATH = 0.05  # m, least length of the path that the player makes the tip go


class Commands:
    """Messages that the arm's controller is sent."""

    def __init__(self, node, topic):
        self.messages = []
        self.subscription = node.create_subscription(
            JointTrajectory, topic, self.messages.append, 100
        )


@pytest.fixture(scope='module', params=['ur5e', 'xarm6'])
def name(request):
    return request.param


@pytest.fixture()
def run(name, ros_context, tmp_path, monkeypatch):
    """The bag of an episode, and the commands that the controller got meanwhile."""
    monkeypatch.setenv('FRAME_ROS_ROBOTS', str(ROBOTS))
    monkeypatch.chdir(tmp_path)
    (output,) = load_robot(name).profile.controllers
    settings = ArmOptions(
        robot=name, namespace='arm', directory=str(tmp_path / 'bags'), policy='hold', output=output,
        gate_parameters={'limits.step': 3.0},
    )  # fmt: skip
    table = [process for process in arm_processes(settings) if process.name != 'markers']
    check_run(table)
    monkeypatch.delenv('FRAME_ROS_ROBOTS')  # each node has the path of the profile
    robot = load_robot(table[0].parameters['robot'])
    player = [sys.executable, str(HERE / 'half_arm.py'), '/arm', str(RATE), *robot.joint_limits]
    with ExitStack() as stack:
        arm = subprocess.Popen(player)
        stack.callback(arm.wait)
        stack.callback(arm.kill)
        stack.enter_context(Supervisor(table, tmp_path / 'logs', 'arm', console=lambda line: None))
        node = ros_context.create_node('test', namespace='/arm')
        stack.callback(node.destroy_node)
        commands = Commands(node, robot.profile.controllers[output].topic)
        call(ros_context, node, StartEpisode, 'start_episode', StartEpisode.Request())
        deadline = time.monotonic() + PATIENCE
        while len(commands.messages) < COMMANDS and time.monotonic() < deadline:
            ros_context.spin_once(node, timeout_sec=0.1)
        time.sleep(2.0)  # of the arm's motion
        request = EndEpisode.Request(outcome=EpisodeEvent.OUTCOME_SUCCESS)
        bag = call(ros_context, node, EndEpisode, 'end_episode', request).bag
    return robot, bag, commands.messages


def test_it_is_watched_commanded_and_reported(run, name, tmp_path, capsys):
    robot, bag, messages = run
    assert len(messages) >= COMMANDS
    arm = [joint for joint in robot.joint_limits if joint not in robot.grippers]
    assert {tuple(message.joint_names) for message in messages} == {tuple(arm)}
    own = Bag(bag)
    named = {message.hardware_id for _, message in own.messages('/arm/node_readiness')}
    named |= {each.hardware_id for _, m in own.messages('/diagnostics') for each in m.status}
    assert f'{name}.yaml' in named
    assert [each for each in named if '/' in each] == []  # a bag is given away
    (episode,) = read_episodes(bag)
    poses = episode.streams['pose']
    wanted = [
        robot.forward([place(at, joint) for joint in robot.joint_names])[0]
        for at in poses.stamps.tolist()
    ]
    assert np.median(np.linalg.norm(poses.values['position'] - wanted, axis=1)) < 1e-3
    page, data = tmp_path / 'report.html', tmp_path / 'report.json'
    profile = ROBOTS / name / f'{name}.yaml'
    assert main(f'report {bag} --robot {profile} -q -o {page} --json {data}'.split()) == 0
    (found,) = json.loads(data.read_text())['episodes']
    assert found['outcome'] == 'success'
    assert found['metrics']['pl']['value'] > PATH
    assert found['metrics']['control_rate']['value'] > 0.0
    assert name in page.read_text()
    assert [row for row in compare_live(episode) if row.differences] == []
