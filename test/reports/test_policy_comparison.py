# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Policies of a report side by side: groups, fingerprint, radar figure, table."""

from __future__ import annotations

import json
from statistics import median

import pytest
from synthetic_episodes import empty_episode, synthetic_episode
from test_report_page import Page

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.events import Outcome
from frame_ros.metrics import polygon_area
from frame_ros.reports import ReportOptions, build_report, report_data, report_json
from frame_ros.reports.model.metric_table import metric_rows
from frame_ros.reports.sections.fingerprint import ALONE, COLOURS, FingerprintSection, policy_groups
from frame_ros.reports.sections.section import Basis


def two_policies():
    return [
        synthetic_episode(0, quality='1'),
        synthetic_episode(1, quality='1'),
        synthetic_episode(2, Outcome.TIMEOUT, roughness=0.004, collides=True, quality='0.2'),
    ]


@pytest.fixture(scope='module')
def data():
    return report_data(two_policies())['fingerprint']


def test_groups_are_policy_checkpoint_and_quality():
    episodes = [
        synthetic_episode(0, policy='act', checkpoint='/a/last'),
        synthetic_episode(1, policy='act', checkpoint='/b/last'),
        synthetic_episode(2, policy='act', checkpoint='/a/last'),
        synthetic_episode(3, policy='scripted', quality='0.5'),
        empty_episode(),
    ]
    groups = policy_groups(episodes)
    assert [g.label for g in groups] == [
        'act, /a/last', 'act, /b/last', 'scripted, quality 0.5', 'unnamed policy'
    ]  # fmt: skip
    assert [g.places for g in groups] == [(0, 2), (1,), (3,), (4,)]
    episodes[1].attributes['checkpoint'] = '/b/best'
    assert [g.label for g in policy_groups(episodes)[:2]] == ['act, last', 'act, best']


def test_values_are_medians_and_shares_are_ratios_to_the_best(data):
    episodes = two_policies()
    rows = {row.id: row for row in metric_rows(episodes)}
    good, bad = data['policies']
    assert good['values']['pl'] == median(rows['pl'].values[:2])
    assert bad['values']['ps'] == rows['ps'].values[2]
    assert good['values']['sr'] == 1 and bad['values']['sr'] == 0
    assert bad['shares']['ps'] == pytest.approx(good['values']['ps'] / bad['values']['ps'])
    assert bad['shares']['sr'] == 0 and good['shares']['sr'] == 1
    assert good['success']['interval'] == pytest.approx([0.342, 1.0], abs=1e-3)


def test_area_range_and_mean_are_over_the_axes_that_all_have(data):
    axes = data['common_axes']
    assert {'sr', 'pl', 'ps', 'cc', 'il', 'mu', 'cr', 'op', 'rf'} == set(axes)
    for policy in data['policies']:
        radii = [policy['shares'][axis] for axis in axes]
        assert policy['area'] == pytest.approx(float(polygon_area(radii)))
        low, high = policy['area_range']
        assert low <= policy['area'] + 1e-12 and policy['area'] <= high + 1e-12
        assert policy['mean'] == pytest.approx(sum(radii) / len(radii))


def test_a_single_policy_is_not_shown_beside_itself():
    page = Page(build_report([synthetic_episode(0), synthetic_episode(1)]))
    assert 'Policies compared' not in page.words and page.faults == []
    assert 'radar' not in [figure['kind'] for figure in page.figures]
    assert report_data([synthetic_episode(0)])['fingerprint']['remark'] == ALONE


def test_the_page_draws_one_polygon_for_each_policy_with_raw_values():
    page = Page(build_report(two_policies()))
    (radar,) = [figure for figure in page.figures if figure['kind'] == 'radar']
    assert page.faults == [] and len(radar['data']) == 2
    good = radar['data'][0]
    assert (
        good['r'][0] == good['r'][-1]
        and good['theta'][0] == good['theta'][-1] == 'success rate sr ↑'
    )
    assert len(good['r']) == len(good['customdata']) == 10
    assert good['customdata'][good['theta'].index('memory usage mu ↓')] == '520 MB'
    assert '2 of 2 succeeded (34–100\u00a0%)' in good['name']
    assert good['line']['dash'] != radar['data'][1]['line']['dash']
    assert 'it changes with their order though no policy changes' in page.words
    assert '0 of 1 succeeded (0–79 %)' in page.words


def test_labels_of_bags_stay_text():
    episodes = two_policies()
    episodes[2].attributes['policy'] = '<b>\'"</b><img src=x>'
    page = Page(build_report(episodes))
    (radar,) = [figure for figure in page.figures if figure['kind'] == 'radar']
    assert page.faults == [] and page.all('img') == []
    assert not any('<img' in trace['name'] + trace['hovertemplate'] for trace in radar['data'])


def test_axes_can_be_chosen_and_are_checked():
    episodes = two_policies()
    options = ReportOptions(axes=('ti', 'sr', 'pl', 'ate'))
    found = report_data(episodes, options)['fingerprint']
    assert [axis['id'] for axis in found['axes']] == ['ti', 'sr', 'pl', 'ate']
    assert found['common_axes'] == ['ti', 'sr', 'pl']
    assert found['policies'][0]['reasons'] == {'ate': 'no policy has a value'}
    with pytest.raises(ValueRangeError, match='axes is .*control_rate.*better direction'):
        ReportOptions(axes=('control_rate',))
    with pytest.raises(ValueRangeError, match="'speed'"):
        ReportOptions(axes=('speed',))
    few = report_data(episodes, ReportOptions(axes=('sr', 'pl')))['fingerprint']
    assert 'Fewer than three axes' in few['remark'] and few['policies'][0]['area'] is None
    json.loads(report_json(episodes, ReportOptions(axes=('sr', 'pl'))))


def test_static_episodes_are_left_out_of_a_groups_values_and_told():
    episodes = two_policies()
    episodes[1].summary['is_static'] = True
    good = report_data(episodes)['fingerprint']['policies'][0]
    rows = {row.id: row for row in metric_rows(episodes)}
    assert good['static'] == 1 and good['values']['ps'] == rows['ps'].values[0]
    assert good['values']['pl'] == median(rows['pl'].values[:2])
    assert '1 static episode' in Page(build_report(episodes)).words


def test_an_axis_that_cannot_be_normalised_is_named():
    episodes = two_policies()
    for episode in episodes:
        episode.summary['outcome'] = int(Outcome.FAILURE)
        episode.summary['safety']['op'] = -0.01
    page = Page(build_report(episodes))
    assert 'Left out: sr: every policy has 0' in page.words
    assert 'op: a value is negative' in page.words


def test_more_policies_than_colours_are_in_the_table_only():
    episodes = [synthetic_episode(n, seconds=2.0, quality=str(n)) for n in range(8)]
    basis = Basis(episodes, metric_rows(episodes), [], ReportOptions())
    figure = FingerprintSection(basis).figure
    assert len(figure['data']) == len(COLOURS)
    words = Page(build_report(episodes)).words
    assert 'The last 2 of the policies are in the table only.' in words
    assert 'scripted, quality 7' in words
