# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages that an input counts as lost."""

import pytest

pytest.importorskip('rclpy')

from std_msgs.msg import String

from frame_ros.sensing.stream_health.input_tally import InputTally


def taken(*numbers):
    return [
        (String(), {'received_timestamp': 1, 'publication_sequence_number': number})
        for number in numbers
    ]


@pytest.mark.parametrize(('publishers', 'lost'), [(1, 395), (2, 0)])
def test_a_gap_is_a_loss_if_there_was_one_publisher_all_the_time(publishers, lost):
    tally = InputTally(String)
    tally.set_publishers(1)
    tally.add(taken(4, 5))
    tally.add(taken(400, 401))  # another publisher's numbers, or a gap
    tally.add(taken(403))
    assert (tally.received, tally.lost) == (5, 0)
    tally.set_publishers(publishers)
    assert tally.lost == lost
    tally.set_publishers(publishers)
    assert tally.lost == lost


def test_what_was_lost_before_another_publisher_came_stays_counted():
    tally = InputTally(String)
    tally.set_publishers(1)
    tally.add(taken(1))
    tally.add(taken(11))
    tally.set_publishers(1)
    tally.set_publishers(2)
    tally.add(taken(99))
    tally.set_publishers(2)
    assert tally.lost == 9
