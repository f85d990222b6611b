# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The markers node: what it draws of real messages; nothing of what it does not know."""

import math
import threading

import pytest

pytest.importorskip('rclpy')

from geometry_msgs.msg import Point, Vector3
from markers_bench import Bench, contact, pose, rgb
from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from visualization_msgs.msg import Marker

from frame_ros.core.options import from_values
from frame_ros.msg import (
    ConfidenceMetrics,
    EfficiencyMetrics,
    GateState,
    MonitorState,
    Proximity,
    QualityMetrics,
    SafetyMetrics,
)
from frame_ros.nodes.markers.metrics import Trail
from frame_ros.nodes.markers.options import MarkersOptions
from frame_ros.nodes.markers.plain_markers import (
    EXPECTED,
    UNEXPECTED,
    UNKNOWN,
    colour,
    log_fraction,
)

NAN = math.nan


def test_colours_run_from_green_over_yellow_to_red():
    assert rgb(colour(0.0)) == (0.15, 0.70, 0.30)
    assert rgb(colour(0.5)) == (0.95, 0.80, 0.15)
    assert rgb(colour(7.0)) == (0.85, 0.15, 0.15)
    assert rgb(colour(0.25)) == (0.55, 0.75, 0.225)
    assert colour(NAN) is UNKNOWN


def test_the_jerk_scale_is_logarithmic():
    assert log_fraction(1.0, 1.0, 100.0) == 0.0
    assert log_fraction(10.0, 1.0, 100.0) == pytest.approx(0.5)
    assert log_fraction(0.0, 1.0, 100.0) == 0.0
    assert math.isnan(log_fraction(NAN, 1.0, 100.0))


def test_the_trail_keeps_the_largest_jerk_between_two_points():
    trail = Trail(points=3, spacing=0.01)
    trail.add_point(Point(x=0.0))
    for jerk in (NAN, 4.0, 9.0, 2.0):
        trail.add_jerk(jerk)
    trail.add_point(Point(x=0.005))
    trail.add_point(Point(x=NAN))
    trail.add_point(Point(x=0.02))
    assert [point.x for point in trail.points] == [0.0, 0.02]
    assert trail.jerks[1] == 9.0
    for x in (0.04, 0.06):
        trail.add_point(Point(x=x))
    assert [point.x for point in trail.points] == [0.02, 0.04, 0.06]
    trail.clear()
    assert not trail.points


@pytest.fixture()
def bench(ros_context):
    bench = Bench(ros_context)
    yield bench
    bench.close()


def one_contact(is_expected):
    return contact(
        in_contact=True,
        positions=[Point(x=0.2)],
        normals=[Vector3(z=2.0)],
        forces=[5.0],
        is_expected=[is_expected],
    )


def test_the_distance_is_a_line_between_the_nearest_points(bench):
    message = Proximity(distance=0.02, point_on_robot=Point(x=0.1), point_on_obstacle=Point(x=0.12))
    message.header.frame_id = 'base_link'
    drawn = bench.draw(message)
    line, label = drawn['proximity', 0], drawn['proximity', 1]
    assert (line.type, line.header.frame_id) == (Marker.LINE_LIST, 'base_link')
    assert [point.x for point in line.points] == [0.1, 0.12]
    assert rgb(line.color) == (0.85, 0.15, 0.15)
    assert label.text == '20 mm'
    assert label.pose.position.x == pytest.approx(0.11)


def test_an_unknown_distance_draws_nothing(bench):
    nowhere = Point(x=NAN, y=NAN, z=NAN)
    for message in (
        Proximity(distance=NAN),
        Proximity(distance=0.1, point_on_robot=nowhere, point_on_obstacle=nowhere),
    ):
        assert bench.draw(message) == {}


def test_a_contact_is_an_arrow_scaled_by_its_force(bench):
    arrow = bench.draw(one_contact(is_expected=False))['contact', 0]
    start, end = arrow.points
    assert (end.x, end.z) == (0.2, 0.0)
    assert start.z == pytest.approx(-0.05)  # 5 N at 100 N per metre, along the unit normal
    assert arrow.color == UNEXPECTED
    assert bench.draw(one_contact(is_expected=True))['contact', 0].color == EXPECTED


def test_a_wrench_without_positions_is_drawn_at_the_tip(bench):
    message = contact(in_contact=True, in_collision=True, force=10.0)
    message.wrench.force.x = -10.0
    drawn = bench.draw(pose(0.3), message)
    drawn.update(bench.draw(message))
    start, end = drawn['contact', 0].points
    assert (start.x, end.x) == (pytest.approx(0.4), pytest.approx(0.3))


def test_unknown_forces_draw_nothing(bench):
    message = one_contact(is_expected=False)
    message.forces = [NAN]
    assert bench.draw(message) == {}
    assert bench.draw(contact(in_contact=False)) == {}


