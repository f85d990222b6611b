# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The episode of a gate, announced ahead, by whoever and however often."""

from frame_ros.gate.episode import END, MOST_PENDING, START, GateEpisode, push_earliest
from frame_ros.gate.records import Moment


def test_a_flood_of_announcements_keeps_the_earliest_and_loses_no_memory():
    episode = GateEpisode()
    for number in range(100_000):
        episode.add(START, f'late {number}', 10**18 + number)
    episode.add(START, 'e1', 100)
    episode.add(END, 'e1', 200)
    assert len(episode._pending) == MOST_PENDING
    assert episode.advance(Moment(1, 100)) and episode.episode_id == 'e1'
    episode.advance(Moment(2, 200))
    assert not episode.is_running


def test_a_heap_keeps_the_smallest():
    heap: list[int] = []
    for number in (5, 1, 9, 3, 7, 2):
        push_earliest(heap, number, 3)
    assert sorted(heap) == [1, 2, 3]
