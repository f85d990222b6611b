# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Markers of contact, proximity, cameras and known obstacles."""

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Point, Vector3
from markers_bench import Bench, contact, pose, rgb
from sensor_msgs.msg import PointCloud2, PointField
from std_msgs.msg import Header
from visualization_msgs.msg import Marker

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.msg import CameraAlignment, ContactEvent, ContactState, Proximity
from frame_ros.nodes.markers.contact import event_text
from frame_ros.nodes.markers.plain_markers import EXPECTED, UNEXPECTED, UNKNOWN, WARNING
from frame_ros.nodes.markers.proximity import cloud_marker
from frame_ros.robots import load_robot
from frame_ros.robots.shapes.filter_shapes import filter_shapes
from frame_ros.robots.shapes.link_shapes import link_shapes

NAN = math.nan
NOWHERE = Point(x=NAN, y=NAN, z=NAN)
RED, GREEN = (0.85, 0.15, 0.15), (0.15, 0.70, 0.30)


@pytest.fixture()
def bench(ros_context):
    bench = Bench(ros_context)
    yield bench
    bench.close()


def of(drawn, space):
    return [marker for (name, _), marker in drawn.items() if name == space]


def proximity(**links):
    message = Proximity(distance=NAN, point_on_robot=NOWHERE, point_on_obstacle=NOWHERE)
    message.header.frame_id = 'base_link'
    message.link_names, message.link_distances = list(links), list(links.values())
    return message


def test_every_watched_link_is_drawn_in_its_frame_in_the_colour_of_its_distance(ros_context):
    bench = Bench(ros_context, 'shapes:=urdf')
    drawn = bench.draw(proximity(gripper_link=0.01, upper_arm_link=0.5, wrist_link=NAN, other=0.1))
    bench.close()
    by_link = {}
    for marker in of(drawn, 'links'):
        by_link.setdefault(marker.header.frame_id, []).append(marker)
    shapes = link_shapes(load_robot('so101'), ('gripper_link', 'upper_arm_link', 'wrist_link'))
    watched = [shape for shape, row in zip(shapes.shapes, shapes.owners) if row >= 0]
    assert sum(map(len, by_link.values())) == len(watched)
    for link, colour in (('gripper_link', RED), ('upper_arm_link', GREEN)):
        assert all(rgb(marker.color) == colour for marker in by_link[link])
    assert rgb(by_link['wrist_link'][0].color) == (UNKNOWN.r, UNKNOWN.g, UNKNOWN.b)
    first = by_link['gripper_link'][0]
    shape = next(s for s, row in zip(shapes.shapes, shapes.owners) if row == 0)
    assert (first.type, first.frame_locked, first.color.a) == (Marker.CUBE, True, 0.35)
    assert (first.header.stamp.sec, first.header.stamp.nanosec) == (0, 0)
    assert (first.scale.x, first.scale.z) == pytest.approx(2 * shape.half_sizes[[0, 2]])
    assert first.pose.position.z == pytest.approx(shape.translation[2])


def test_links_are_drawn_by_the_shapes_that_come_with_the_robot(bench):
    drawn = of(bench.draw(proximity(gripper_link=0.1)), 'links')
    shapes = filter_shapes(load_robot('so101'), links=('gripper_link',))
    own = [shape.kind for shape, row in zip(shapes.shapes, shapes.owners) if row == 0]
    assert len(drawn) == sum(3 if kind == 'capsule' else 1 for kind in own)
    assert any(kind.startswith('rounded') for kind in own)


