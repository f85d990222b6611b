# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tables, figures' data and JSON behind the page, against numbers worked by hand."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from synthetic_episodes import BEGIN, empty_episode, synthetic_episode

from frame_ros.bags.findings import LEVEL_WORDS, Level
from frame_ros.bags.streams.form import Stream
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.calibration_parts import Provenance
from frame_ros.core.events import Outcome
from frame_ros.core.plain_text import counted
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.processing import process_episode
from frame_ros.episodes.topic_statistics import (
    EVENT_TYPES,
    fault_counts,
    stamp_statistics,
    topic_faults,
)
from frame_ros.metrics import REGISTRY, path_length, wilson_interval
from frame_ros.reports import report_data, report_json
from frame_ros.reports.html.media import VideoBudget, find_videos, still_times
from frame_ros.reports.html.page import build_report, facts_of
from frame_ros.reports.model.episode_check import FindingCounts, check_episode, quality_counts
from frame_ros.reports.model.metric_table import (
    MetricRow,
    SuccessCount,
    metric_rows,
    success_count,
    value_name,
)
from frame_ros.reports.model.numbers import json_safe, peak_indices, readable, readable_unit
from frame_ros.reports.model.rates import metric_rates, rate_of, sampling_sentence, stream_rates
from frame_ros.reports.model.series import contact_sensing, contact_spans, panels, path
from frame_ros.reports.model.verdict import answers, success_sentence
from frame_ros.reports.parity.verdict import difference_text, parity_verdict


def by_id(rows: list[MetricRow]) -> dict[str, MetricRow]:
    return {row.id: row for row in rows}


def _keep(stream: Stream, is_kept: np.ndarray) -> None:
    """Leaves the other messages out."""
    stream.stamps, stream.received = stream.stamps[is_kept], stream.received[is_kept]
    stream.values = {name: column[is_kept] for name, column in stream.values.items()}


def test_rate_of_a_stream_with_a_gap_and_bad_stamps():
    stamps = np.array([0, 100, 110, 120, 120, 115, 180, 190], dtype=np.int64) * 1_000_000
    rate = rate_of(stamps)
    assert rate.samples == 8
    assert rate.mean == pytest.approx(5 / 0.09)
    assert (rate.smallest_gap, rate.median_gap, rate.largest_gap) == (0.005, 0.01, 0.06)
    assert (rate.gaps, rate.backward, rate.duplicate, rate.zero) == (1, 1, 1, 1)


@pytest.mark.parametrize('stamps', [[], [5], [0, 0], [7, 7]])
def test_rate_without_two_different_stamps_is_not_a_number(stamps: list[int]):
    rate = rate_of(np.array(stamps, dtype=np.int64))
    assert math.isnan(rate.mean) and math.isnan(rate.largest_gap)


def test_streams_and_metrics_have_their_rates():
    episode = synthetic_episode(0)
    rates = {row.topic: row for row in stream_rates(episode)}
    assert rates['/ee_pose'].mean == pytest.approx(60, rel=0.01)
    assert rates['/ee_pose'].role == 'pose'
    seen = {row.sampled_at: row.rate for row in metric_rates(episode)}
    assert seen['control steps'].mean == pytest.approx(30, rel=0.01)
    assert seen['distances'].mean == pytest.approx(25, rel=0.01)


def test_rate_filter_and_gaps_stand_beside_the_metrics_of_differences():
    episode = synthetic_episode(0)
    (steps,) = [row for row in metric_rates(episode) if row.sampled_at == 'control steps']
    assert math.isnan(steps.cutoff) and steps.resets == 0
    text = sampling_sentence([episode])
    assert 'sampled at 30 Hz, on poses without a low-pass filter' in text
    assert text.endswith('gaps reset the differences no times.')
    filtered = synthetic_episode(1)
    filtered.summary['quality'].update(low_pass_cutoff=5.0, gaps=1)
    (steps,) = [row for row in metric_rates(filtered) if row.sampled_at == 'control steps']
    assert (steps.cutoff, steps.resets) == (5.0, 1)
    assert 'low-passed at 5 Hz (causal); gaps reset the differences 1 time.' in sampling_sentence(
        [filtered]
    )
    assert 'in part low-passed at 5 Hz' in sampling_sentence([episode, filtered])
    assert sampling_sentence([empty_episode()]) == ''
    assert report_data([filtered])['sampling'] == sampling_sentence([filtered])


