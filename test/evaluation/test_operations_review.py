# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streams of labels, the review of candidates as a CSV file, and kinds of failures."""

import csv
import math
from dataclasses import replace

import pytest
from gripper_traces import BEGIN, BIN, placement

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND
from frame_ros.evaluation.operations.failures import failure_counts
from frame_ros.evaluation.operations.label_streams import Labels, label_streams
from frame_ros.evaluation.operations.review import COLUMNS, key_of, read_review, write_review
from frame_ros.evaluation.operations.stream_outcomes import stream_outcomes
from frame_ros.evaluation.operations.zones import make_zone, read_zones
from frame_ros.evaluation.outcomes.episode_outcome import LabelSource
from frame_ros.evaluation.outcomes.operation import Ending, Operation


def disagreeing():
    """The detector finds one success; the operator counted two."""
    episode = placement(0.3)
    episode.attributes['successful_items'] = '2'
    return episode


def written(tmp_path, *episodes):
    path = tmp_path / 'review.csv'
    write_review(path, [(e, label_streams(e).detection.candidates) for e in episodes])
    return path


def edited(path, change):
    """Changes the rows, a list of column -> text, of a review."""
    with path.open(newline='') as file:
        rows = list(csv.DictReader(file))
    change(rows)
    with path.open('w', newline='') as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(rows)
    return path


def endings(operations):
    return [(round(each.end, 1), each.ending.value) for each in operations.operations]


def test_the_streams_of_labels_stay_apart(tmp_path):
    episode = disagreeing()
    before = label_streams(episode)
    assert endings(before.automatic) == [(4.0, 'success'), (6.0, 'timeout')]
    assert before.expected == 2 and before.has_agreed is False and before.reviewed is None
    assert before.chosen.label_source is LabelSource.DETECTED

    path = edited(written(tmp_path, episode), lambda rows: rows[0].update(reviewed='2'))
    after = label_streams(episode, read_review(path))
    assert endings(after.reviewed) == [(4.0, 'success'), (4.0, 'success'), (6.0, 'timeout')]
    assert endings(after.automatic) == endings(before.automatic)
    assert after.chosen.label_source is LabelSource.REVIEWED and after.chosen.agrees


def test_agreement_is_with_the_events_where_nobody_counted():
    episode = placement(0.3)
    assert label_streams(episode).expected == 0
    assert label_streams(episode).has_agreed is False
    episode.events[-1] = replace(episode.events[-1], outcome=Outcome.SUCCESS)
    assert label_streams(episode).has_agreed is True
    del episode.streams['joint_states']
    assert label_streams(episode).has_agreed is None


def test_outcomes_are_of_one_source_of_labels(tmp_path):
    one, other = disagreeing(), placement(0.3)
    one.attributes.update(policy='act', object='cube')
    path = edited(written(tmp_path, one), lambda rows: rows[0].update(reviewed='2'))
    streams = [label_streams(each, read_review(path)) for each in (one, other)]
    for each in streams[1:]:
        assert each.chosen.label_source is LabelSource.REVIEWED  # both are called e
    (found,) = stream_outcomes(streams[:1], Labels.DETECTED)
    assert (found.policy, found.object, found.successes) == ('act', 'cube', 1)
    assert found.label_source is LabelSource.DETECTED and found.operator_count == 2
    assert 'disagree with the 2 successes expected' in found.notes[-1]
    (found,) = stream_outcomes(streams[:1], Labels.REVIEWED)
    assert found.successes == 2 and found.label_source is LabelSource.REVIEWED
    assert not any('disagree' in note for note in found.notes)
    assert stream_outcomes([label_streams(one)], Labels.REVIEWED) == []


def test_all_driving_of_a_human_counts():
    episode = placement(0.3)
    episode.attributes['policy'] = 'human'
    stamps = (BEGIN, BEGIN + 6 * SECOND)
    episode.events[1:1] = [
        Event(stamp, kind, 'e')
        for stamp, kind in zip(stamps, (EventType.INTERVENTION_START, EventType.INTERVENTION_END))
    ]
    assert endings(label_streams(episode).automatic) == [(4.0, 'success'), (6.0, 'timeout')]
    episode.attributes['policy'] = 'act'
    assert endings(label_streams(episode).automatic)[0] == (0.0, 'safety_stop')


