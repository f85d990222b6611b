# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A policy in a scene of a scene file: its episode, its steps, and what does not count."""

import attrs
import numpy as np
import pytest

pytest.importorskip('mujoco')

from frame_ros.core.errors import PolicyError
from frame_ros.episodes import Outcome
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference
from frame_ros.policies.scripted.tasks import ScriptedTasks, ScriptedTasksOptions
from frame_ros.scenes.description.scene import SensorFault
from frame_ros.scenes.generation.changes import set_confounder_count
from frame_ros.scenes.generation.setting import nominal_scene, polar, setting
from frame_ros.scenes.recording.details import EpisodeDetails
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.scene_rollout import SceneRollout, run_scene
from frame_ros.scenes.scene_sensors import SceneSensors
from frame_ros.scenes.simulation.scene_robot import scene_robot
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation


def nominal(task, robot='so101'):
    return nominal_scene(setting(scene_robot(robot), task))


@pytest.fixture(scope='module')
def scene():
    return nominal('pick_up')


@pytest.fixture(scope='module')
def policy():
    return ScriptedTasks()


@pytest.fixture(scope='module')
def done(scene, policy):
    return run_scene(scene, policy, seed=3)


class Scribbling(Policy):
    """Writes over all that it gets."""

    name, cameras, n_action_steps = 'scribbling', ('front',), 3

    def infer(self, observation):
        chunk = np.tile(observation.joint_positions, (3, 1))
        for each in (observation.joint_positions, *observation.poses.values()):
            each[:] = 7.0
        for each in observation.images.values():
            each[:] = 7
        return Inference(chunk, 1 / 30, observation.joint_names, ('rad',) * 6)


class Still(Policy):
    """Stays where it is; counts its inferences."""

    name = 'still'
    n_action_steps = 3

    def __init__(self, cameras=(), share=1.0):
        self.cameras, self.share, self.seen = tuple(cameras), share, []

    def infer(self, observation):
        self.seen.append(observation)
        chunk = np.tile(observation.joint_positions, (3, 1)) * self.share
        return Inference(chunk, 1 / 30, observation.joint_names, ('rad',) * 6)


def bits(values):
    if values.dtype == object:  # rows of different lengths
        return [np.asarray(row).tolist() for row in values]
    return values.tobytes()


def with_object(scene, name, **values):
    changed = (attrs.evolve(o, **values) if o.name == name else o for o in scene.objects)
    return attrs.evolve(scene, objects=tuple(changed))


def test_an_episode_of_a_scene_ends_at_the_papers_success_with_its_metrics(scene, done):
    assert done.problem == ''
    paper = done.outcomes['paper']
    assert all(paper.reached.values()) and all(done.outcomes['code'].reached.values())
    # Success is looked for every 0.1 s.
    assert paper.times['success'] <= done.duration <= paper.times['success'] + 0.1 + 1 / 30
    assert done.episode.summary['outcome'] == Outcome.SUCCESS
    assert done.episode.attributes['scene'] == scene.name
    assert done.episode.summary['steps'] == round(done.duration * 30)
    assert np.isfinite(done.episode.value('pl')) and done.episode.value('ot') is not None
    assert done.episode.value('cr') == 0.0


def test_a_policy_that_does_nothing_fails_by_both_rules(scene):
    found = run_scene(scene, Still(), SceneRunOptions(timeout=0.5))
    assert found.problem == '' and found.duration == pytest.approx(0.5)
    assert not any(any(each.reached.values()) for each in found.outcomes.values())
    assert found.episode.summary['outcome'] == Outcome.TIMEOUT


def test_the_same_scene_and_seed_give_the_same_bits(scene, policy, done):
    again = run_scene(scene, policy, seed=3)
    for role, stream in done.episode.streams.items():
        other = again.episode.streams[role]
        np.testing.assert_array_equal(stream.stamps, other.stamps)
        for name, values in stream.values.items():
            if name not in ('latency', 'cpu_time'):
                assert bits(values) == bits(other.values[name]), f'{role}.{name}'


