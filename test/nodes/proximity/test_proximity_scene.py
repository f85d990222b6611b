# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The planning scene's objects as the proximity node's obstacles."""

import numpy as np
import pytest

pytest.importorskip('rclpy')

from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from scipy.spatial.transform import Rotation

from frame_ros.robots import load_robot
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.robots.shapes.link_shapes import link_shapes
from frame_ros.sensing.proximity.obstacles.known import KnownObstacles
from frame_ros.sensing.proximity.obstacles.planning_scene import SceneObstacles

# The definitions are those of moveit_msgs 2.6 and object_recognition_msgs 2.0,
# with comments and what is not used left out.

DEFINITIONS = {
    'object_recognition_msgs/msg/ObjectType': 'string key\nstring db',
    'moveit_msgs/msg/CollisionObject': """
std_msgs/Header header
geometry_msgs/Pose pose
string id
object_recognition_msgs/ObjectType type
shape_msgs/SolidPrimitive[] primitives
geometry_msgs/Pose[] primitive_poses
shape_msgs/Mesh[] meshes
geometry_msgs/Pose[] mesh_poses
shape_msgs/Plane[] planes
geometry_msgs/Pose[] plane_poses
string[] subframe_names
geometry_msgs/Pose[] subframe_poses
byte ADD=0
byte REMOVE=1
byte APPEND=2
byte MOVE=3
byte operation
""",
    'moveit_msgs/msg/AttachedCollisionObject': """
string link_name
moveit_msgs/CollisionObject object
string[] touch_links
float64 weight
""",
    'moveit_msgs/msg/RobotState': """
sensor_msgs/JointState joint_state
moveit_msgs/AttachedCollisionObject[] attached_collision_objects
bool is_diff
""",
    'moveit_msgs/msg/PlanningSceneWorld': 'moveit_msgs/CollisionObject[] collision_objects',
    'moveit_msgs/msg/PlanningScene': """
string name
moveit_msgs/RobotState robot_state
string robot_model_name
moveit_msgs/PlanningSceneWorld world
bool is_diff
""",
}
STORE = get_typestore(Stores.ROS2_JAZZY)
STORE.register(
    {k: v for name, text in DEFINITIONS.items() for k, v in get_types_from_msg(text, name).items()}
)
T = STORE.types
ADD, REMOVE, APPEND, MOVE = range(4)


def pose(x=0.0, y=0.0, z=0.0, w=1.0, yaw=0.0):
    turn = Rotation.from_euler('z', yaw).as_quat() * w
    return T['geometry_msgs/msg/Pose'](
        T['geometry_msgs/msg/Point'](x, y, z), T['geometry_msgs/msg/Quaternion'](*turn)
    )


def primitive(kind, *dimensions):
    polygon = T['geometry_msgs/msg/Polygon'](points=[])
    return T['shape_msgs/msg/SolidPrimitive'](kind, np.array(dimensions), polygon)


def mesh(vertices, triangles):
    return T['shape_msgs/msg/Mesh'](
        [T['shape_msgs/msg/MeshTriangle'](np.array(row, np.uint32)) for row in triangles],
        [T['geometry_msgs/msg/Point'](*map(float, row)) for row in vertices],
    )


def thing(name, *shapes, operation=ADD, frame='base_link', at=None, poses=None, meshes=()):
    stamp = T['builtin_interfaces/msg/Time'](0, 0)
    shape_poses = poses if poses is not None else [pose()] * len(shapes)
    return T['moveit_msgs/msg/CollisionObject'](
        T['std_msgs/msg/Header'](stamp, frame), at or pose(), name,
        T['object_recognition_msgs/msg/ObjectType']('', ''), list(shapes), list(shape_poses),
        list(meshes), [pose()] * len(meshes), [], [], [], [], operation,
    )  # fmt: skip