@pytest.mark.parametrize(
    ('entry', 'expected'),
    [
        ('success', ['success', 'timeout']),
        (' Failure ', ['drop', 'timeout']),
        ('neutral', ['timeout']),
        ('0', ['timeout']),
        ('3', ['success', 'success', 'success', 'timeout']),
    ],
)
def test_an_entry_of_the_reviewer(tmp_path, entry, expected):
    episode = disagreeing()
    path = edited(written(tmp_path, episode), lambda rows: rows[0].update(reviewed=entry))
    found = label_streams(episode, read_review(path)).reviewed
    assert [ending for _, ending in endings(found)] == expected


def test_rows_can_be_added_and_times_corrected(tmp_path):
    episode = disagreeing()

    def change(rows):
        rows[0].update(time='3.5')
        rows.append({'bag': 'e', 'episode': 'e', 'time': '1.5', 'reviewed': 'success'})

    path = edited(written(tmp_path, episode), change)
    found = label_streams(episode, read_review(path)).reviewed
    assert endings(found) == [(1.5, 'success'), (3.5, 'success'), (6.0, 'timeout')]


def test_a_label_after_the_end_is_noted(tmp_path):
    episode = disagreeing()
    path = edited(written(tmp_path, episode), lambda rows: rows[0].update(reviewed='1', time='99'))
    found = label_streams(episode, read_review(path)).reviewed
    assert endings(found) == [(6.0, 'success')]
    assert 'after its END' in found.notes[0]


def test_an_episode_without_an_entry_is_not_reviewed(tmp_path):
    episode = disagreeing()
    assert read_review(written(tmp_path, episode)) == {}


def test_an_episode_without_candidates_can_be_reviewed(tmp_path):
    episode = placement(0.0)
    path = written(tmp_path, episode)
    assert read_review(path) == {}
    edited(path, lambda rows: rows[0].update(reviewed='none'))
    assert endings(label_streams(episode, read_review(path)).reviewed) == [(6.0, 'timeout')]
    edited(path, lambda rows: rows[0].update(reviewed='success', time='2'))
    assert read_review(path)[key_of(episode)].endings == [(2.0, Ending.SUCCESS)]


@pytest.mark.parametrize(
    ('change', 'text'),
    [
        (lambda rows: rows[0].update(reviewed='maybe'), "line 2: reviewed is 'maybe'"),
        (lambda rows: rows[0].update(reviewed='-1'), "line 2: reviewed is '-1'"),
        (lambda rows: rows[0].update(reviewed='1', time='soon'), "line 2: time is 'soon'"),
        (lambda rows: rows[0].update(reviewed='1', time='nan'), "line 2: time is 'nan'"),
        (lambda rows: rows[0].update(reviewed='1', episode=''), 'line 2: bag and episode'),
        (lambda rows: rows[0].update(verdict='good'), "line 2: verdict is 'good'"),
        (
            lambda rows: rows.append(dict(rows[0], time='9')),
            'line 3: candidate 1 of e',
        ),
        (
            lambda rows: rows.append({'bag': 'e', 'episode': 'e', 'time': '2'}),
            'line 3: an added time without an entry',
        ),
        (
            lambda rows: rows.extend(
                [
                    dict(rows[0], candidate='2', verdict='unknown'),
                    dict(rows[0], candidate='3', reviewed='success'),
                ]
            ),
            'line 3: the verdict is unknown and nothing is in the column reviewed',
        ),
    ],
)
def test_an_edit_that_is_not_clear_is_refused_with_its_line(tmp_path, change, text):
    path = edited(written(tmp_path, disagreeing()), change)
    with pytest.raises(ValueRangeError, match=text.replace('(', '.')):
        read_review(path)