def test_uncertainties_are_series_and_their_episode_value_is_the_mean():
    episode = synthetic_episode(0)
    count = len(episode.metrics['confidence']['stamp'])
    for name in ('tb_tp', 'tb_e', 'ev'):
        episode.metrics['confidence'][f'{name}_step'] = np.linspace(0.1, 0.5, count)
        episode.summary['confidence'][f'{name}_mean'] = 0.3
    rows = by_id(metric_rows([episode]))
    assert rows['tb_tp'].values == [0.3] and rows['tb_tp'].metric.aggregate == 'mean'
    assert rows['tb_d'].values == [None] and rows['tb_d'].reasons[0]
    shown = {panel.title: panel for panel in panels(episode) if not panel.is_empty}
    assert shown['Token entropy'].unit == 'nats'
    assert [s.is_empty for s in shown['Token uncertainty'].series] == [False, True, True]
    assert len(shown['Execution variability'].series[0].values) == count > 10


def test_metric_rows_hold_the_episodes_values():
    episodes = [synthetic_episode(0), synthetic_episode(1, roughness=0.003), empty_episode()]
    rows = by_id(metric_rows(episodes))
    assert list(rows) == list(REGISTRY)
    pl = rows['pl']
    assert pl.values[0] == episodes[0].summary['quality']['pl']
    assert pl.values[2] is None and pl.reasons[2]
    assert pl.median == pytest.approx(sum(pl.values[:2]) / 2)
    assert (pl.least, pl.greatest) == (min(pl.values[:2]), max(pl.values[:2]))
    speed = episodes[0].metrics['quality']['tcp_speed']
    assert rows['tcp_speed'].values[0] == pytest.approx(np.nanmean(speed))
    assert rows['tcp_pi'].values[0] == episodes[0].summary['quality']['tcp_pi_mean']
    assert rows['tb_e'].values == [None] * 3
    assert 'tokens' in rows['tb_e'].reasons[0]
    assert rows['sr'].values == [1.0, 1.0, None]


def test_static_episodes_show_their_values_and_stay_out_of_the_aggregates():
    episodes = [synthetic_episode(0), synthetic_episode(1)]
    episodes[1].summary['is_static'] = True
    rows = by_id(metric_rows(episodes))
    assert rows['ti'].values[1] is not None
    assert rows['ti'].known == [rows['ti'].values[0]]
    assert len(rows['il'].known) == 2
    left_out = {id for id, row in rows.items() if any(row.is_left_out)}
    assert {'ps', 'cc', 'tcp_ai', 'a_pi'} <= left_out
    assert not left_out & {'ate', 'rte', 'dtw', 'ot', 'pl', 'pose_age'}


def test_what_only_static_episodes_have_says_why_there_is_no_aggregate():
    episode = synthetic_episode(1)
    episode.summary['is_static'] = True
    row = by_id(metric_rows([episode]))['a_pi']
    assert row.median is None and row.values[0] is not None
    assert row.reason == 'static episode: not comparable, left out of the aggregates'


def test_without_poses_no_episode_is_called_static():
    """Its action instability counts: nobody knows that the arm stood still."""
    episode = synthetic_episode(1)
    episode.summary['is_static'] = True
    del episode.streams['pose']
    row = by_id(metric_rows([episode]))['a_pi']
    assert row.median == row.values[0] and row.reason == ''


def test_success_counts_timeouts_as_trials_and_unknown_as_none():
    outcomes = [Outcome.SUCCESS, Outcome.TIMEOUT, Outcome.STOPPED, Outcome.UNKNOWN]
    episodes = [empty_episode() for _ in outcomes]
    for episode, outcome in zip(episodes, outcomes):
        episode.summary['outcome'] = int(outcome)
    count = success_count(episodes)
    assert (count.successes, count.trials, count.unknown) == (1, 3, 1)
    assert count.interval == wilson_interval(1, 3)


@pytest.mark.parametrize(
    ('value', 'text'),
    [(None, '–'), (math.nan, '–'), (0.0, '0'), (1.23456, '1.235'), (123456.0, '123,456'),
     (0.00001234, '1.234 × 10⁻⁵'), (-2.5, '-2.5'), (9999.6, '10,000'), (12345.6, '12,346'),
     (math.inf, '∞')],
)  # fmt: skip
def test_numbers_for_people(value: float | None, text: str):
    assert readable(value) == text


