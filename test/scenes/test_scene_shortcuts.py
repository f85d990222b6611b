# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Shortcuts of trials of scenes, against the long way round."""

import numpy as np
import pytest

pytest.importorskip('mujoco')

import mujoco

from frame_ros.core.errors import ValueRangeError
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.simulation.contacts import pressing
from frame_ros.scenes.simulation.scene_model import _leave_out_looks
from frame_ros.scenes.simulation.scene_simulation import SceneSimulation


def moving(simulation, steps=25, seed=0):
    """The arm goes about and down, among things and onto the table."""
    rng = np.random.default_rng(seed)
    aim = simulation.targets.copy()
    for _ in range(steps):
        aim = aim + rng.normal(0.0, 0.15, len(aim))
        simulation.step(aim, 15)
        yield simulation


@pytest.fixture(scope='module', params=['so101', 'fr3'])
def scene(request):
    return generate('put_in', request.param, 1, 3).scenes[0]


def test_a_scene_that_is_not_drawn_moves_and_touches_the_same_to_the_bit(scene):
    drawn, other = SceneSimulation(scene), SceneSimulation(scene, is_drawn=False)
    assert other.model.ngeom < drawn.model.ngeom
    for one, same in zip(moving(drawn), moving(other), strict=True):
        assert np.array_equal(one.data.qpos, same.data.qpos)
        assert np.array_equal(one.data.qvel, same.data.qvel)
        assert np.array_equal(one.joint_state().efforts, same.joint_state().efforts)
        assert [c.force for c in one.contacts()] == [c.force for c in same.contacts()]
    with pytest.raises(ValueRangeError, match='is_drawn'):
        other.draw('front')


def test_a_body_that_weighs_by_its_looks_keeps_them():
    text = """<mujoco><worldbody><geom size="1 1 .1" type="plane" contype="0" conaffinity="0"/>
    <body name="a"><freejoint/><geom size=".1" contype="0" conaffinity="0"/><geom size=".2"/>
      <geom size=".1" contype="0" conaffinity="0" mass="0"/></body>
    <body name="b"><freejoint/><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>
      <geom size=".1" contype="0" conaffinity="0"/><geom size=".2"/></body>
    </worldbody></mujoco>"""
    spec = mujoco.MjSpec.from_string(text)
    whole = mujoco.MjSpec.from_string(text).compile()
    _leave_out_looks(spec)
    model = spec.compile()
    assert model.body_geomnum.tolist() == [0, 2, 1]
    assert np.array_equal(model.body_mass[1:], whole.body_mass[1:])


def test_distances_computed_at_the_end_are_those_of_each_step(scene):
    simulation = SceneSimulation(scene)
    places, truth = [], []
    for _ in moving(simulation, 40):
        places.append(simulation.places())
        truth.append(simulation.distance().distance)
    found = simulation.least_distances(places)
    assert found == pytest.approx(truth, abs=1e-9)
    assert len(set(np.round(truth, 4))) > 10
    assert simulation.least_distances([]).shape == (0,)


@pytest.mark.parametrize('cone', [mujoco.mjtCone.mjCONE_ELLIPTIC, mujoco.mjtCone.mjCONE_PYRAMIDAL])
def test_normal_forces_are_those_of_mujoco(scene, cone):
    simulation, force, pressed = SceneSimulation(scene), np.zeros(6), 0
    simulation.model.opt.cone = cone
    for _ in moving(simulation, 12):
        found = pressing(simulation.model, simulation.data)
        assert len(found) == simulation.data.ncon
        for index, (bodies, normal) in enumerate(found):
            mujoco.mj_contactForce(simulation.model, simulation.data, index, force)
            assert normal == pytest.approx(force[0], abs=1e-12)
            geoms = simulation.data.contact[index].geom
            assert bodies == simulation.model.geom_bodyid[geoms].tolist()
            pressed += normal > 0
    assert pressed > 10