def test_files_that_are_no_review_are_refused(tmp_path):
    path = tmp_path / 'x.csv'
    with pytest.raises(SetupError, match='cannot be read'):
        read_review(path)
    path.write_text('bag,episode,time\n')
    with pytest.raises(ValueRangeError, match='the column verdict and reviewed once'):
        read_review(path)
    path.write_bytes(b'\xff\xfe\x00')
    with pytest.raises(SetupError, match='UTF-8'):
        read_review(path)
    two = [(placement(0.3), ()), (placement(0.3), ())]
    with pytest.raises(ValueRangeError, match='two bags called e'):
        write_review(tmp_path / 'y.csv', two)


def test_semicolons_and_a_byte_order_mark_are_read(tmp_path):
    path = edited(written(tmp_path, disagreeing()), lambda rows: rows[0].update(reviewed='2'))
    text = path.read_text().replace(',', ';')
    path.write_text('\ufeff' + text, encoding='utf-8')
    assert len(read_review(path)['e', 'e'].endings) == 2


def test_failures_by_their_kind():
    def made(*endings):
        return [Operation(0.0, 1.0, ending) for ending in endings]

    counts = failure_counts(
        [
            made(Ending.SUCCESS, Ending.DROP, Ending.TIMEOUT),
            made(Ending.SUCCESS, Ending.SAFETY_STOP),
            made(Ending.STOPPED),
            made(Ending.SUCCESS, Ending.FAILURE, Ending.TIMEOUT),
        ]
    )
    assert (counts.episodes, counts.operations, counts.successes) == (4, 6, 3)
    assert counts.drop_rate == counts.failure_rate == 1 / 6
    assert counts.safety_stop_rate == 0.25 and counts.timeout_rate == 0.5 and counts.stopped == 1
    assert math.isnan(failure_counts([]).drop_rate)


def test_zones_of_a_file(tmp_path):
    path = tmp_path / 'zones.yaml'
    path.write_text(
        'tote: {kind: target, box: [0.2, 0.2, 0.4, 0.4], height: [0.0, 0.2]}\n'
        'source: {polygon: [[0, 0], [1, 0], [0, 1]]}\n'
        'workspace: {circle: [0, 0, 0.8]}\n'
    )
    tote, source, workspace = read_zones(path)
    assert tote.holds([*BIN, 0.1]) and not tote.holds([*BIN, 0.3])
    assert source.holds((0.2, 0.2, 9.0)) and not source.holds((0.8, 0.8, 0.0))
    assert workspace.holds((0.5, 0.5, 0.0)) and not workspace.holds((0.6, 0.6, 0.0))
    assert not tote.holds([math.nan, 0.3, 0.1])


@pytest.mark.parametrize(
    ('fields', 'text'),
    [
        ({'kind': 'bin', 'box': [0, 0, 1, 1]}, "of kind 'bin'"),
        ({'kind': 'target'}, 'no shape'),
        ({'kind': 'target', 'box': [0, 0, 1, 1], 'circle': [0, 0, 1]}, 'one of box'),
        ({'kind': 'target', 'box': [0, 0, 1]}, '4 numbers'),
        ({'kind': 'target', 'box': [0, 0, 0, 1]}, 'flat'),
        ({'kind': 'target', 'circle': [0, 0, 0]}, 'positive radius'),
        ({'kind': 'target', 'polygon': [[0, 0], [1, 1]]}, 'three or more corners'),
        ({'kind': 'target', 'box': [0, 0, 1, 1], 'height': [1, 0]}, 'lower comes first'),
        ({'kind': 'target', 'boxes': [0, 0, 1, 1]}, 'expected: box'),
        ([0, 0, 1, 1], 'expected: box'),
    ],
)
def test_wrong_zones_are_refused(fields, text):
    with pytest.raises(SetupError, match=text):
        make_zone('z', fields)


def test_a_detector_that_found_nothing_leaves_the_outcome_of_END():
    episode = placement(0.3)
    episode.streams['joint_states'] = episode.streams['joint_states'].select(slice(0, 60))
    streams = label_streams(episode)
    assert streams.has_agreed and not any(each.event for each in streams.automatic.operations)
    assert streams.chosen.label_source is LabelSource.OUTCOME