def test_units_that_read_well():
    assert readable_unit([0.02, None], 's') == (1e3, 'ms')
    assert readable_unit([2.0, 0.02], 's') == (1.0, 's')
    assert readable_unit([5e8], 'bytes') == (1e-6, 'MB')
    assert readable_unit([1.0], 'm/s^3') == (1.0, 'm/s³')


@given(
    st.lists(st.floats(width=32) | st.just(math.nan), min_size=1, max_size=400), st.integers(4, 60)
)
def test_thinning_keeps_ends_peaks_and_order(values: list[float], points: int):
    array = np.array(values)
    kept = peak_indices(array, points)
    assert kept[0] == 0 and kept[-1] == len(array) - 1
    assert (np.diff(kept) > 0).all()
    assert len(kept) <= points + 2 or len(array) <= points
    known = array[~np.isnan(array)]
    if len(known):
        assert known.max() in array[kept] and known.min() in array[kept]


def test_contact_spans_are_split_at_collisions():
    spans = contact_spans(synthetic_episode(0, collides=True))
    assert [s.kind for s in spans] == ['contact', 'collision', 'contact']
    assert spans[0].begin == pytest.approx(0.36 * 8, abs=0.03)
    assert spans[0].end == spans[1].begin
    assert spans[2].end == pytest.approx(0.82 * 8, abs=0.03)


def test_contact_is_unknown_while_its_topic_is_silent():
    episode = synthetic_episode(0)
    contact = episode.streams['contact']
    time = (contact.stamps - BEGIN) / SECOND
    _keep(contact, (time < 4.0) | (time > 5.5))
    process_episode(episode)
    spans = contact_spans(episode)
    assert [s.kind for s in spans] == ['contact', 'unknown', 'contact']
    assert spans[0].end == spans[1].begin == pytest.approx(4.5, abs=0.06)
    assert spans[1].end == pytest.approx(5.5, abs=0.03)
    assert contact_sensing(episode).lost == pytest.approx(30, abs=2)
    assert len(path(episode).contacts) == 2
    found = answers([episode], metric_rows([episode]), parity_verdict([]), FindingCounts())
    sentences = [text for each in found for text in each.sentences]
    assert 'No collisions (not sensed all the time in 1).' in sentences


def test_contact_stays_unknown_to_the_end_where_its_topic_stopped():
    episode = synthetic_episode(0)
    contact = episode.streams['contact']
    _keep(contact, (contact.stamps - BEGIN) / SECOND < 4.0)
    process_episode(episode)
    *_, last = contact_spans(episode)
    assert last.kind == 'unknown' and last.end == 8.0
    assert contact_sensing(synthetic_episode(1)).lost == 0


def test_path_lies_between_start_and_end_and_is_as_long_as_the_poses():
    episode = synthetic_episode(0)
    drawn = path(episode)
    stamps = episode.streams['pose'].stamps
    inside = (stamps >= BEGIN) & (stamps <= BEGIN + 8 * SECOND)
    assert len(drawn.time) == np.count_nonzero(inside)
    expected = path_length(episode.streams['pose'].values['position'][inside])
    assert path_length(drawn.positions) == pytest.approx(expected)
    assert len(drawn.contacts) == 1


def test_counters_become_a_table():
    episode = empty_episode()
    episode.data_quality = {'pose.gap': 2, 'pose.zero': 0, 'action.gap': 1, 'odd': 4}
    check = check_episode(episode)
    counts = quality_counts(check.counts)
    table = {stream: dict(zip(counts.columns, row)) for stream, row in counts.rows.items()}
    assert table['pose'] == {'gap': 2, 'zero': 0, 'odd': None}
    assert table['episode']['odd'] == 4
    assert counts.total == 7
    known = check.texts(Level.WORTH_KNOWING)
    assert [text.partition(' (')[0] for text in known] == ['pose.gap: 2', 'action.gap: 1']
    assert 'odd: 4' in check.doubtful
    assert not any('pose.zero' in finding.text for finding in check.findings)