def test_the_path_is_coloured_point_by_point_and_ends_with_the_episode(bench):
    quality = QualityMetrics(episode_id='a', tcp_jerk=100.0, tcp_speed=0.1, ti=3.0, time=1.5)
    bench.draw(pose(0.0))
    drawn = bench.draw(quality)
    drawn = bench.draw(pose(0.1))
    path = drawn['path', 0]
    assert path.type == Marker.LINE_STRIP
    assert len(path.points) == len(path.colors) == 2
    assert path.colors[0] == UNKNOWN
    assert rgb(path.colors[1]) == (0.85, 0.15, 0.15)
    quality.episode_id = 'b'
    bench.draw(quality)
    assert ('path', 0) not in bench.draw(pose(0.2))


def test_the_headline_shows_a_dash_for_what_is_not_available(bench):
    bench.draw(
        QualityMetrics(episode_id='a', time=1.5, tcp_speed=0.1, ti=NAN),
        SafetyMetrics(distance=0.034, collisions=2),
        EfficiencyMetrics(il_last=0.0123, control_rate_now=29.96),
    )
    headline = bench.draw(pose())['headline', 0]
    assert headline.type == Marker.TEXT_VIEW_FACING
    assert headline.text.split('\n') == [
        'a  1.5 s',
        'speed 100 mm/s  RMS jerk - m/s^3',
        'distance 34 mm  collisions 2',
        'newest latency 12.3 ms  rate, last second 30.0 Hz',
    ]


def test_the_headline_tells_the_uncertainties_that_the_policy_yields(bench):
    bench.draw(ConfidenceMetrics(tb_e=NAN, ev=NAN))
    assert bench.draw(pose())['headline', 0].text == 'no metrics'
    bench.draw(ConfidenceMetrics(tb_e=NAN, ev=0.0624))
    assert bench.draw(pose())['headline', 0].text == 'execution variability 0.062'
    bench.draw(ConfidenceMetrics(tb_e=1.234, ev=0.0624))
    told = 'token entropy 1.23 nats  execution variability 0.062'
    assert bench.draw(pose())['headline', 0].text == told


def test_the_headline_tells_what_the_gate_does(bench):
    bench.draw(GateState(state=GateState.PASSING, limited=3))
    assert bench.draw(pose())['headline', 0].text == 'gate: passing  limited 3  refused 0'
    bench.draw(GateState(state=GateState.STOPPED, cause='heartbeat'))
    assert bench.draw(pose())['headline', 0].text == 'gate: stopped: heartbeat'


def test_the_headline_says_what_the_monitor_recommends(bench):
    bench.draw(MonitorState(level=MonitorState.LEVEL_OK))
    assert bench.draw(pose())['headline', 0].text == 'monitor: ok'
    bench.draw(MonitorState(level=MonitorState.LEVEL_HALT, causes=['score', 'near']))
    assert bench.draw(pose())['headline', 0].text == 'monitor: HALT: score, near'


def test_the_workspace_of_the_gate_is_a_box_of_the_colour_of_its_state(bench):
    assert ('workspace', 0) not in bench.draw(pose())
    box = (0.0, -0.2, -10.0, 0.4, 0.2, 0.5)
    given = {'workspace.box': box, 'workspace.floor': 0.02}
    bench.node._change(from_values(MarkersOptions, given))
    bench.draw(GateState(state=GateState.STOPPED))
    box = bench.draw(pose())['workspace', 0]
    assert len(box.points) == 24
    assert {point.z for point in box.points} == {0.02, 0.5}
    assert rgb(box.color) == (0.85, 0.15, 0.15)


def test_markers_vanish_by_themselves(bench):
    marker = bench.draw(pose())['headline', 0]
    assert (marker.lifetime.sec, marker.lifetime.nanosec) == (1, 0)
    bench.node.take()
    assert bench.node.draw() == []


def test_a_low_rate_can_be_raised_while_the_node_spins(ros_context):
    bench, stop = Bench(ros_context, 'rate:=0.0001'), threading.Event()
    spinning = threading.Thread(target=bench.node.spin, args=(stop,))
    spinning.start()
    try:
        bench.until(lambda: bench.node._shown > 0.0)  # the next picture is due in hours
        faster = Parameter('rate', value=10.0).to_parameter_msg()
        request = SetParametersAtomically.Request(parameters=[faster])
        kind, name = SetParametersAtomically, 'markers/set_parameters_atomically'
        client = bench.peer.create_client(kind, name)
        bench.until(client.service_is_ready)
        answer = client.call_async(request)
        bench.until(answer.done)
        assert answer.result().result.successful
        shown = bench.node._shown
        bench.until(lambda: bench.node._shown > shown)
    finally:
        stop.set()
        spinning.join()
        bench.close()
