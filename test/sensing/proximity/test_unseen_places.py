# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Places that were not seen: single pixels worked out by hand, two cameras, partial distances."""

from dataclasses import replace

import numpy as np
import pytest
from attrs import evolve
from scipy.spatial.transform import Rotation

from frame_ros.robots import Capsule
from frame_ros.robots.shapes.link_shapes import PlacedShapes, box, capsule_shape, placed, sphere
from frame_ros.sensing.proximity.depth.camera import DepthCamera
from frame_ros.sensing.proximity.depth.detector import DepthProximity
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.unseen_kernels import look
from frame_ros.sensing.proximity.link_distances import DistanceReading, fuse
from frame_ros.sensing.proximity.surroundings import NEAR, Surroundings, surroundings
from frame_ros.sensing.proximity.unseen import (
    HIDDEN,
    HOLE,
    IN_PADDING,
    NO_PLACE,
    OUT_OF_VIEW,
    PADDED,
    REASONS,
    SEEN,
    TOO_NEAR,
    Unseen,
    seen_by_any,
)

# A pixel is 1 cm wide at 1 m; the middle of the picture is (50, 50).
CAMERA = DepthCamera(101, 101, 100.0, 100.0, 50.0, 50.0)
FORWARD, ORIGIN = np.eye(3), np.zeros(3)
BALL = placed('ball', [sphere(0.05, [0.0, 0.0, 1.0])])
PLAIN = DepthOptions(
    depth_noise=0.0, smoothing=1, min_support=0, padding=0.01, tolerance=0.0, outline=0.0
)
BAR = capsule_shape(Capsule(np.array([-0.2, 0.0, 0.0]), np.array([0.2, 0.0, 0.2]), 0.04))
TWO = placed('arm', [BAR, box([0.1, 0.1, 0.3], [0.2, 0.0, 0.3])])


def states(depth, *points, radius=0.02, noise=0.0):
    found = np.empty(len(points), np.uint8)
    lens = np.array([CAMERA.fx, CAMERA.fy, CAMERA.cx, CAMERA.cy])
    scale = 1e-3 if depth.dtype == np.uint16 else 1.0
    look(depth, scale, lens, 0.1, 3.0, noise, np.array(points, float), radius, found)
    return found.tolist()


def wall(depth=2000, kind=np.uint16):
    return np.full((CAMERA.height, CAMERA.width), depth, kind)


def test_a_place_is_seen_hidden_behind_a_hole_too_near_or_out_of_view():
    depth = wall()
    depth[:, 60:] = 500  # something near, right of x/z = 0.095
    depth[:40, :40] = 0  # holes, up and left of x/z = y/z = -0.105
    free, behind_wall, hidden = (0.0, 0.0, 1.0), (0.0, 0.0, 2.5), (0.3, 0.0, 1.0)
    before_it, hole = (0.15, 0.0, 0.4), (-0.3, -0.3, 1.0)
    near, aside, behind_camera = (0.0, 0.0, 0.05), (1.0, 0.0, 1.0), (0.0, 0.0, -1.0)
    for image in (depth, (depth * 1e-3).astype(np.float32)):
        assert states(
            image, free, behind_wall, hidden, before_it, hole, near, aside, behind_camera
        ) == [SEEN, HIDDEN, HIDDEN, SEEN, HOLE, TOO_NEAR, OUT_OF_VIEW, OUT_OF_VIEW]  # fmt: skip


def test_a_place_needs_most_of_its_pixels():
    # At 1 m a ball of 50 mm has its five pixels at the middle and 3.5 pixels from it.
    place, depth = (0.0, 0.0, 1.0), wall()
    depth[50, 50] = 0
    assert states(depth, place, radius=0.05) == [SEEN]
    depth[:, :50] = 0  # the pixels above, below and to the right see it, if the middle does not
    assert states(depth, place, radius=0.05) == [SEEN]
    depth[:50] = 0  # those below and to the right: a black rod of 8 mm may be in the way
    assert states(depth, place, radius=0.05) == [HOLE]
    depth[:, :52] = 0  # only the pixel to the right sees it
    assert states(depth, place, radius=0.05) == [HOLE]
    depth[:, :52] = 700
    assert states(depth, place, radius=0.05) == [HIDDEN]


def test_a_depth_that_says_something_without_a_number():
    place = (0.0, 0.0, 1.0)
    assert states(wall(np.inf, np.float32), place) == [SEEN]  # farther than it can measure
    assert states(wall(-np.inf, np.float32), place) == [TOO_NEAR]
    assert states(wall(np.nan, np.float32), place) == [HOLE]
    assert states(wall(65535), place) == [HOLE]
    assert states(wall(60), place) == [TOO_NEAR]  # below the least range


