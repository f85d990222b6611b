# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The simulator with a scene file, over real rclpy: scenes of every task in turn."""

import attrs
import numpy as np
import pytest

pytest.importorskip('rclpy')
pytest.importorskip('mujoco')

from geometry_msgs.msg import PoseStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import CameraInfo, Image, JointState
from simulator_probe import Probe, SimulatorInThread
from std_msgs.msg import String

from frame_ros.core.errors import SetupError
from frame_ros.scenes.description.files import write_scenes
from frame_ros.scenes.description.scene import SensorFault
from frame_ros.scenes.generation.changes import move_cameras, set_latency, set_resolution
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.late_stream import LateStream, late_streams
from frame_ros.scenes.running_scene import RunningScene
from frame_ros.scenes.simulation.scene_file_simulation import LiveScene, SceneFileSimulation
from frame_ros.scenes.simulation.scene_robot import SO101
from frame_ros.scenes.simulation.task import TaskState
from frame_ros.scenes.tasks.kinds import TASKS

TRUE_OBJECT, TRUE_GOAL = 'ground_truth/object_pose', 'ground_truth/goal_pose'
LATE = 0.4  # s, of the images of one scene
TOPICS = {
    'joint_states': JointState, 'front/image_raw': Image, 'front/camera_info': CameraInfo,
    TRUE_OBJECT: PoseStamped, TRUE_GOAL: PoseStamped,
}  # fmt: skip


def scene_of(task, number):
    place = setting(SO101, task)
    scene = nominal_scene(place)
    target = attrs.evolve(scene.target, position=(0.19 + 0.02 * number, -0.1))
    objects = (target, *(each for each in scene.objects if each.role != 'target'))
    scene = attrs.evolve(scene, name=f'{task}_scene', objects=objects)
    scene = set_resolution(scene, {'size': '160x120'}, place)
    if number == 2:
        scene = set_resolution(scene, {'size': '64x48'}, place)
        scene = set_latency(scene, {'images': LATE, 'joints': 0.0}, place)
    return move_cameras(scene, {'x': 0.01 * number, 'y': 0.0, 'z': 0.0}, place)


SCENES = tuple(scene_of(task, number) for number, task in enumerate(TASKS))


def seconds(message):
    return message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec


def place_of(message):
    at = message.pose.position
    return np.array((at.x, at.y, at.z))


def test_scenes_of_every_task_run_in_turn(tmp_path):
    file = tmp_path / 'scenes.yaml'
    write_scenes(file, SCENES)
    probe, said = Probe(TOPICS), []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    probe.node.create_subscription(String, 'scene', said.append, latched)
    simulator = SimulatorInThread(
        f'scenes_file:={file}', "scene:='2'", 'cameras:=[front]', 'images.rate:=5.0',
        'depth.rate:=0.0',
    )  # fmt: skip
    try:
        for number, scene in ((1, SCENES[1]), (2, SCENES[2]), (3, SCENES[3]), (0, SCENES[0])):
            if number != 1:
                answer = probe.reset(-1)
                assert answer.success and answer.seed == number
                assert answer.message.startswith(
                    f'scene {number + 1} of {len(SCENES)}, {scene.name}'
                )
            for messages in probe.received.values():
                messages.clear()
            probe.until(lambda: all(len(messages) > 2 for messages in probe.received.values()))
            probe.until(lambda n=number: said and RunningScene.read(said[-1].data).number == n + 1)
            running = RunningScene.read(said[-1].data)
            assert (running.name, running.instruction) == (scene.name, scene.instruction)
            mount, camera = running.mount('front', ('base_link',)), scene.cameras[0]
            assert mount.translation == pytest.approx(camera.position)
            info, image = probe.newest('front/camera_info'), probe.newest('front/image_raw')
            assert (info.width, info.height) == (camera.width, camera.height)
            assert (image.width, image.height) == (camera.width, camera.height)
            late = seconds(probe.newest('joint_states')) - seconds(image)
            if number == 2:  # the picture shows what was there when it was taken
                assert late >= LATE - 0.15
            target, goal = place_of(probe.newest(TRUE_OBJECT)), place_of(probe.newest(TRUE_GOAL))
            assert target[:2] == pytest.approx(scene.target.position, abs=0.003)
            asked = scene.receptacle or scene.target
            assert goal[:2] == pytest.approx(asked.position, abs=0.003)
            assert len(probe.newest('joint_states').position) == len(SO101.joint_names)
            assert np.ptp(np.frombuffer(probe.newest('front/image_raw').data, np.uint8)) > 50
        chosen = probe.reset(2)
        assert (chosen.success, chosen.seed) == (True, 2) and SCENES[2].name in chosen.message
    finally:
        simulator.close()
        probe.close()


