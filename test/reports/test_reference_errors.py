# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Errors against references in a report: the live ones again, aligned ones, DTW, and what is not
said of an episode that is its own reference.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
import pytest
from synthetic_episodes import synthetic_episode
from test_report_page import Page

from frame_ros.core.errors import ValueRangeError
from frame_ros.episodes.episode_errors import (
    ONLY_OWN,
    check_frames,
    episode_errors,
)
from frame_ros.episodes.processing import process_episode
from frame_ros.episodes.reference import Reference
from frame_ros.episodes.reference_loading import reference_of
from frame_ros.metrics.record import NO_REFERENCE
from frame_ros.reports import ReportOptions, build_report, report_data

AS_LIVE = ReportOptions()


def moved(reference: Reference, offset: tuple, turn: float = 0.0, name: str = 'moved') -> Reference:
    """The reference shifted (m) and turned about z (rad)."""
    rotation = np.array(
        [[math.cos(turn), -math.sin(turn), 0], [math.sin(turn), math.cos(turn), 0], [0, 0, 1]]
    )
    positions = np.array(reference.positions) @ rotation.T + np.array(offset)
    return Reference.from_arrays(reference.stamps, positions, name)


@pytest.fixture(scope='module')
def episode():
    """An episode whose references are itself shifted by 30 mm, and by 20 mm and turned."""
    found = synthetic_episode(0)
    own = reference_of(found)
    references = [moved(own, (0, 0.03, 0), name='far'), moved(own, (0.02, 0, 0), 0.0, 'near')]
    process_episode(found, references)
    return found


def test_matched_as_live_they_are_the_live_values(episode):
    errors, live = episode_errors(episode, AS_LIVE), episode.summary['quality']
    assert errors.ate == pytest.approx(0.02, abs=1e-9) == pytest.approx(live['ate'], abs=1e-9)
    assert errors.rte == pytest.approx(live['rte'], abs=1e-9)
    assert (errors.nearest, errors.origin) == (1, 'near') == (live['ate_reference'], 'near')
    samples = len(reference_of(episode).stamps)
    assert 0 < errors.dtw <= 0.02 * samples + 1e-9


def test_alignment_takes_the_shift_away(episode):
    errors = episode_errors(episode, ReportOptions(align='se3'))
    assert errors.ate < 1e-9 and errors.align == 'se3'
    by_way = episode_errors(episode, ReportOptions(match='arc_length'))
    assert by_way.match == 'arc_length' and by_way.ate == pytest.approx(0.02, abs=1e-9)


def test_an_episode_does_not_count_as_its_own_reference():
    episode = synthetic_episode(0)
    own = reference_of(episode)
    process_episode(episode, [own])
    alone = episode_errors(episode, AS_LIVE)
    assert alone.is_own and math.isnan(alone.ate) and alone.reason == ONLY_OWN
    process_episode(episode, [own, moved(own, (0, 0, 0.01))])
    errors = episode_errors(episode, AS_LIVE)
    assert errors.is_own and errors.nearest == 1 and errors.ate == pytest.approx(0.01, abs=1e-9)
    assert episode.summary['quality']['ate'] < 1e-9
    data = report_data([episode])
    assert data['metrics']['ate']['median'] == pytest.approx(0.01, abs=1e-9)
    assert data['references']['notes'][0].startswith('Episode 1: one of its references is')


def test_without_references_there_is_no_section_and_a_reason():
    episode = synthetic_episode(0)
    assert episode_errors(episode, AS_LIVE).reason == NO_REFERENCE.text
    data = report_data([episode])
    assert data['references'] is None
    assert data['metrics']['dtw']['reason'] == NO_REFERENCE.text
    assert 'Against references' not in Page(build_report([episode])).words


def test_report_names_references_and_how_they_were_matched(episode):
    data = report_data([episode])
    assert [r['origin'] for r in data['references']['references']] == ['far', 'near']
    assert data['references']['sentence'] == (
        'by time since the start, without alignment, '
        'rte of displacements in the common frame (FRAME, eq. 10)'
    )
    assert data['metrics']['dtw']['median'] == data['references']['episodes'][0]['dtw'] > 0
    page = Page(build_report([episode]))
    assert page.faults == []
    assert 'against the nearest of 2 references' in page.words and 'near' in page.words


def test_chosen_matching_and_alignment_are_those_of_the_tables(episode):
    live = report_data([episode])
    aligned = report_data([episode], ReportOptions(align='se3'))
    assert live['metrics']['ate']['median'] == episode.summary['quality']['ate']
    assert aligned['metrics']['ate']['median'] < 1e-9
    assert 'SE(3) alignment' in aligned['references']['sentence']
    with pytest.raises(ValueRangeError, match="'rigid'"):
        ReportOptions(align='rigid')
    with pytest.raises(ValueRangeError, match="'space'"):
        ReportOptions(match='space')


def test_without_the_library_dtw_is_unavailable_and_says_what_to_install(
    episode, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, 'dtaidistance', None)
    errors = episode_errors(episode, AS_LIVE)
    assert math.isnan(errors.dtw) and "pip install 'dtaidistance>=" in errors.dtw_reason
    assert errors.ate == pytest.approx(0.02, abs=1e-9)
    data = report_data([episode])
    assert data['episodes'][0]['metrics']['dtw']['value'] is None
    assert 'dtaidistance' in data['metrics']['dtw']['reason']


def test_a_reference_in_another_frame_is_refused():
    driven = Reference((0.0, 1.0), ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0)), 'driven', 'base_link')
    check_frames(driven, [replace(driven, frame=''), driven])
    check_frames(replace(driven, frame=''), [replace(driven, frame='world')])
    with pytest.raises(ValueRangeError, match=r"in 'world'; that of the TCP poses, 'base_link'"):
        check_frames(driven, [driven, replace(driven, frame='world')])