def test_every_topic_has_its_bad_stamps_and_gaps_counted():
    episode = synthetic_episode(0)
    assert topic_faults(episode, None).counts == {}
    stamps = (np.arange(400) * SECOND // 50) + BEGIN
    stamps[[20, 21]] = stamps[[21, 20]]
    stamps[30] = stamps[29]
    received, stamps[40] = stamps + 1000, 0
    wrench = Stream('/wrench', 'geometry_msgs/msg/WrenchStamped', stamps, received, {})
    _keep(wrench, (np.arange(400) < 100) | (np.arange(400) > 140))
    episode.streams['joint_states'] = wrench
    check = check_episode(episode)
    found = {name: count for name, count in check.counts.items() if name.startswith('wrench')}
    assert found == {'wrench.gap': 1, 'wrench.backward': 1, 'wrench.duplicate': 1,
                     'wrench.zero': 1}  # fmt: skip
    assert any(text.startswith('wrench.zero: 1') for text in check.texts(Level.COUNTING))
    (data,) = report_data([episode])['episodes']
    assert data['data_quality']['wrench.gap'] == 1


def test_a_topic_that_stopped_is_told_and_rare_ones_are_not():
    episode = synthetic_episode(0)
    random = np.random.default_rng(0)
    for name, times in {
        'camera': np.arange(36) / 30,
        'slow': np.arange(6) * 1.0,
        'latched': np.array([0.1]),
        'bursts': np.sort(np.concatenate([random.uniform(0, 0.01, 9), [1.0, 2.0, 3.0, 4.0]])),
    }.items():
        stamps = BEGIN + (times * SECOND).astype(np.int64)
        episode.live[name] = Stream(f'/{name}', '', stamps, stamps, {})
    assert topic_faults(episode, None).stopped == {'camera': pytest.approx(8 - 35 / 30)}
    for name in ('camera', 'slow', 'latched', 'bursts'):
        episode.streams[name] = episode.live.pop(name)
    (data,) = report_data([episode])['episodes']
    assert {
        'level': 'worth knowing',
        'text': 'camera stopped 6.8 s before the end',
        'about': 'camera',
    } in data['findings']
    assert list(data['stopped']) == ['camera']


def test_what_the_pipeline_has_counted_is_not_counted_twice():
    episode = synthetic_episode(0)
    pose = episode.streams['pose']
    time = (pose.stamps - BEGIN) / SECOND
    _keep(pose, (time < 4.0) | (time > 5.0))
    process_episode(episode)
    check = check_episode(episode)
    assert check.counts['pose.gap'] == 1
    assert 'ee_pose.gap' not in check.counts
    text = 'nothing on ee_pose for 1 of 8 s: what the pose was meanwhile is not known'
    assert text in check.doubtful


def test_a_short_pause_is_worth_knowing_only():
    episode = synthetic_episode(0)
    pose = episode.streams['pose']
    time = (pose.stamps - BEGIN) / SECOND
    _keep(pose, (time < 4.0) | (time > 4.6))
    episode.live = {}
    process_episode(episode)
    check = check_episode(episode)
    assert check.doubtful == []
    assert any(text.startswith('pose.gap: 1') for text in check.texts(Level.WORTH_KNOWING))


def test_bags_that_could_not_be_read_are_no_episodes():
    bad = Episode(Path('/runs/bad'), 'bad', {}, [], {}, {}, problems=['bad: not an MCAP file'])
    data = report_data([synthetic_episode(0), bad])
    assert len(data['episodes']) == 1
    assert data['success']['trials'] == 1 and data['success']['unknown'] == 0
    assert data['unreadable'] == [{'bag': 'bad', 'reason': 'bad: not an MCAP file'}]
    assert '1 bag could not be read: bad (bad: not an MCAP file).' in data['verdict']
    assert report_data([bad])['verdict'][0] == 'No episodes.'


def test_one_is_singular():
    assert success_sentence(SuccessCount(1, 1, 0)).startswith('1 of 1 episode succeeded')
    assert '(1 episode)' in success_sentence(SuccessCount(0, 0, 1))
    assert '(2 episodes)' in success_sentence(SuccessCount(0, 0, 2))
    assert counted(1, 'step') == '1 step' and counted(2000, 'step') == '2,000 steps'


def test_pictures_are_evenly_spaced_with_the_first_moments():
    times = still_times(0, 50, {'contact': [23, 12], 'success': [], 'collision': [40]})
    assert times == [(0, ''), (10, ''), (12, 'contact'), (20, ''), (30, ''), (40, ''),
                     (40, 'collision'), (50, '')]  # fmt: skip


def test_videos_of_a_bag_and_no_others(tmp_path: Path):
    bag = tmp_path / 'run_1'
    bag.mkdir()
    for name in ('run_1.mp4', 'run_10.mp4', 'run_1_wrist.mp4', 'run_1/inside.mp4'):
        (tmp_path / name).write_bytes(b'12345')
    names = [video.name for video in find_videos(bag)]
    assert names == ['inside.mp4', 'run_1.mp4', 'run_1_wrist.mp4']
    budget = VideoBudget(most=7)
    assert [bool(budget.take(v).data) for v in find_videos(bag)] == [True, False, False]


def test_json_is_valid_and_null_where_unavailable():
    def refuse(constant: str) -> None:
        raise AssertionError(f'{constant} is not JSON')

    episodes = [synthetic_episode(0), empty_episode(is_truncated=True)]
    data = json.loads(report_json(episodes), parse_constant=refuse)
    first, second = data['episodes']
    assert first['metrics']['pl']['value'] == episodes[0].summary['quality']['pl']
    assert first['metrics']['tb_e']['value'] is None and first['metrics']['tb_e']['reason']
    assert first['parity']['holds'] is True
    assert first['parity']['rows'][0]['compared'] == episodes[0].summary['steps']
    assert second['is_truncated'] is True and second['parity']['holds'] is None
    assert data['success'] == {'successes': 1, 'trials': 1, 'unknown': 1, 'rate': 1.0,
                               'interval': list(wilson_interval(1, 1))}  # fmt: skip
    assert data['metrics']['ti']['median'] == episodes[0].summary['quality']['ti']


def test_json_of_no_episodes():
    data = report_data([])
    assert data['episodes'] == []
    assert data['success']['rate'] is None


def test_json_safe_of_odd_values():
    given_ = {1: np.float32('nan'), 'a': np.array([1.0, np.inf]), 'b': (np.bool_(True), Path('/x'))}
    assert json_safe(given_) == {'1': None, 'a': [1.0, None], 'b': [True, '/x']}


def test_differences_are_said_in_words():
    assert difference_text(0.0) == 'no difference at all'
    assert difference_text(np.inf) == 'some have a value on one side only'
    assert difference_text(3.4e-9) == 'largest relative difference 3.4 × 10⁻⁹'


def test_unavailable_values_have_names_and_share_their_reason():
    assert value_name('il_forward') == 'latency of the forward pass, mean'
    assert value_name('tb_tp_step').endswith(', newest step')
    assert value_name('tb_tp_mean').endswith(', mean over the episode')
    episode = synthetic_episode(0)
    episode.summary['unavailable'] = ['tb_tp: no tokens', 'tb_pcs: no tokens', 'ate: none given']
    page = build_report([episode])
    names = [f'{value_name(name)} <code>{name}</code>' for name in ('tb_tp', 'tb_pcs')]
    assert f'<li>no tokens: {", ".join(names)}</li>' in page


@pytest.mark.parametrize('kind', ['EpisodeEvent', 'ContactEvent', 'GateIntervention'])
def test_events_have_no_rhythm_and_two_at_one_moment_are_no_repetition(kind):
    stamps = BEGIN + np.array([0, 1, 2, 3, 3, 4, 5]) * SECOND // 2
    found = stamp_statistics(stamps, stamps, begin=BEGIN, end=BEGIN + 8 * SECOND)
    assert found.is_regular and found.is_stopped and found.duplicate == 1
    assert f'frame_ros/msg/{kind}' in EVENT_TYPES
    assert not any(fault_counts(found, '', is_events=True).values())
    assert fault_counts(found, '', is_events=False)['duplicate'] == 1


def test_a_report_names_the_calibration_of_the_scores():
    origin = Provenance(policy='act', successes=20, failures=1, newest='2026-03-01')
    settings = PipelineOptions(calibration=CalibrationFile(provenance=origin))
    attributes = {'metrics_config': settings.to_json()}
    made = Episode(Path('bag'), 'e1', attributes, [], {}, {})
    shown = dict(facts_of(made))
    assert shown['calibration'] == 'act, 20 successes, 1 failure, the newest of 2026-03-01'
    without = replace(made, attributes={'metrics_config': PipelineOptions().to_json()})
    assert 'calibration' not in dict(facts_of(without))


@pytest.mark.parametrize(('steps', 'level'), [(2, 'worth knowing'), (100, 'doubtful')])
def test_few_steps_without_the_difference_to_the_target_make_nothing_doubtful(steps, level):
    episode = synthetic_episode(0)
    assert episode.steps > 200
    episode.data_quality['ot.unavailable'] = steps
    (found,) = [f for f in check_episode(episode).findings if f.about == 'ot.unavailable']
    assert LEVEL_WORDS[found.level] == level