def test_a_capsule_of_a_link_is_a_cylinder_and_two_spheres(ros_context):
    bench = Bench(ros_context, 'robot:=fr3', 'frame_prefix:=left_', 'shapes:=urdf')
    robot = load_robot('fr3')
    shapes = link_shapes(robot)
    link = next(
        robot.links[frame]
        for shape, frame in zip(shapes.shapes, shapes.frames)
        if shape.kind == 'capsule'
    )
    drawn = of(bench.draw(proximity(**{link: 0.1})), 'links')
    bench.close()
    row = robot.links.index(link)
    own = [shape for shape, frame in zip(shapes.shapes, shapes.frames) if frame == row]
    kinds = sorted(marker.type for marker in drawn)
    capsules = [shape for shape in own if shape.kind == 'capsule']
    assert kinds.count(Marker.SPHERE) == 2 * len(capsules) + sum(s.kind == 'sphere' for s in own)
    assert {marker.header.frame_id for marker in drawn} == {f'left_{link}'}
    tube = next(marker for marker in drawn if marker.type == Marker.CYLINDER)
    ends = [m for m in drawn if m.type == Marker.SPHERE and m.scale.x == tube.scale.x]
    centre = np.array([tube.pose.position.x, tube.pose.position.y, tube.pose.position.z])
    places = [(m.pose.position.x, m.pose.position.y, m.pose.position.z) for m in ends]
    apart = [np.linalg.norm(np.array(place) - centre) for place in places]
    assert sorted(apart)[:2] == pytest.approx([tube.scale.z / 2] * 2)


def residuals(**values):
    defaults = {
        'joint_names': ['a', 'b', 'c'],
        'joint_residuals': [0.5, -2.0, NAN],
        'joint_thresholds': [1.0, 1.0, 1.0],
        'is_stalled': [False, True, False],
    }
    return contact(**{**defaults, **values})


def test_residuals_are_bars_as_long_as_their_share_of_the_threshold(bench):
    bars = of(bench.draw(residuals()), 'residuals')
    columns = [marker for marker in bars if marker.type == Marker.CUBE]
    assert [column.scale.z for column in columns] == pytest.approx([0.06, 0.18, 0.001])
    feet = [column.pose.position.z - column.scale.z / 2 for column in columns]
    assert feet == pytest.approx([0.05] * 3)
    assert rgb(columns[0].color) == (0.95, 0.80, 0.15)
    assert rgb(columns[1].color) == RED
    assert rgb(columns[2].color) == (UNKNOWN.r, UNKNOWN.g, UNKNOWN.b)
    labels = [marker.text for marker in bars if marker.type == Marker.TEXT_VIEW_FACING]
    assert labels == ['a\n0.50 N m', 'b\n-2.00 N m\nstalled', 'c\n- N m']
    (line,) = [marker for marker in bars if marker.type == Marker.LINE_LIST]
    assert [point.z for point in line.points] == pytest.approx([0.05 + 0.12] * 6)
    assert of(bench.draw(residuals(joint_residuals=[])), 'residuals') == []


def test_what_is_not_available_is_told_with_its_reason(bench):
    told = contact(unavailable='the wrench is of an unknown frame', in_contact=True, force=1.0)
    drawn = bench.draw(told)
    assert list(drawn) == [('warnings', 0)]
    assert drawn['warnings', 0].text == 'contact unknown: the wrench is of an unknown frame'
    assert drawn['warnings', 0].header.frame_id == 'base_link'
    blind = proximity()
    blind.unavailable = 'no depth image'
    text = bench.draw(blind)['warnings', 0].text
    assert text.split('\n')[-1] == 'distance unknown: no depth image'
    bench.draw(contact())
    for _ in range(12):
        bench.node.take()
    assert bench.node.draw() == []


def test_links_that_no_source_feels_are_listed_and_warnings_too(bench):
    told = contact(
        belief_links=['base', 'arm', 'hand', 'base', 'arm', 'hand'],
        belief_states=[
            ContactState.BELIEF_NOT_COVERED, ContactState.BELIEF_NOT_COVERED, 0,
            ContactState.BELIEF_NOT_COVERED, ContactState.BELIEF_UNAVAILABLE, 0,
        ],
        warnings=['a payload'],
    )  # fmt: skip
    text = bench.draw(told)['warnings', 0].text
    assert text.split('\n') == ['contact: a payload', 'contact not felt on base']


def camera(name, **values):
    message = CameraAlignment(camera=name, **values)
    message.header.frame_id = f'{name}_optical'
    return message


