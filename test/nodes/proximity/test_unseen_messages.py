# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages and markers of what was not seen."""

from math import inf, isnan

import numpy as np
import pytest
from attrs import evolve

pytest.importorskip('rclpy')

from frame_ros.nodes.markers.options import MarkersOptions
from frame_ros.nodes.markers.proximity import ProximityMarkers
from frame_ros.nodes.proximity.messages import proximity_message
from frame_ros.robots import load_robot
from frame_ros.robots.shapes.link_shapes import link_shapes
from frame_ros.sensing.proximity.link_distances import DistanceReading
from frame_ros.sensing.proximity.surroundings import Surroundings
from frame_ros.sensing.proximity.unseen import HIDDEN, REASONS, SEEN, Unseen

ROBOT = load_robot('so101')
SHAPES = link_shapes(ROBOT)
LINKS = SHAPES.links[:2]


def reading(*, is_known=True, first=HIDDEN, distance=0.2):
    owners = np.array([0, 0, 1])
    around = Surroundings(owners, np.zeros((3, 3)), owners, np.array([0.03, 0.05, 0.04]), 0.015, 2)
    states = np.array([first, SEEN, SEEN], np.uint8)
    unseen = Unseen(around, states, np.zeros(2, bool), 0.01, 0.3) if is_known else None
    points = np.array([[0.0, 0.0, 0.0], [0.1, 0.0, 0.0]])
    return DistanceReading(
        LINKS, np.array([distance, 0.3]), points, points + 0.1, ('', ''), unseen=unseen
    )


def message(**options):
    return proximity_message(1, 'base', 2, reading(**options))


def test_a_message_says_what_was_not_seen():
    found = message()
    assert found.is_partial and found.partial_reason == f'{REASONS[HIDDEN]}: {LINKS[0]}'
    assert found.unobserved_distance == 0.03 and found.distance == 0.2
    assert list(found.link_observed) == [0.5, 1.0]
    assert list(found.link_unobserved_distances) == [0.03, inf]
    assert list(found.link_partial_reasons) == [REASONS[HIDDEN], '']
    seen = message(first=SEEN)
    assert not seen.is_partial and seen.unobserved_distance == inf and not seen.partial_reason


def test_what_is_not_known_is_no_number():
    found = message(is_known=False)
    assert not found.is_partial and isnan(found.unobserved_distance)
    assert all(map(isnan, [*found.link_observed, *found.link_unobserved_distances]))
    assert list(found.link_partial_reasons) == ['', '']
    none = proximity_message(1, 'base', 2, DistanceReading.missing(LINKS, 'why'))
    assert isnan(none.unobserved_distance) and isnan(none.distance)


def shade(found, **options):
    """Colour of the first link."""
    markers = ProximityMarkers(MarkersOptions(**options), ROBOT.links, SHAPES).draw(found)
    name = next(m for m in markers if m.ns == 'links').color
    return name.r, name.g, name.b


def test_markers_show_what_was_not_seen():
    label = ProximityMarkers(MarkersOptions(), ROBOT.links, None).draw(message())[1]
    assert label.text == '200 mm seen'
    whole, part, unknown = (message(first=SEEN), message(), message(is_known=False))
    assert shade(part) != shade(whole) == shade(unknown)
    assert max(shade(part)) - min(shade(part)) < max(shade(whole)) - min(shade(whole))  # greyer


def test_the_colour_can_be_of_the_cautious_bound():
    options = MarkersOptions()
    cautious = evolve(options.distance, bound='cautious')
    red, green = shade(message(), distance=cautious), shade(message())
    assert red[0] > green[0] and red[1] < green[1]
    assert shade(message(is_known=False), distance=cautious) == shade(message(is_known=False))