def test_what_is_beyond_the_largest_range_is_not_seen():
    image = wall(np.inf, np.float32)
    assert states(image, (0.0, 0.0, 2.9), (0.0, 0.0, 3.1)) == [SEEN, OUT_OF_VIEW]


def test_noise_makes_a_surface_no_wall_in_front_of_itself():
    place = (0.0, 0.0, 1.0)
    assert states(wall(995), place) == [HIDDEN]
    assert states(wall(995), place, noise=0.01) == [SEEN]
    assert states(wall(985), place, noise=0.01) == [HIDDEN]


@pytest.fixture(scope='module')
def before_a_wall():
    """A ball of 50 mm at 1 m before a wall at 2 m, as the camera sees it."""
    depth, (x, y) = wall(), CAMERA.rays()
    square = 1.0 + x**2 + y[:, None] ** 2
    root = 1.0 - square * (1.0 - 0.05**2)
    depth[root >= 0] = np.rint(1000 * ((1.0 - np.sqrt(root[root >= 0])) / square[root >= 0]))
    return depth


def test_what_lies_behind_a_link_is_not_seen(before_a_wall):
    reading = DepthProximity(CAMERA, PLAIN).measure(before_a_wall, BALL, FORWARD, ORIGIN)
    # The wall is farther than what is looked at; the shadow begins at the ball itself.
    assert reading.distance == pytest.approx(0.955, abs=0.005) and reading.is_partial
    assert reading.unobserved_distance < 0.02
    assert reading.partial_reason == f'{REASONS[HIDDEN]}: ball'
    # The shadow of a disc of 5 cm radius: 2 % of a ball of 15 cm, and some on its rim.
    assert 0.9 < reading.link_observed[0] < 0.99
    assert reading.cautious_distance == reading.unobserved_distance
    behind = placed('ball', [sphere(0.05, [0.0, 0.0, 3.0])])
    hidden = DepthProximity(CAMERA, PLAIN).measure(before_a_wall, behind, FORWARD, ORIGIN)
    assert hidden.link_observed[0] == 0.0 and hidden.unobserved_distance < 0.02


def test_the_places_behind_are_seen_by_a_camera_on_the_other_side(before_a_wall):
    about = Rotation.from_euler('y', np.pi).as_matrix()
    sides = (FORWARD, ORIGIN), (about, np.array([0.0, 0.0, 2.0]))
    one, other = (
        DepthProximity(CAMERA, PLAIN).measure(before_a_wall, BALL, *side) for side in sides
    )
    assert one.is_partial and other.is_partial
    both = fuse([one, other])
    assert both.link_observed[0] == 1.0 and not both.is_partial and not both.partial_reason
    assert np.isinf(both.unobserved_distance)
    assert both.cautious_distance == both.distance


def test_holes_beside_a_link_are_named(before_a_wall):
    depth = before_a_wall.copy()
    depth[:, 56:] = 0
    reading = DepthProximity(CAMERA, PLAIN).measure(depth, BALL, FORWARD, ORIGIN)
    assert reading.partial_reason == f'{REASONS[HOLE]}, {REASONS[HIDDEN]}: ball'
    assert 0.4 < reading.link_observed[0] < 0.7


def test_nothing_can_be_below_the_table_nor_in_the_robot(before_a_wall):
    # All that is hidden lies beyond z = 1.02 m: it is no place where that is outside.
    bounds = ((-2.0, -2.0, -2.0), (2.0, 2.0, 1.02))
    settings = DepthOptions(depth_noise=0.0, smoothing=1, min_support=0, workspace=bounds)
    reading = DepthProximity(CAMERA, settings).measure(before_a_wall, BALL, FORWARD, ORIGIN)
    assert not reading.is_partial and reading.link_observed[0] == 1.0
    # Another part of the robot takes up all the room behind it.
    rest = placed('rest', [box([1.0, 1.0, 1.0], [0.0, 0.0, 1.545])])
    held = DepthProximity(CAMERA, PLAIN).measure(before_a_wall, BALL, FORWARD, ORIGIN, rest)
    assert held.link_observed[0] == 1.0