def test_late_streams_keep_the_order_and_leave_out_a_share():
    stream = LateStream(SensorFault(latency=0.1, dropouts=0.25), (7, 0))
    period = 10_000_000
    for index in range(2000):
        stream.send(index * period, index)
    assert stream.arrived(100_000_000 - 1) == []
    first = stream.arrived(600_000_000)
    assert (
        first and first == sorted(first) and first[-1] <= 50 and stream.arrived(600_000_000) == []
    )
    came = len(first) + len(stream.arrived(10**12))
    assert came + stream.left_out == 2000 and 0.2 < stream.left_out / 2000 < 0.3
    late = LateStream(SensorFault(latency=0.1), (7, 0))
    late.send(10**12, 'before the clock went back')
    late.send(0, 'after it')
    assert late.arrived(100_000_000) == ['after it'] and late.left_out == 1
    perfect = late_streams(None, ('front',))['front']
    perfect.send(5, 'picture')
    assert perfect.arrived(5) == ['picture']


def test_a_running_scene_is_read_as_it_was_said():
    running = RunningScene.of(SCENES[1], 1, 'base_link')
    assert RunningScene.read(running.text) == running and running.number == 2
    assert running.mount('elsewhere', ('base_link',)) is None
    for text in ('no json', '{"number": "1", "name": "a"}'):
        with pytest.raises(SetupError):
            RunningScene.read(text)


def test_a_scene_is_done_by_the_rule_of_its_task_and_judged_again_after_a_restart():
    scene = next(each for each in SCENES if each.task.kind == 'put_in')
    live = LiveScene(scene)
    live.step(None, round(1.0 / live.timestep))
    assert live.task_state is TaskState.RUNNING
    address = live.model.joint('target_free').qposadr[0]
    live.data.qpos[address : address + 3] = (*scene.receptacle.position, 0.03)
    for _ in range(20):
        live.step(None, round(0.1 / live.timestep))
    assert live.task_state is TaskState.SUCCESS and not live.problem
    live.restart_task()
    assert live.task_state is TaskState.RUNNING
    live.data.qpos[address : address + 3] = (0.3, 2.0, 0.5)
    for _ in range(20):
        live.step(None, round(0.1 / live.timestep))
    assert live.task_state is TaskState.FAILURE
    live.close()


def test_scenes_that_cannot_be_run_are_refused_and_the_one_before_stays():
    apart = SCENES[2]
    receptacle = attrs.evolve(apart.receptacle, position=apart.target.position)
    overlapping = attrs.evolve(apart, name='bad', objects=(apart.target, receptacle))
    scenes = SceneFileSimulation((SCENES[0], overlapping), 'so101', 0, ('front',))
    with pytest.raises(SetupError, match='the scene bad cannot be run: .*overlap'):
        scenes.reset(1)
    assert scenes.place == 0 and scenes.scene is SCENES[0]
    with pytest.raises(SetupError, match='is of so101, the robot is fr3'):
        SceneFileSimulation((SCENES[0],), 'fr3')
    with pytest.raises(SetupError, match='has no camera top'):
        SceneFileSimulation((SCENES[0],), 'so101', 0, ('top',))
    with pytest.raises(SetupError, match='is of the world so101-lift, not frame_ros'):
        SceneFileSimulation((attrs.evolve(SCENES[0], world='so101-lift'),), 'so101')
