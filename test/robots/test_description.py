# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The URDF files: physical, without meshes, loadable by others; and what a broken URDF is told."""

from xml.etree import ElementTree

import numpy as np
import pytest
from turning_arm import kinova

from frame_ros.core.errors import RobotError
from frame_ros.robots import ROBOT_NAMES, find_urdf, load_robot
from frame_ros.robots.description import parse_urdf
from frame_ros.robots.link_frames import LinkFrames


@pytest.mark.parametrize('name', ROBOT_NAMES)
def test_inertias_are_those_of_real_bodies(name):
    inertials = ElementTree.parse(find_urdf(name)).getroot().findall('link/inertial')
    assert len(inertials) >= 7
    for inertial in inertials:
        tensor = inertial.find('inertia')
        xx, xy, xz, yy, yz, zz = (
            float(tensor.get(k)) for k in ('ixx', 'ixy', 'ixz', 'iyy', 'iyz', 'izz')
        )
        moments = np.linalg.eigvalsh([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        assert float(inertial.find('mass').get('value')) > 0
        assert moments[0] > 0
        assert moments[0] + moments[1] >= moments[2]


@pytest.mark.parametrize('name', ROBOT_NAMES)
def test_every_shape_is_a_primitive_with_a_known_material(name):
    root = ElementTree.parse(find_urdf(name)).getroot()
    shapes = [shape.tag for shape in root.findall('link/*/geometry/*')]
    assert len(shapes) > 20
    assert set(shapes) <= {'box', 'cylinder', 'sphere'}
    materials = {material.get('name') for material in root.findall('material')}
    assert {m.get('name') for m in root.findall('link/visual/material')} <= materials


@pytest.mark.parametrize('name', ROBOT_NAMES)
def test_mujoco_loads_the_file_and_its_masses(name):
    mujoco = pytest.importorskip('mujoco')
    model = mujoco.MjModel.from_xml_path(str(find_urdf(name)))
    robot = load_robot(name)
    assert {model.joint(i).name for i in range(model.njnt)} == set(robot.all_joint_names)
    assert {model.body(i).name for i in range(1, model.nbody)} == set(robot.links)
    links = ElementTree.parse(find_urdf(name)).getroot().findall('link')
    masses = {
        link.get('name'): float(link.find('inertial/mass').get('value'))
        for link in links
        if link.find('inertial/mass') is not None
    }
    assert len(masses) > 6
    for link, mass in masses.items():
        assert model.body(link).mass[0] == pytest.approx(mass)
    assert (model.geom_contype == 0).sum() > 10, 'visual shapes are kept, and do not collide'


@pytest.mark.parametrize('name', ROBOT_NAMES)
def test_the_root_has_no_inertia_which_kdl_would_drop_with_a_warning(name):
    robot = load_robot(name)
    links = {link.get('name'): link for link in ElementTree.fromstring(robot.urdf).findall('link')}
    assert links[robot.base_link].find('inertial') is None
    carried = links[f'{robot.base_link}_inertia']
    assert float(carried.find('inertial/mass').get('value')) > 0.0
    assert robot.parent_of(carried.get('name')) == robot.base_link
    assert not list(carried.iterfind('collision'))


@pytest.mark.parametrize('name', ROBOT_NAMES)
def test_pinocchio_reads_the_file_and_puts_the_tip_at_the_same_place(name):
    pinocchio = pytest.importorskip('pinocchio')
    model = pinocchio.buildModelFromUrdf(str(find_urdf(name)))
    data, robot = model.createData(), load_robot(name)
    assert set(model.names) - {'universe'} == set(robot.all_joint_names)
    q = pinocchio.randomConfiguration(model)
    pinocchio.framesForwardKinematics(model, data, q)
    mine = robot.forward(
        [q[model.joints[model.getJointId(joint)].idx_q] for joint in robot.joint_names]
    )[0]
    np.testing.assert_allclose(
        data.oMf[model.getFrameId(robot.tip_link)].translation, mine, atol=1e-12
    )


def test_so101_fingers_close_on_a_cube_and_on_each_other():
    mujoco = pytest.importorskip('mujoco')
    model = mujoco.MjModel.from_xml_path(str(find_urdf('so101')))
    data = mujoco.MjData(model)
    lower, upper = model.joint('gripper').range

    def gap(angle):
        data.joint('gripper').qpos[0] = angle
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        fingers = [_last_box(model, body) for body in ('gripper_link', 'moving_jaw_so101_v1_link')]
        return mujoco.mj_geomDistance(model, data, *fingers, 1.0, None)

    assert 0 < gap(lower) < 0.003
    assert 0.025 < gap(0.14) < 0.029
    assert gap(upper) > 0.06


def _last_box(model, body):
    colliding = [
        g
        for g in range(model.ngeom)
        if model.geom_bodyid[g] == model.body(body).id and model.geom_contype[g]
    ]
    return colliding[-1]


@pytest.mark.parametrize('name', ROBOT_NAMES)
def test_no_link_touches_another_at_rest(name):
    mujoco = pytest.importorskip('mujoco')
    model = mujoco.MjModel.from_xml_path(str(find_urdf(name)))
    data = mujoco.MjData(model)
    rest = {'so101': [0.0] * 6}.get(name, [0, -0.785, 0, -2.356, 0, 1.571, 0.785, 0.02, 0.02])
    for turn in np.linspace(-1.9, 1.9, 9):
        data.qpos[:] = rest
        data.qpos[0] = turn
        mujoco.mj_forward(model, data)
        assert data.ncon == 0


@pytest.mark.parametrize('name', ROBOT_NAMES)
def test_capsules_hold_their_primitives(name):
    robot = load_robot(name)
    generator = np.random.default_rng(0)
    for link, shapes in robot.collision_geometry.items():
        for shape, capsule in zip(shapes, robot.link_capsules[link], strict=True):
            points = _points_in(shape, generator) @ shape.rotation.T + shape.translation
            along = capsule.end - capsule.start
            length = along @ along
            t = (
                np.clip((points - capsule.start) @ along / length, 0, 1)
                if length
                else np.zeros(len(points))
            )
            away = np.linalg.norm(points - capsule.start - t[:, None] * along, axis=1)
            assert away.max() <= capsule.radius + 1e-12
            assert away.max() > 0.9 * capsule.radius


def _points_in(shape, generator):
    unit = generator.normal(size=(500, 3))
    if shape.kind == 'box':
        return np.sign(unit) * np.array(shape.size) / 2
    if shape.kind == 'sphere':
        return unit / np.linalg.norm(unit, axis=1, keepdims=True) * shape.size[0]
    radius, length = shape.size
    unit[:, :2] *= radius / np.linalg.norm(unit[:, :2], axis=1, keepdims=True)
    unit[:, 2] = np.sign(unit[:, 2]) * length / 2
    return unit


LINKS = '<link name="a"/><link name="b"/>'
JOINT = '<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{}</joint>'
SECOND = JOINT.format('').replace('"b"', '"c"')


def limited(limits):
    return f'<robot name="r">{LINKS}{JOINT.format(f"<limit {limits}/>")}</robot>'


def followed(joint, more=''):
    return f'<robot name="r">{LINKS}{JOINT.format(f"<mimic joint={joint!r}/>")}{more}</robot>'


# A joint k that follows j, and one that is fixed.
RING = '<link name="c"/>' + (
    JOINT.format('<mimic joint="j"/>').replace('"j" type', '"k" type').replace('"b"', '"c"')
)
FIXED = '<link name="c"/>' + SECOND.replace('"j"', '"k"').replace('revolute', 'fixed')


@pytest.mark.parametrize(
    ('text', 'match'),
    [
        ('<robot', 'not well-formed'),
        ('<sdf/>', '<sdf>'),
        ('<robot name="r"/>', 'one base link'),
        (f'<robot name="r">{LINKS}</robot>', 'has 2'),
        (f'<robot name="r"><link name="a"/>{JOINT.format("")}</robot>', "names the link 'b'"),
        (f'<robot name="r">{LINKS}<link name="a"/>{JOINT.format("")}</robot>', 'same name'),
        (
            f'<robot name="r">{LINKS}{JOINT.format("")}{JOINT.format("")}</robot>',
            'more than one joint',
        ),
        (
            f'<robot name="r">{LINKS}{JOINT.format("").replace("revolute", "floating")}</robot>',
            'floating',
        ),
        (
            f"<robot name='r'>{LINKS}{JOINT.format('<axis xyz=' + repr('0 0 0') + '/>')}</robot>",
            'axis of length 0',
        ),
        (
            f"<robot name='r'>{LINKS}{JOINT.format('<origin xyz=' + repr('0 x 0') + '/>')}</robot>",
            'three numbers',
        ),
        (
            f"<robot name='r'>{LINKS}{JOINT.format('<limit lower=' + repr('low') + '/>')}</robot>",
            'not a number',
        ),
        (
            f'<robot name="r">{LINKS}<link name="c"/>{JOINT.format("")}{SECOND}</robot>',
            'same name: j',
        ),
        (limited('lower="1" upper="-1"'), "'j' has the limits lower=1, upper=-1"),
        (limited('velocity="-1"'), 'velocity and effort 0 or more'),
        (limited('effort="-1"'), 'velocity and effort 0 or more'),
        (followed('k'), "'j' follows .mimic. 'k', which is not described"),
        (followed('j'), "'j' follows .mimic. 'j', which does not move by itself"),
        (followed('k', FIXED), "'j' follows .mimic. 'k', which does not move by itself"),
        (followed('k', RING), "'j' follows .mimic. 'j', which does not move by itself"),
        (
            '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:include/></robot>',
            'through xacro',
        ),
    ],
)
def test_broken_descriptions_are_refused_with_the_reason(text, match):
    with pytest.raises(RobotError, match=match):
        parse_urdf(text)


def test_a_joint_that_follows_one_that_follows_another_moves_with_the_last():
    joints = ''.join(
        f'<link name="{child}"/><joint name="{name}" type="{kind}"><parent link="base"/>'
        f'<child link="{child}"/><axis xyz="0 0 1"/>{mimic}</joint>'
        for name, child, kind, mimic in (
            ('tip', 'c', 'prismatic', '<mimic joint="middle" multiplier="3" offset="0.1"/>'),
            ('middle', 'b', 'prismatic', '<mimic joint="first" multiplier="-2" offset="0.5"/>'),
            ('first', 'a', 'prismatic', ''),
        )
    )
    robot = load_robot(f'<robot name="r"><link name="base"/>{joints}</robot>')
    assert robot.mimics['tip'] == ('first', -6.0, pytest.approx(1.6))
    for poses in (robot.link_poses({'first': 0.2}), dict(zip(robot.links, frames(robot, 0.2)))):
        assert [poses[link][0][2] for link in 'abc'] == pytest.approx([0.2, 0.1, 0.4])


def frames(robot, position):
    """The places of a robot's links in its base, of one joint that is commanded."""
    rotations, translations = LinkFrames(robot).compute([position])
    return zip(translations, rotations)


@pytest.mark.parametrize('inner', ['<mimic joint="k"/>', '<limit velocity="-1" effort="-1"/>'])
def test_what_an_option_left_at_a_fixed_joint_counts_for_nothing(inner):
    fixed = JOINT.format(inner).replace('revolute', 'fixed')
    (joint,) = parse_urdf(f'<robot name="r">{LINKS}{fixed}</robot>').joints
    assert joint.mimic is None and joint.upper == np.inf


def test_limits_of_a_joint_that_follows_another_may_be_swapped():
    """As those of the right finger of Dobot's Magician."""
    leader = '<link name="c"/>' + SECOND.replace('"j"', '"k"')
    finger = JOINT.format('<limit lower="0" upper="-0.0135"/><mimic joint="k" multiplier="-1"/>')
    description = parse_urdf(f'<robot name="r">{LINKS}{finger}{leader}</robot>')
    assert list(description.joint_limits) == ['k']


def test_a_file_that_is_no_text_is_refused(tmp_path):
    path = tmp_path / 'robot.urdf'
    path.write_bytes(b'\xff\xfe\x00')
    with pytest.raises(RobotError, match='not a text file'):
        load_robot(path)


def test_robots_of_one_description_share_nothing_that_can_be_changed():
    first, second = load_robot('so101'), load_robot('so101')
    link = next(link for link, shapes in first.collision_geometry.items() if shapes)
    kept = len(second.collision_geometry[link])
    first.collision_geometry[link] = ()
    assert len(load_robot('so101').collision_geometry[link]) == kept > 0
    with pytest.raises(ValueError, match='read-only'):
        second.description.joints[0].translation[0] = 1.0


def test_joints_that_turn_without_end_are_those_of_this_type_whatever_their_limits():
    arm = """<robot name="r"><link name="base"/>""" + ''.join(
        f"""<link name="l{i}"/><joint name="j{i}" type="{kind}"><parent link="{parent}"/>
        <child link="l{i}"/>{limit}</joint>"""
        for i, (kind, parent, limit) in enumerate((
            ('continuous', 'base', '<limit lower="-6.28" upper="6.28" effort="1" velocity="1"/>'),
            ('revolute', 'l0', '<limit lower="-6.28" upper="6.28" effort="1" velocity="1"/>'),
            ('fixed', 'l1', ''),
            ('prismatic', 'l2', '<limit lower="-9" upper="9" effort="1" velocity="1"/>'),
            ('continuous', 'l3', ''),
        ))
    ) + '</robot>'  # fmt: skip
    assert parse_urdf(arm).continuous == ('j0', 'j4')
    assert load_robot(arm, 'l4').continuous == ('j0', 'j4')


@pytest.mark.parametrize('name', ROBOT_NAMES)
def test_no_packaged_robot_turns_without_end(name):
    assert load_robot(name).continuous == ()


def test_a_published_arm_has_the_joints_that_its_maker_built_so():
    assert load_robot(kinova()).continuous == tuple(f'j2s6s200_joint_{i}' for i in (1, 4, 6))