def test_an_obstacle_at_the_padding_may_reach_into_it(before_a_wall):
    depth = before_a_wall.copy()
    depth[45:56, 45:56] = 935  # 15 mm before the ball
    reading = DepthProximity(CAMERA, PLAIN).measure(depth, BALL, FORWARD, ORIGIN)
    assert reading.distance == pytest.approx(0.015, abs=1e-3)
    assert IN_PADDING not in reading.partial_reason
    depth[45:56, 45:56] = 939  # 11 mm, with 10 mm of padding
    noisy = DepthOptions(depth_noise=0.0, smoothing=1, min_support=0, tolerance=0.002, outline=0.0)
    reading = DepthProximity(CAMERA, noisy).measure(depth, BALL, FORWARD, ORIGIN)
    assert reading.distance == pytest.approx(0.011, abs=1e-3)
    assert reading.unobserved_distance == 0.0 and reading.partial_reason.startswith(IN_PADDING)


def test_places_that_vanish_in_the_padding_are_not_seen():
    def found(**options):
        proximity = DepthProximity(CAMERA, evolve(PLAIN, **options))
        return proximity.measure(wall(), BALL, FORWARD, ORIGIN).unseen

    places = found().around
    for options, reach in (({'padding': 0.05}, 0.05), ({'depth_noise': 0.04}, 0.05)):
        seen = found(**options)
        is_padded = seen.states == PADDED
        assert is_padded.any() and not (found().states == PADDED).any()
        # The rays to places around the ball are a bit longer than 1 m, or shorter.
        assert places.distances[is_padded].max() < reach - 0.03 + 0.01
        assert (seen.states[places.distances < reach - 0.03 - 0.01] != SEEN).all()


def unseen(places, at_padding=(False, False)):
    """Of places (link, distance, state)."""
    owners, distances, found = (np.array(column) for column in zip(*places))
    around = Surroundings(
        owners, np.zeros((len(places), 3)), owners, distances.astype(float), 0.015, 2
    )
    return Unseen(around, found.astype(np.uint8), np.array(at_padding), 0.01, 0.3)


def test_a_distance_is_partial_where_a_place_not_seen_is_nearer():
    seen = unseen([(0, 0.05, SEEN), (0, 0.08, HIDDEN), (0, 0.2, HOLE), (1, 0.04, NO_PLACE),
                   (1, 0.06, SEEN), (1, 0.25, OUT_OF_VIEW)])  # fmt: skip
    assert seen.observed.tolist() == [0.5, 1.0]  # up to 0.1 m, without where nothing can be
    assert seen.distances.tolist() == [0.08, 0.25]
    points = np.zeros((2, 3))

    def reading(*distances):
        return DistanceReading(
            ('a', 'b'), np.array(distances), points, points, ('', ''), unseen=seen
        )

    assert reading(0.085, 0.1).is_link_partial.tolist() == [False, False]  # within the margin
    assert not reading(0.085, 0.1).is_partial
    assert reading(0.1, 0.1).link_partial_reasons == (REASONS[HIDDEN], '')
    assert reading(0.25, 0.1).is_partial  # 0.08 m is nearer than 0.1 m by more than 0.01 m
    assert reading(0.25, 0.05).is_link_partial.tolist() == [True, False]
    assert not reading(0.25, 0.05).is_partial  # something nearer was seen
    # Nothing was found: all that was looked at counts.
    assert reading(np.nan, np.nan).is_link_partial.tolist() == [True, True]
    assert reading(np.nan, 1.0).link_partial_reasons == (
        f'{REASONS[HIDDEN]}, {REASONS[HOLE]}', REASONS[OUT_OF_VIEW],
    )  # fmt: skip
    assert reading(0.25, 0.05).cautious_distance == 0.05
    assert reading(0.25, 0.1).cautious_distance == 0.08


def test_of_two_cameras_the_better_view_counts():
    one = unseen([(0, 0.05, SEEN), (0, 0.08, HIDDEN), (1, 0.04, OUT_OF_VIEW), (1, 0.1, NO_PLACE)])
    two = unseen([(0, 0.05, HOLE), (0, 0.08, SEEN), (1, 0.04, HIDDEN), (1, 0.1, NO_PLACE)],
                 at_padding=(False, True))  # fmt: skip
    both = seen_by_any([one, two])
    assert both.states.tolist() == [SEEN, SEEN, HIDDEN, NO_PLACE]
    assert both.is_at_padding.tolist() == [False, True]
    assert seen_by_any([]) is None
    other = unseen([(0, 0.06, HIDDEN)])
    assert seen_by_any([one, other]).states.tolist() == one.states.tolist()


def test_without_places_nothing_is_known():
    reading = DistanceReading.missing(('a', 'b'), 'why')
    assert np.isnan(reading.link_observed).all() and np.isnan(reading.unobserved_distance)
    assert not reading.is_partial and reading.link_partial_reasons == ('', '')
    settings = DepthOptions(hidden_size=0.0)
    assert DepthProximity(CAMERA, settings).measure(wall(), BALL, FORWARD, ORIGIN).unseen is None


