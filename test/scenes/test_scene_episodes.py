# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Steps of tasks in MuJoCo: the arm's own inverse kinematics picks the target up or lets it go."""

import attrs
import numpy as np
import pytest

pytest.importorskip('mujoco')

import mujoco

from frame_ros.core.errors import ShapeError
from frame_ros.policies.scripted.reaching import solve_reach
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.simulation.episode_states import StateRecorder
from frame_ros.scenes.simulation.scene_model import build_scene_model
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.tasks.rules import judge

FR3 = scene_robot('fr3')
RATE = 20.0  # Hz, of frames


class Episode:
    """A scene in MuJoCo, its arm led by joint targets."""

    def __init__(self, place, scene):
        self.place, self.scene = place, scene
        self.model = build_scene_model(scene, place.robot)
        self.data = mujoco.MjData(self.model)
        self.recorder = StateRecorder(self.model, scene, place.robot)
        robot = place.robot
        self.names = robot.joint_names

    def start(self, joints):
        for name, position in zip(self.names, joints, strict=True):
            self.data.qpos[self.model.joint(name).qposadr[0]] = position
            self.data.ctrl[self.model.actuator(name).id] = position
        follower = self.model.joint('fr3_finger_joint2')
        self.data.qpos[follower.qposadr[0]] = joints[-1]
        mujoco.mj_forward(self.model, self.data)
        self.recorder.record(self.data)

    def go(self, joints, seconds):
        ids = [self.model.actuator(name).id for name in self.names]
        begin = self.data.ctrl[ids].copy()
        frames = int(seconds * RATE)
        steps = int(1 / RATE / self.model.opt.timestep)
        for frame in range(frames):
            share = (frame + 1) / frames
            self.data.ctrl[ids] = begin + share * (np.array(joints) - begin)
            mujoco.mj_step(self.model, self.data, steps)
            self.recorder.record(self.data)

    def posture(self, height, opened):
        x, y = self.scene.target.position
        at = np.array((x, y, height))
        pose = np.array((x, y, height, *self.scene.target.orientation))
        arm = self.place.arm
        start = arm.turned_home(at)[:-1]
        joints, left = solve_reach(self.place.model, start, at, arm.grasp_rotation(pose))
        assert left < 1e-3
        return [*joints, opened]


def outcomes(episode):
    states = episode.recorder.states()
    return states, [judge(episode.scene, states, rule).reached for rule in ('paper', 'code')]


def test_the_hand_grasps_and_lifts_the_cube():
    place = setting(FR3, 'pick_up')
    episode = Episode(place, nominal_scene(place))
    low, high = episode.scene.target.height, episode.scene.target.height + 0.12
    episode.start(episode.posture(low, 0.04))
    episode.go(episode.posture(low, 0.0), 1.5)
    episode.go(episode.posture(high, 0.0), 2.0)
    states, reached = outcomes(episode)
    assert reached == [{'grasp': True, 'lift': True, 'success': True}] * 2
    assert not states.is_grasped[0] and states.is_grasped[-1]
    assert states.touched['table'][:5].any() and not states.touched['table'][-1]
    assert states.tracks['target'].positions[-1, 2] > low + 0.1


def test_a_hand_that_closes_above_the_cube_grasps_nothing():
    place = setting(FR3, 'pick_up')
    episode = Episode(place, nominal_scene(place))
    high = episode.scene.target.height + 0.12
    episode.start(episode.posture(high, 0.04))
    episode.go(episode.posture(high, 0.0), 1.0)
    states, reached = outcomes(episode)
    assert reached == [{'grasp': False, 'lift': False, 'success': False}] * 2
    assert not states.touches_robot.any() and states.touched['table'][-1]


@pytest.mark.parametrize(('task', 'is_in'), [('put_in', True), ('put_in', False), ('put_on', True)])
def test_a_cube_that_is_dropped_comes_to_rest_where_it_falls(task, is_in):
    place = setting(FR3, task)
    scene = nominal_scene(place)
    goal = scene.receptacle
    aside = (0.0, 0.0) if is_in else (0.25, 0.0)
    spot = tuple(np.add(goal.position, aside).tolist())
    top = 2 * goal.height if task == 'put_on' else 0.06
    moved = attrs.evolve(scene.target, position=spot, height=top + scene.target.height + 0.005)
    episode = Episode(place, attrs.evolve(scene, objects=(moved, goal)))
    episode.start(FR3.home)
    episode.go(FR3.home, 1.5)
    states, (paper, code) = outcomes(episode)
    assert paper['success'] == is_in and not paper['grasp']
    assert code['success'] == is_in
    assert states.touched['receptacle'][-1] == is_in and states.touched['table'][-1] != is_in


def test_no_frames_are_no_episode():
    place = setting(FR3, 'pick_up')
    with pytest.raises(ShapeError, match='no frame'):
        Episode(place, nominal_scene(place)).recorder.states()