def scene(*objects, attached=(), is_diff=True):
    state = T['sensor_msgs/msg/JointState'](
        thing('').header, [], np.array([]), np.array([]), np.array([])
    )
    held = [
        T['moveit_msgs/msg/AttachedCollisionObject']('hand', each, [], 0.0) for each in attached
    ]
    return T['moveit_msgs/msg/PlanningScene'](
        '', T['moveit_msgs/msg/RobotState'](state, held, True), '',
        T['moveit_msgs/msg/PlanningSceneWorld'](list(objects)), is_diff,
    )  # fmt: skip


@pytest.fixture()
def world():
    """Obstacles, what keeps them, and the frames that are known."""
    frames = {'base_link': (np.eye(3), np.zeros(3))}
    known = KnownObstacles()
    return (
        known,
        SceneObstacles(known, lambda f: frames.get(f, f'no frame {f}'), ('ghost',)),
        frames,
    )


def places(known):
    return {o.name: o.translation.round(9).tolist() for o in known.obstacles}


def test_objects_are_added_moved_and_removed(world):
    known, objects, _ = world
    box, can = primitive(1, 0.1, 0.2, 0.3), primitive(3, 0.5, 0.05)
    objects.take_object(thing('desk', box, at=pose(1.0, yaw=np.pi / 2), poses=[pose(0.5)]))
    objects.take_object(thing('desk', can, operation=APPEND, at=pose(2.0), poses=[pose()]))
    assert places(known) == {'desk': [1.0, 0.5, 0.0], 'desk (2)': [2.0, 0.0, 0.0]}
    assert [(o.kind, o.size) for o in known.obstacles] == [
        ('box', (0.1, 0.2, 0.3)), ('cylinder', (0.05, 0.5))
    ]  # fmt: skip
    assert [objects.object_of(o.name) for o in known.obstacles] == ['desk', 'desk']
    objects.take_object(thing('desk', operation=MOVE, at=pose(0.0, 3.0, yaw=np.pi / 2)))
    assert places(known) == {'desk': [0.0, 3.5, 0.0], 'desk (2)': [1.0, 3.0, 0.0]}
    moved = [pose(0.1), pose(0.2)]
    objects.take_object(thing('desk', operation=MOVE, at=pose(), poses=moved))
    assert places(known) == {'desk': [0.1, 0.0, 0.0], 'desk (2)': [0.2, 0.0, 0.0]}
    objects.take_object(thing('desk', operation=REMOVE))
    assert not known.obstacles and not objects.problems


def test_rclpy_gives_an_operation_as_bytes(world):
    known, objects, _ = world
    for operation, count in ((b'\x00', 1), (b'\x01', 0)):
        objects.take_object(thing('a', primitive(2, 0.1), operation=operation))
        assert len(known) == count


def test_a_quaternion_that_nobody_has_set_does_not_turn(world):
    known, objects, _ = world
    objects.take_object(thing('a', primitive(2, 0.1), at=pose(1.0, w=0.0), poses=[pose(w=0.0)]))
    assert places(known) == {'a': [1.0, 0.0, 0.0]}


def test_meshes_and_cones(world):
    known, objects, _ = world
    corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    objects.take_object(thing('wedge', meshes=[mesh(corners, faces)], at=pose(z=5.0)))
    objects.take_object(thing('cone', primitive(4, 0.4, 0.3), at=pose(0.0, 0.0, 0.6)))
    assert [o.kind for o in known.obstacles] == ['mesh', 'mesh']
    robot = load_robot('so101')
    shapes = link_shapes(robot).place(*LinkFrames(robot).compute(np.zeros(6)))
    reading = known.distances(shapes)
    assert set(reading.obstacles) == {'cone'}
    # The cone's base, a disc of 0.3 m at z = 0.4, is above the arm.
    row = reading.nearest
    assert reading.points_on_obstacle[row, 2] == pytest.approx(0.4, abs=1e-6)


def test_a_scene_replaces_all_and_a_difference_does_not(world):
    known, objects, _ = world
    known.set_shape('of a file', 'sphere', (0.1,))
    ball = primitive(2, 0.1)
    objects.take_scene(scene(thing('a', ball), thing('b', ball), is_diff=False))
    objects.take_scene(scene(thing('c', ball), thing('a', operation=REMOVE)))
    assert set(places(known)) == {'of a file', 'b', 'c'}
    objects.take_scene(scene(thing('d', ball), thing('ghost', ball), is_diff=False))
    assert set(places(known)) == {'of a file', 'd'}
    objects.take_object(thing('', operation=REMOVE))
    assert set(places(known)) == {'of a file'}


