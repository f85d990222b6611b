# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Live against bag: what counts as equal, and what is said where it is not."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from synthetic_episodes import empty_episode, synthetic_episode, with_late_poses

from frame_ros.bags.findings import Level
from frame_ros.bags.streams.form import Stream
from frame_ros.core.time import SECOND
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.processing import recompute_as_live
from frame_ros.metrics.constants import VERSION
from frame_ros.reports import compare_live
from frame_ros.reports.html.tiles import tiles
from frame_ros.reports.model.episode_check import check_episode, problems_of
from frame_ros.reports.parity.comparison import BAR, relative_difference, restart_problems
from frame_ros.reports.parity.verdict import parity_verdict
from frame_ros.reports.report import Report, report_data


def without_last(stream: Stream, count: int) -> Stream:
    values = {name: column[:-count] for name, column in stream.values.items()}
    return Stream(
        stream.topic, stream.message_type, stream.stamps[:-count], stream.received[:-count], values
    )


def row(episode: Episode, kind: str, field: str):
    (found,) = [r for r in compare_live(episode) if (r.kind, r.field) == (kind, field)]
    return found


def test_relative_difference_by_hand():
    nan, inf = math.nan, math.inf
    a = np.array([1.0, 0.0, nan, nan, 2.0, -1.0, inf, 0.0])
    b = np.array([1.0, 0.0, nan, 1.0, 1.0, 1.0, inf, 1e-300])
    assert relative_difference(a, b).tolist() == [0, 0, 0, inf, 0.5, 2.0, 0, 1.0]


def test_equal_topics_agree_on_every_sample():
    episode = synthetic_episode(0)
    parity = compare_live(episode)
    rows = list(parity)
    steps = episode.summary['steps']
    assert all(r.holds and r.max_difference == 0 for r in rows)
    assert {r.compared for r in rows if r.kind == 'quality'} == {steps}
    assert {r.kind for r in rows} == {'quality', 'safety', 'efficiency', 'confidence'}
    verdict = parity_verdict([parity])
    assert verdict.holds is True
    assert 'came too late' not in verdict.text
    assert verdict.compared == sum(r.compared for r in rows)


def test_one_wrong_sample_is_found_and_measured():
    episode = synthetic_episode(0)
    values = episode.live['quality'].values['pl']
    values[100] *= 1 + 1e-6
    found = row(episode, 'quality', 'pl')
    assert (found.different, found.holds) == (1, False)
    assert math.isclose(found.max_difference, 1e-6, rel_tol=1e-3)
    assert row(episode, 'quality', 'ps').holds
    verdict = parity_verdict([compare_live(episode)])
    assert verdict.holds is False
    assert 'DISAGREE in 1 of' in verdict.text


def test_a_difference_below_the_bar_is_equal():
    episode = synthetic_episode(0)
    episode.live['quality'].values['pl'] *= 1 + 5e-10
    found = row(episode, 'quality', 'pl')
    assert found.holds
    assert 1e-10 < found.max_difference < 1e-9


def test_nan_on_one_side_only_is_different():
    episode = synthetic_episode(0)
    episode.live['safety'].values['op'][50] = math.nan
    found = row(episode, 'safety', 'op')
    assert (found.different, found.max_difference) == (1, math.inf)


def test_samples_of_one_side_only_are_counted_and_do_not_break_the_match():
    episode = synthetic_episode(0)
    episode.live['quality'] = without_last(episode.live['quality'], 5)
    episode.live['quality'].stamps[0] += 1
    found = row(episode, 'quality', 'pl')
    steps = episode.summary['steps']
    assert (found.compared, found.unmatched_live, found.unmatched_offline) == (steps - 6, 1, 6)
    assert found.holds


