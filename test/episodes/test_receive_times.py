# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Recordings whose header stamps are of no use: what is said, and reading by receive times."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bag_making import T0, write_bag
from robot_bags import JOINTS, commands, event, image, joint_state, step_stamp

from frame_ros.bags.findings import Note
from frame_ros.core.errors import BagError
from frame_ros.core.events import EventType
from frame_ros.core.options import OptionError
from frame_ros.episodes.observations import RecordedObservations
from frame_ros.episodes.reading import read_episodes
from frame_ros.episodes.recorded.actions import recorded_actions
from frame_ros.episodes.stream_checks import judged_streams
from frame_ros.episodes.topic_statistics import topic_statistics
from frame_ros.reports.model.rates import stream_rates

COUNT = 60
NAMED = {'action': '/joint_states'}


def recording(folder: Path, stamp: int | None, has_events: bool = False) -> Path:
    """Joint states and images, all of one stamp (ns); None: each of its receive time."""
    sent: list[tuple[str, int, Any]] = []
    for step, row in enumerate(commands(COUNT)):
        at = step_stamp(step)
        stamped = at if stamp is None else stamp
        sent.append(('/joint_states', at, joint_state(stamped, row, JOINTS)))
        sent.append(('/front/image_raw', at, image(stamped, step)))
    if has_events:
        for kind, step in ((EventType.START, 10), (EventType.END, 40)):
            at = step_stamp(step) - 1000
            sent.append(('/episode_events', at, event(stamp if stamp is not None else at, kind)))
    return write_bag(folder, sorted(sent, key=lambda each: each[1]), {'robot': 'so101'})


@pytest.mark.parametrize(
    ('stamp', 'said'), [(0, 'no message has a stamp'), (T0, 'all messages have the same stamp')]
)
def test_unusable_stamps_name_the_option(tmp_path: Path, stamp: int, said: str):
    (episode,) = read_episodes(recording(tmp_path / 'bag', stamp), topics=NAMED)
    (found,) = (text for text in episode.problems if '--stamps receive' in text)
    assert found.startswith(f'/joint_states: {said}; --stamps receive takes')
    (sound,) = read_episodes(recording(tmp_path / 'sound', None), topics=NAMED)
    assert '--stamps' not in '\n'.join(sound.problems)


@pytest.mark.parametrize('stamp', [0, T0])
def test_receive_times_give_what_sound_stamps_would(tmp_path: Path, stamp: int):
    """The recorder got each message at the time that its stamp should have been."""
    path = recording(tmp_path / 'bag', stamp)
    (wanted,) = read_episodes(recording(tmp_path / 'sound', None), topics=NAMED)
    (episode,) = read_episodes(path, topics=NAMED, stamps='receive')
    assert episode.steps == wanted.steps == COUNT
    for kind, columns in wanted.metrics.items():
        for name, column in columns.items():
            np.testing.assert_array_equal(episode.metrics[kind][name], column, f'{kind} {name}')
    (note,) = (text for text in episode.problems if 'at which they were received' in text)
    assert isinstance(note, Note) and len(episode.problems) == len(wanted.problems) + 1
    bag = episode.open_bag()
    assert topic_statistics(episode)['/joint_states'].rate == pytest.approx(30.0, rel=0.02)
    of_topics = {row.topic: row.mean for row in stream_rates(episode, bag)}
    assert of_topics['/joint_states'] == pytest.approx(30.0, rel=0.02)
    rates = {row.topic: row.rate for row in judged_streams(episode, bag)}
    assert rates['joint_states'] == pytest.approx(30.0, rel=0.02)
    observed = RecordedObservations(episode, instruction='pick')
    assert observed.at(step_stamp(20)).images['front'][0, 0, 0] == 20
    with_stamps = recorded_actions(path, topics=NAMED, stamps='receive').stamps
    assert with_stamps.tolist() == [step_stamp(step) for step in range(COUNT)]


def test_errors_of_recordings_without_stamps_name_the_option(tmp_path: Path):
    path = recording(tmp_path / 'bag', 0)
    with pytest.raises(BagError, match='no stamp: 60.*--stamps receive takes'):
        recorded_actions(path, topics=NAMED)
    (episode,) = read_episodes(path, topics=NAMED)
    with pytest.raises(BagError, match='joint_states is usable.*--stamps receive takes'):
        RecordedObservations(episode)


def test_a_bag_that_was_read_by_receive_times_is_not_so_for_others(tmp_path: Path):
    path = recording(tmp_path / 'bag', 0)
    (episode,) = read_episodes(path, topics=NAMED, stamps='receive')
    (other,) = read_episodes(path, topics=NAMED)
    assert not other.open_bag().is_by_receipt and episode.open_bag().is_by_receipt


def test_events_without_stamps_divide_by_their_receive_times(tmp_path: Path):
    path = recording(tmp_path / 'bag', 0, has_events=True)
    (episode,) = read_episodes(path, topics=NAMED, stamps='receive')
    assert episode.steps == 30


def test_another_time_is_refused(tmp_path: Path):
    from frame_ros.bags.recording_options import RecordingOptions

    with pytest.raises(OptionError, match='header.*receive'):
        RecordingOptions(stamps='arrival')