def test_the_places_surround_the_links_evenly_and_move_with_them():
    around = surroundings(TWO, 0.015, 0.3)
    first = 0  # all move with the first shape
    assert set(around.anchors) == {first} and set(around.owners) == {0}
    points = around.points @ TWO.rotations[first].T + TWO.translations[first]
    distances = TWO.link_distances(points)[:, 0] - around.radius
    np.testing.assert_allclose(around.distances, distances, atol=1e-5)
    assert around.distances.min() >= 0 and around.distances.max() <= 0.3
    near = points[around.distances <= NEAR]
    # On either side of the arm's plane there are as many.
    assert abs((near[:, 1] > 0).mean() - 0.5) < 0.1


def test_the_places_are_the_same_whatever_the_pose():
    turn, shift = Rotation.from_rotvec([0.3, -1.2, 0.7]).as_matrix(), np.array([0.3, -1.0, 0.1])
    moved = PlacedShapes(
        TWO.links, TWO.kinds, TWO.owners, turn @ TWO.rotations,
        TWO.translations @ turn.T + shift, TWO.half_sizes, TWO.radii,
    )  # fmt: skip
    one, two = (surroundings(each, 0.015, 0.3) for each in (TWO, moved))
    assert one.is_same(two) and (one.points == two.points).all()
    assert not one.is_same(surroundings(TWO, 0.02, 0.3))


def test_the_whole_scene_moved_says_the_same(before_a_wall):
    turn, shift = Rotation.from_rotvec([0.3, -1.2, 0.7]).as_matrix(), np.array([0.3, -1.0, 0.1])
    moved = placed('ball', [sphere(0.05, turn @ [0.0, 0.0, 1.0] + shift)])
    here = DepthProximity(CAMERA, PLAIN).measure(before_a_wall, BALL, FORWARD, ORIGIN)
    there = DepthProximity(CAMERA, PLAIN).measure(before_a_wall, moved, turn, shift)
    # Its places turn with the ball only if its axes do: the share stays, not each place.
    assert there.link_observed[0] == pytest.approx(here.link_observed[0], abs=0.03)


def test_a_camera_that_did_not_look_makes_what_others_give_partial(before_a_wall):
    points = np.zeros((1, 3))
    known = DistanceReading(('ball',), np.array([0.4]), points, points, ('box',))
    blind = DepthProximity(CAMERA, PLAIN).measure(wall(0), BALL, FORWARD, ORIGIN)
    assert blind.unavailable and blind.blind and not blind.is_partial
    assert np.isnan(blind.cautious_distance)
    both = fuse([blind, known])
    assert both.distance == 0.4 and both.is_partial and both.partial_reason == blind.blind
    assert both.is_link_partial.tolist() == [True] and both.link_partial_reasons == (blind.blind,)
    assert both.unobserved_distance == both.cautious_distance == 0.0
    assert not known.is_partial and known.cautious_distance == 0.4
    seen = DepthProximity(CAMERA, PLAIN).measure(before_a_wall, BALL, FORWARD, ORIGIN)
    other = fuse([seen, blind])  # its places say how near what is not seen is
    assert other.unobserved_distance == seen.unobserved_distance > 0.0
    assert other.partial_reason == f'{seen.partial_reason}; {blind.blind}'


def test_a_camera_that_did_not_look_is_not_missed_where_others_see_all(before_a_wall):
    about = Rotation.from_euler('y', np.pi).as_matrix()
    one, other = (
        DepthProximity(CAMERA, PLAIN).measure(before_a_wall, BALL, *side)
        for side in ((FORWARD, ORIGIN), (about, np.array([0.0, 0.0, 2.0])))
    )
    blind = DepthProximity(CAMERA, PLAIN).measure(wall(0), BALL, FORWARD, ORIGIN)
    every = fuse([one, other, blind])
    near = replace(every, distances=np.array([PLAIN.hidden_reach]))
    assert near.blind and not near.is_partial and not near.partial_reason
    assert not near.is_link_partial.any() and near.link_partial_reasons == ('',)
    for beyond in (PLAIN.hidden_reach + 0.01, np.nan):  # there nobody looked at places
        far = replace(every, distances=np.array([beyond]))
        assert far.is_partial and far.partial_reason == far.blind
        assert far.is_link_partial.all() and far.link_partial_reasons == (far.blind,)
    assert fuse([one, blind]).is_partial  # the shadow of the ball is seen by none