def test_a_live_node_that_was_started_again_is_compared_up_to_then():
    """As a launch file does with one that failed: it knows nothing of what was before."""
    episode = synthetic_episode(0)
    quality, place = episode.live['quality'], 100
    again = quality.stamps[place] + 1
    for stream in episode.live.values():
        is_of_second = stream.stamps >= again
        for values in stream.values.values():
            if values.dtype.kind == 'f':
                values[is_of_second] += 1.0
    quality.values['step'][place + 1 :] -= quality.values['step'][place + 1]
    episode.heard_since = {'pose': int(again), 'action': int(again)}
    parity = compare_live(episode)
    assert parity.steps == place + 1 and not any(row.differences for row in parity)
    assert row(episode, 'quality', 'pl').compared == place + 1
    (text,) = [str(problem) for problem in parity.problems]
    assert text.startswith('the live metrics node was started again: its values behind 3.')
    assert text in map(str, problems_of(episode)) and not parity.late_inputs
    other = synthetic_episode(0)
    assert not compare_live(other).problems


def test_a_clock_that_was_set_back_in_an_episode_is_no_other_node():
    """Its steps count on, while stamps of before and after mix."""
    episode = synthetic_episode(0)
    for stream in episode.live.values():
        stream.stamps[len(stream) // 2 :] -= round(1.013 * SECOND)
    assert not restart_problems(episode)


def test_samples_of_another_episode_are_left_out():
    episode = synthetic_episode(0)
    live = episode.live['quality']
    live.values['episode_id'][:10] = ''
    live.values['pl'][:10] = 99.0
    found = row(episode, 'quality', 'pl')
    assert found.holds
    assert found.unmatched_live == 0


def test_live_without_any_common_stamp_is_no_agreement():
    episode = synthetic_episode(0)
    for stream in episode.live.values():
        stream.stamps += 7
    verdict = parity_verdict([compare_live(episode)])
    assert verdict.holds is False
    assert verdict.compared == 0


def test_nothing_live_is_nothing_to_compare():
    verdict = parity_verdict([compare_live(empty_episode())])
    assert verdict.holds is None
    assert verdict.text.startswith('no live metrics')


def test_differences_after_an_expired_hold_that_was_not_explained_are_excluded():
    episode = synthetic_episode(0)
    values = episode.live['quality'].values
    values['hold_expired'] = values['hold_expired'] + (np.arange(len(values['pl'])) >= 200)
    values['pl'][210] += 1.0
    values['pl'][20] += 1.0
    found = row(episode, 'quality', 'pl')
    assert (found.different, found.excluded) == (1, 1)
    assert found.compared == 200
    assert 'that were not recorded cannot be judged' in parity_verdict([compare_live(episode)]).text


def test_lagging_steps_are_counted_within_the_episode():
    episode = synthetic_episode(0)
    episode.live['quality'].values['lagging'][[3, 8]] = 4
    assert compare_live(episode).lagging_steps == 2
    assert compare_live(empty_episode()).lagging_steps == 0


def test_before_a_late_stream_live_is_compared_with_what_the_report_shows():
    episode = with_late_poses(synthetic_episode(0), range(60, 90))
    parity, steps = compare_live(episode), episode.summary['steps']
    verdict = parity_verdict([parity])
    pl = row(episode, 'quality', 'pl')
    assert (pl.compared, pl.compared_as_live) == (60, steps - 60)
    assert verdict.holds is True
    assert verdict.max_difference_as_live <= BAR
    episode.metrics['quality']['pl'][30] *= 1.001
    assert row(episode, 'quality', 'pl').different == 1


def test_since_a_late_stream_live_is_compared_with_the_bag_without_it():
    episode = with_late_poses(synthetic_episode(0), range(60, 90))
    episode.live['quality'].values['ti'][100] *= 1.001
    found = row(episode, 'quality', 'ti')
    assert (found.different, found.different_as_live) == (0, 1)
    verdict = parity_verdict([compare_live(episode)])
    assert verdict.holds is False
    assert 'DISAGREE in 1 of' in verdict.text and '1 of' in verdict.text.split('from there on')[1]


def test_it_is_said_how_far_from_the_values_shown_live_ended():
    episode = with_late_poses(synthetic_episode(0, roughness=0.003), range(60, 90))
    live, shown = episode.live['quality'].values, episode.metrics['quality']
    off = relative_difference(live['pl'][-1:], shown['pl'][-1:])[0]
    assert off > 1e-3
    assert row(episode, 'quality', 'pl').final_difference == off
    assert math.isnan(row(episode, 'efficiency', 'il').final_difference)
    verdict = parity_verdict([compare_live(episode)])
    assert verdict.final_difference >= off
    steps = episode.summary['steps']
    assert f'; at 30 of {steps} steps a stream came too late to be used live' in verdict.text
    assert verdict.text.endswith(f'and the live {verdict.final_name} ended '
                                 f'{100 * verdict.final_difference:.2g} % off')  # fmt: skip
    (tile,) = [t for t in tiles(Report([episode])) if t.label == 'Live = bag']
    assert (tile.value, tile.tone) == (f'30 of {steps} steps late', '')
    assert tile.sub.endswith('% off')


def test_late_steps_at_the_end_leave_live_without_a_value():
    episode = synthetic_episode(0)
    steps = episode.summary['steps']
    with_late_poses(episode, range(steps - 3, steps))
    live = episode.live['safety'].values
    live['op'][-1] = math.nan
    verdict = parity_verdict([compare_live(episode)])
    assert verdict.final_unavailable >= 1
    assert 'unavailable at the end' in verdict.text


def test_late_steps_are_worth_knowing_and_no_doubt():
    episode = with_late_poses(synthetic_episode(0), range(60, 90))
    known = check_episode(episode).texts(Level.WORTH_KNOWING)
    assert sum('came too late to be used live' in text for text in known) == 1
    assert check_episode(episode).doubtful == []
    assert not any('too late' in f.text for f in check_episode(synthetic_episode(0)).findings)


@pytest.mark.parametrize(('name', 'text'), [('pl', 'lacks pl'), ('new', 'has the unknown new')])
def test_fields_of_another_version_are_worth_knowing(name: str, text: str):
    episode = synthetic_episode(0)
    values = episode.live['quality'].values
    if name in values:
        del values[name]
    else:
        values[name] = values['ti']
    check = check_episode(episode)
    (problem,) = problems_of(episode)
    assert '/quality_metrics' in problem and text in problem
    assert problem in check.texts(Level.WORTH_KNOWING)
    assert check.parity.problems == [problem]


def test_the_verdict_over_episodes_of_one_kind_counts_each_of_them():
    episodes = [synthetic_episode(seed, seconds=2.0) for seed in (0, 1)]
    for episode in episodes:
        episode.live = {'quality': episode.live['quality']}
        episode.live['quality'].stamps[0] += 1
    verdict = parity_verdict(compare_live(episode) for episode in episodes)
    assert (verdict.unmatched_live, verdict.unmatched_offline) == (2, 2)
    assert verdict.steps == sum(e.summary['steps'] for e in episodes)


def test_what_came_before_the_live_node_was_connected_is_no_disagreement():
    """The live node had its first proximity after 1.8 s; the recording has it from the start."""
    episode = synthetic_episode(0)
    start = min(event.stamp for event in episode.events)
    since = start + 1_800_000_000
    heard = replace(episode, heard_since={'proximity': since})
    late = recompute_as_live(heard)
    for kind, live in episode.live.items():
        for name in live.values.keys() & late[kind].keys():
            live.values[name] = late[kind][name]
    assert parity_verdict([compare_live(episode)]).holds is False  # not known: they disagree
    parity = compare_live(heard)
    assert parity_verdict([parity]).holds is True
    (said,) = parity.late_inputs
    assert 'proximity from 1.8 s on' in said


def heard_from(episode: Episode, role: str, since: int) -> Episode:
    """The episode as of a live node that was connected to a stream at `since` only."""
    heard = replace(episode, heard_since={role: since})
    for kind, values in recompute_as_live(heard).items():
        fields = {name: column for name, column in values.items() if name != 'stamp'}
        fields['episode_id'] = np.full(len(values['stamp']), episode.episode_id)
        live = heard.live[kind]
        heard.live[kind] = Stream(
            live.topic, live.message_type, values['stamp'], values['stamp'] + SECOND // 20, fields
        )
    return heard


def test_samples_that_live_could_not_make_shift_no_others():
    """Inferences before the live node's connection have a confidence in the report alone."""
    episode = synthetic_episode(0)
    stamps = np.sort(episode.streams['inference'].stamps)
    heard = heard_from(episode, 'inference', int(stamps[len(stamps) // 2]))
    live = len(heard.live['confidence'])
    assert 0 < live < len(episode.metrics['confidence']['stamp'])
    found = row(heard, 'confidence', 'sequence')
    assert (found.compared_as_live, found.unmatched_live) == (live, 0)
    assert found.unmatched_offline == len(episode.metrics['confidence']['stamp']) - live
    assert parity_verdict([compare_live(heard)]).holds is True
    heard.live['confidence'].values['sequence'][1] += 1
    assert row(heard, 'confidence', 'sequence').different_as_live == 1


def test_a_live_sample_that_the_node_could_not_have_made_differs():
    episode = synthetic_episode(0)
    stamps = np.sort(episode.streams['inference'].stamps)
    heard = replace(episode, heard_since={'inference': int(stamps[len(stamps) // 2])})
    impossible = np.count_nonzero(
        ~np.isin(episode.live['confidence'].stamps, recompute_as_live(heard)['confidence']['stamp'])
    )
    assert impossible > 0
    assert row(heard, 'confidence', 'sequence').different_as_live >= impossible


def test_a_true_disagreement_is_found_beside_what_came_late():
    episode = synthetic_episode(0)
    since = int(episode.streams['proximity'].stamps.min()) + 1_800_000_000
    heard = replace(episode, heard_since={'proximity': since})
    late = recompute_as_live(heard)
    for kind, live in episode.live.items():
        for name in live.values.keys() & late[kind].keys():
            live.values[name] = late[kind][name]
    heard.live['quality'].values['pl'][50] *= 1.01
    assert parity_verdict([compare_live(heard)]).different_as_live == 1


def with_definitions(episode: Episode, version: int | None) -> Episode:
    settings = json.loads(PipelineOptions.from_json(episode.attributes['metrics_config']).to_json())
    assert settings.pop('definitions') == VERSION
    if version is not None:
        settings['definitions'] = version
    return replace(
        episode, attributes={**episode.attributes, 'metrics_config': json.dumps(settings)}
    )


@pytest.mark.parametrize('recorded', [None, 1])
def test_what_means_something_else_since_is_not_compared_and_said(recorded):
    episode = with_definitions(synthetic_episode(0), recorded)
    for kind, field in (('safety', 'peak_force'), ('efficiency', 'control_rate_worst')):
        episode.live[kind].values[field] += 7.0
    parity = compare_live(episode)
    assert parity_verdict([parity]).holds is True
    assert not {'peak_force', 'control_rate_worst'} & {r.field for r in parity}
    check = check_episode(episode)
    (found,) = [f for f in check.findings if 'of the definitions' in f.text]
    assert found.level is Level.WORTH_KNOWING
    assert 'control_rate_worst, peak_force mean something else' in found.text
    data = report_data([episode])
    assert (data['definitions'], data['episodes'][0]['live_definitions']) == (VERSION, 1)


def test_the_same_definitions_are_compared_without_a_word():
    episode = with_definitions(synthetic_episode(0), VERSION)
    episode.live['safety'].values['peak_force'] += 7.0
    assert parity_verdict([compare_live(episode)]).holds is False
    assert not [f for f in check_episode(episode).findings if 'definitions' in f.text]


def test_newer_definitions_than_ours_are_doubtful():
    check = check_episode(with_definitions(synthetic_episode(0), VERSION + 1))
    (found,) = [f for f in check.findings if 'of the definitions' in f.text]
    assert found.level is Level.DOUBTFUL and 'update frame_ros' in found.text