def test_a_misaligned_camera_is_told_with_its_offset_until_it_is_aligned(bench):
    offset = Vector3(x=0.03, y=0.04), Vector3(z=math.radians(2.5))
    wrong = camera('front', translation=offset[0], rotation=offset[1])
    drawn = bench.draw(wrong)
    assert drawn['warnings', 0].text == 'camera front is misaligned by 50 mm and 2.5 degrees'
    assert drawn['warnings', 0].color == WARNING
    assert drawn['cameras', 0].header.frame_id == 'front_optical'
    assert drawn['cameras', 0].color == UNEXPECTED
    for _ in range(20):  # it is checked about once a second
        bench.node.take()
        assert [marker.ns for marker in bench.node.draw()] == ['warnings']
    lost = camera('side', translation=Vector3(x=NAN), rotation=Vector3(x=NAN))
    assert 'side is misaligned: the robot is not where' in bench.draw(lost)['warnings', 0].text
    bench.draw(camera('side', is_aligned=True))
    drawn = bench.draw(camera('front', is_aligned=True))
    assert 'warnings' not in {space for space, _ in drawn}
    assert rgb(drawn['cameras', 0].color) == GREEN
    text = bench.draw(camera('front', unavailable='the arm is hidden'))['warnings', 0].text
    assert text == 'camera front not checked: the arm is hidden'


def event(**values):
    defaults = {'type': ContactEvent.BEGIN, 'id': 1, 'force': NAN, 'peak_force': NAN}
    message = ContactEvent(**{**defaults, **values})
    message.header.frame_id = 'base_link'
    return message


def test_a_contact_that_begins_or_ends_is_shown_for_a_second(bench):
    begun = event(link='gripper_link', other='table', force=3.2, position=Point(x=0.2))
    drawn = bench.draw(begun)
    ball, words = sorted(of(drawn, 'contact_events'), key=lambda marker: marker.id)
    assert (ball.lifetime.sec, ball.pose.position.x, ball.type) == (1, 0.2, Marker.SPHERE)
    assert words.text == 'collision: gripper_link - table\n3.2 N'
    assert words.color == UNEXPECTED
    assert bench.node.draw() and not bench.node.take()
    assert bench.node.draw() == []
    ended = event(type=ContactEvent.END, position=Point(x=0.2), is_expected=True, duration=0.5)
    later = bench.draw(ended)
    assert not set(later) & set(drawn)
    assert of(later, 'contact_events')[1].color == EXPECTED
    assert bench.draw(event(position=NOWHERE, id=2)) == {}
    bench.draw(pose(0.3))
    placed = of(bench.draw(event(position=NOWHERE, id=3)), 'contact_events')
    assert placed[0].pose.position.x == 0.3


def test_the_words_of_an_event_leave_out_what_is_not_known():
    assert event_text(event()) == 'collision'
    ended = event(type=ContactEvent.END, is_expected=True, duration=0.25, peak_force=4.0)
    assert event_text(ended) == 'contact ended\n0.25 s, peak 4.0 N'


def test_known_obstacles_are_drawn_and_renewed_before_they_vanish(ros_context, tmp_path):
    path = tmp_path / 'obstacles.yaml'
    path.write_text(
        """
obstacles:
  - {name: a, shape: box, size: [0.1, 0.2, 0.3], position: [1, 2, 3]}
  - {name: b, shape: sphere, radius: 0.1}
  - {name: c, shape: cylinder, radius: 0.1, length: 0.5}
  - {name: d, shape: capsule, radius: 0.1, length: 0.5}
  - {name: e, shape: half_space, position: [0, 0, -0.5]}
"""
    )
    pytest.importorskip('coal')
    bench = Bench(ros_context, f'obstacles_file:={path}')
    drawn = bench.node.draw()
    counts = []
    for _ in range(11):
        bench.node.take()
        counts.append(len(bench.node.draw()))
    bench.close()
    kinds = [marker.type for marker in drawn]
    capsule = [Marker.CYLINDER, Marker.SPHERE, Marker.SPHERE]
    assert kinds == [Marker.CUBE, Marker.SPHERE, Marker.CYLINDER, *capsule, Marker.CUBE]
    assert {marker.header.frame_id for marker in drawn} == {'base_link'}
    assert len({marker.id for marker in drawn}) == len(drawn)
    box, floor = drawn[0], drawn[-1]
    assert (box.scale.x, box.scale.y, box.scale.z, box.pose.position.y) == (0.1, 0.2, 0.3, 2.0)
    assert floor.pose.position.z + floor.scale.z / 2 == pytest.approx(-0.5)
    assert counts == [0, 0, 0, 0, len(drawn), 0, 0, 0, 0, len(drawn), 0]