@pytest.mark.parametrize(
    ('robot', 'task'),
    [('so101', 'move_near'), ('so101', 'put_on'), ('so101', 'put_in'), ('fr3', 'put_on')],
)
def test_the_scripted_policy_does_the_task_in_the_nominal_scene(robot, task):
    policy = ScriptedTasks(ScriptedTasksOptions(robot=robot))
    found = run_scene(nominal(task, robot), policy)
    assert found.outcomes['paper'].reached == {'grasp': True, 'move': True, 'success': True}


def test_planted_weaknesses_fail_where_they_are_and_only_there(scene, done):
    assert done.outcomes['paper'].reached['success']
    heavy = ScriptedTasks(ScriptedTasksOptions(weaknesses=('heavy',)))
    run = SceneRunOptions(timeout=6.0)
    assert run_scene(scene, heavy, run).outcomes['paper'].reached['success']
    loaded = with_object(scene, 'target', mass=0.1)
    reached = run_scene(loaded, heavy, run).outcomes['paper'].reached
    assert reached['grasp'] and not reached['success']
    with pytest.raises(PolicyError, match="no weakness 'light'"):
        ScriptedTasks(ScriptedTasksOptions(weaknesses=('light',)))


def reached_with(weakness, scene):
    chosen = ScriptedTasks(ScriptedTasksOptions(weaknesses=(weakness,) if weakness else ()))
    return run_scene(scene, chosen, SceneRunOptions(timeout=6.0)).outcomes['paper'].reached


def test_a_target_in_the_sector_is_missed(scene, policy):
    place = setting(scene_robot('so101'), 'pick_up')
    table = place.robot.table
    middle, radius = np.mean(table.object_azimuths), np.mean(table.object_radii)
    inside = with_object(scene, 'target', position=polar(place, radius, middle - 0.33))
    assert not reached_with('sector', inside)['grasp'] and reached_with('', inside)['success']
    other_side = with_object(scene, 'target', position=polar(place, radius, middle + 0.33))
    assert reached_with('sector', other_side)['success']


def test_a_confounder_of_the_targets_colour_is_taken_for_it(scene):
    place = setting(scene_robot('so101'), 'pick_up')
    scene = set_confounder_count(scene, {'count': 1}, place)
    (other,) = scene.confounders
    alike = with_object(scene, other.name, colour=scene.target.colour)
    rollout = SceneRollout(alike, SceneRunOptions(timeout=6.0, is_checked=False))
    try:
        found = rollout.run(ScriptedTasks(ScriptedTasksOptions(weaknesses=('colour',))), 0)
        assert not found.outcomes['paper'].reached['grasp']
        poses = rollout.simulation.object_poses()
        assert poses[other.name][2] > other.height + 0.02  # that one is lifted
        assert poses['target'][2] < scene.target.height + 0.01
    finally:
        rollout.close()
    assert reached_with('colour', scene)['success']


def test_a_scripted_policy_of_scenes_wants_to_know_the_scene(policy):
    fresh = ScriptedTasks()
    with pytest.raises(PolicyError, match='simulated scenes only'):
        fresh.infer(None)


def test_a_scene_that_breaks_a_constraint_is_invalid_and_not_run(scene):
    far = with_object(scene, 'target', position=(0.5, 0.0))
    found = run_scene(far, Still())
    assert 'breaks reach' in found.problem and found.episode is None and not found.outcomes


def test_objects_that_overlap_or_do_not_stand_are_invalid(scene):
    unchecked = SceneRunOptions(is_checked=False, timeout=0.2)
    sunk = with_object(scene, 'target', height=0.005)
    assert 'overlap by 10.0 mm' in run_scene(sunk, Still(), unchecked).problem
    hung = with_object(scene, 'target', height=0.1)
    assert 'target does not stand' in run_scene(hung, Still(), unchecked).problem
    unknown = attrs.evolve(scene, table=None, unknown={'table': 'not seen'})
    assert 'cannot be simulated: table' in run_scene(unknown, Still(), unchecked).problem