def test_objects_of_like_names_are_not_confused(world):
    known, objects, _ = world
    known.set_shape('desk', 'sphere', (0.1,))
    ball = primitive(2, 0.1)
    objects.take_object(thing('desk', ball, ball, at=pose(1.0)))
    objects.take_object(thing('desk (2)', ball, at=pose(2.0)))
    assert len(known) == 4
    assert sorted(objects.object_of(o.name) for o in known.obstacles) == ['desk'] * 3 + ['desk (2)']
    objects.take_object(thing('desk', operation=REMOVE))
    objects.take_object(thing('desk (2)', operation=REMOVE))
    assert places(known) == {'desk': [0.0, 0.0, 0.0]}  # that of the file


def test_what_the_robot_holds_is_no_obstacle(world):
    known, objects, _ = world
    objects.take_object(thing('cup', primitive(2, 0.1), at=pose(1.0)))
    objects.take_scene(scene(attached=[thing('cup')]))
    assert not known.obstacles
    objects.take_scene(scene(attached=[thing('cup', operation=REMOVE)]))
    assert places(known) == {'cup': [1.0, 0.0, 0.0]}
    objects.take_scene(scene(attached=[thing('cup')]))
    objects.take_object(thing('cup', primitive(2, 0.1), at=pose(2.0)))
    assert places(known) == {'cup': [2.0, 0.0, 0.0]}


def test_a_frame_may_become_known_later(world):
    known, objects, frames = world
    objects.take_object(thing('a', primitive(2, 0.1), at=pose(1.0), frame='map'))
    assert objects.problems == {'a': "object 'a': no frame map"} and not known.obstacles
    frames['map'] = (np.eye(3), np.array([0.0, 2.0, 0.0]))
    objects.retry()
    assert places(known) == {'a': [1.0, 2.0, 0.0]} and not objects.problems
    frames['map'] = (np.eye(3), np.array([9.0, 9.0, 9.0]))
    objects.retry()
    assert places(known) == {'a': [1.0, 2.0, 0.0]}  # it stays where it was put


@pytest.mark.parametrize(
    ('message', 'said'),
    [
        (thing('a'), 'no shape'),
        (thing('a', primitive(5, 0.1, 0.1)), 'type 5'),
        (thing('a', primitive(1, 0.1)), 'dimensions'),
        (thing('a', primitive(1, 0.1, 0.1, -0.1)), 'box'),
        (thing('a', primitive(2, 0.1), poses=[]), '1 primitives'),
        (thing('a', primitive(2, 0.1), at=pose(float('nan'))), 'nan'),
        (thing('a', primitive(2, 0.1), at=pose(w=0.5)), 'quaternion'),
        (thing('a', operation=MOVE), 'never added'),
        (thing('a', primitive(2, 0.1), operation=7), 'operation is 7'),
    ],
)
def test_an_object_that_is_not_understood_is_said_until_it_is_gone(world, message, said):
    known, objects, _ = world
    objects.take_object(message)
    assert said in objects.problems['a'] and not known.obstacles
    objects.take_object(thing('a', operation=REMOVE))
    assert not objects.problems


def test_without_moveit_a_planning_scene_cannot_be_had(ros_context):
    import importlib.util

    from frame_ros.core.errors import MissingExtraError
    from frame_ros.nodes.proximity.obstacles import _subscribe
    from frame_ros.nodes.proximity.topics import SCENES

    node, scene = ros_context.create_node('taker'), SCENES.at('planning_scene')
    if importlib.util.find_spec('moveit_msgs') is not None:
        assert _subscribe(node, scene, print).topic_name == '/planning_scene'
        return
    with pytest.raises(MissingExtraError, match='obstacles.file'):
        _subscribe(node, scene, print)