def test_a_mesh_is_drawn_as_its_triangles():
    pytest.importorskip('coal')
    from frame_ros.nodes.markers.obstacles import obstacle_markers
    from frame_ros.sensing.proximity.obstacles.known import KnownObstacles

    known = KnownObstacles()
    corners = np.array(((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)))
    faces = ((0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3))
    known.set_mesh('m', corners, faces, translation=(1, 0, 0))
    (mesh,) = obstacle_markers(Header(frame_id='base'), known.obstacles, 1.0)
    assert (mesh.type, len(mesh.points), mesh.scale.x) == (Marker.TRIANGLE_LIST, 12, 1.0)
    assert mesh.pose.position.x == 1.0


def cloud(rows, fields):
    message = PointCloud2(height=1, width=len(rows), point_step=4 * len(fields))
    message.header.frame_id = 'base_link'
    message.fields = [
        PointField(name=name, offset=4 * i, datatype=PointField.FLOAT32, count=1)
        for i, name in enumerate(fields)
    ]
    message.data = np.asarray(rows, np.float32).tobytes()
    return message


def test_the_cloud_is_thinned_and_the_robots_points_are_marked():
    rows = np.zeros((5000, 5))
    rows[:, 0] = np.arange(5000)
    rows[::2, 4] = 1.0
    rows[3] = NAN
    marker = cloud_marker(cloud(rows, ('x', 'y', 'z', 'rgb', 'self')), 2000, 1.0)
    assert marker.type == Marker.POINTS
    assert 1500 < len(marker.points) == len(marker.colors) <= 2000
    assert all(
        shade == (EXPECTED if place.x % 2 == 0 else WARNING)
        for place, shade in zip(marker.points, marker.colors)
    )
    assert len(cloud_marker(cloud(rows[:4], ('x', 'y', 'z', 'rgb', 'self')), 9, 1.0).points) == 3
    assert cloud_marker(cloud(np.zeros((3, 2)), ('u', 'v')), 10, 1.0) is None


def test_the_cloud_is_drawn_if_its_topic_is_named(ros_context):
    bench = Bench(ros_context, 'cloud.topic:=cloud', 'cloud.points:=3')
    bench.until(lambda: bench.out[PointCloud2].get_subscription_count())
    drawn = bench.draw(cloud(np.ones((9, 3)), ('x', 'y', 'z')))
    bench.close()
    assert len(drawn['points', 0].points) == 3


@pytest.mark.parametrize(
    ('parameter', 'words'),
    [
        ('rate:=20.0', 'at most 10 Hz'),
        ('link_alpha:=2.0', 'must be 0 to 1'),
        ('cloud.points:=9000', '1 to 2000'),
        ('contact.bar_position:=[0.0]', 'must be 3 numbers'),
        ('lifetime:=0.0', 'lifetime is 0.0; it must be above 0 s'),
        ('distance.far:=0.01', 'distance.near is 0.02; it must be below far'),
        ('obstacles_file:=/nowhere.yaml', 'cannot be read'),
        ('robot:=nobody', 'nobody'),
    ],
)
def test_parameters_that_cannot_be_are_refused(ros_context, parameter, words):
    with pytest.raises((SetupError, FrameRosError), match=words):
        Bench.made(ros_context, ['--ros-args', '-p', parameter])


def test_contacts_are_drawn_in_the_colour_of_what_was_expected(bench):
    message = contact(
        in_contact=True, in_collision=True, source=ContactState.SOURCE_FUSED,
        positions=[Point(x=0.1), Point(x=0.2)], normals=[Vector3(z=1.0), Vector3(z=1.0)],
        forces=[5.0, 20.0], is_expected=[True, False],
    )  # fmt: skip
    arrows = of(bench.draw(message), 'contact')
    assert [arrow.color for arrow in arrows] == [EXPECTED, UNEXPECTED]
    lengths = [arrow.points[1].z - arrow.points[0].z for arrow in arrows]
    assert lengths == pytest.approx([0.05, 0.2])