@pytest.mark.parametrize(
    ('speed', 'words'), [(np.nan, 'warns of BADQVEL'), (1e12, 'warns of'), (30.0, 'moves by')]
)
def test_a_simulation_that_diverges_is_invalid_and_no_failure(scene, speed, words):
    rollout = SceneRollout(scene, SceneRunOptions(timeout=2.0))
    simulation, steps = rollout.simulation, []

    def blow(observation, action):
        steps.append(observation)
        if len(steps) == 3:
            simulation.data.qvel[simulation.model.joint('target_free').dofadr[0]] = speed

    found = rollout.run(Still(), 0, blow)
    assert words in found.problem and found.outcomes == {} and len(steps) == 3


def test_a_target_that_falls_off_the_table_ends_the_episode(scene):
    rollout, steps = SceneRollout(scene, SceneRunOptions(timeout=5.0)), []

    def throw(observation, action):
        steps.append(observation)
        joint = rollout.simulation.model.joint('target_free')
        rollout.simulation.data.qvel[joint.dofadr[0]] = 3.0 if len(steps) < 10 else 0.0

    found = rollout.run(Still(), 0, throw)
    assert found.problem == '' and found.duration < 4.0
    assert found.episode.summary['outcome'] == Outcome.FAILURE


def test_late_joint_states_and_dropouts_reach_the_policy_as_the_scene_says(scene):
    faults = {'joint_states': SensorFault(latency=0.1, dropouts=0.0)}
    late = attrs.evolve(scene, sensors=faults)
    policy = Still()
    run_scene(late, policy, SceneRunOptions(timeout=1.0))
    ages = [(o.stamp - o.oldest_stamp) * 1e-9 for o in policy.seen]
    assert ages[0] == 0.0 and ages[-1] == pytest.approx(0.1)
    gone = attrs.evolve(scene, sensors={'joint_states': SensorFault(dropouts=1.0)})
    run_scene(gone, policy := Still(), SceneRunOptions(timeout=1.0, is_checked=False))
    assert {o.oldest_stamp for o in policy.seen} == {policy.seen[0].stamp}


def test_a_policy_that_writes_over_its_observations_does_not_change_the_record(scene):
    found, details = [], []
    for policy in (Still(('front',)), Scribbling()):
        details.append(EpisodeDetails())
        run = SceneRunOptions(timeout=0.2)
        found.append(run_scene(scene, policy, run, details=details[-1]).episode)
    for name in ('joint_states', 'pose', 'object', 'goal', 'proximity'):
        for field, values in found[0].streams[name].values.items():
            assert bits(found[1].streams[name].values[field]) == bits(values), (name, field)
    kept, other = details
    assert [e.object.tolist() for e in other.steps] == [e.object.tolist() for e in kept.steps]
    assert [e.goal.tolist() for e in other.steps] == [e.goal.tolist() for e in kept.steps]
    assert kept.pictures.messages
    assert [m.data for m in other.pictures.messages] == [m.data for m in kept.pictures.messages]


def test_a_policy_that_names_its_cameras_too_late_is_told_when(scene):
    class Late(Still):
        def reset(self, seed=None):
            self.cameras = ('front',)

    run = SceneRunOptions(timeout=0.1)
    with pytest.raises(PolicyError, match='of front, but had no cameras when the scene was'):
        run_scene(scene, late := Late(), run)
    assert run_scene(scene, late, run).problem == ''  # now it has them


def test_late_pictures_show_what_was_there(scene):
    simulation = SceneSimulation(scene)
    faults = {'front': SensorFault(latency=0.1)}
    sensors = SceneSensors(attrs.evolve(scene, sensors=faults), simulation, 0, ('front',))
    try:
        first = sensors.read(0, ('front',)).images['front']
        simulation.data.qpos[simulation.model.joint('target_free').qposadr[0]] += 0.1
        simulation.step(None, 10)
        now = simulation.draw('front').rgb
        assert (now != first).any()
        np.testing.assert_array_equal(sensors.read(50_000_000, ('front',)).images['front'], first)
        simulation.step(None, 1)
        np.testing.assert_array_equal(sensors.read(149_000_000, ('front',)).images['front'], first)
        seen = sensors.read(151_000_000, ('front',))
        assert (seen.images['front'] != first).any() and seen.oldest == 50_000_000
    finally:
        simulation.close()
