# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Labels, groups, correlations and effects of a study, against SciPy and by hand."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from frame_ros.core.errors import SetupError, ShapeError, ValueRangeError
from frame_ros.core.events import Outcome
from frame_ros.core.options import evolved
from frame_ros.episodes.episode import Episode
from frame_ros.evaluation.discrimination.groups import grouped, matched
from frame_ros.evaluation.discrimination.labels import (
    Level,
    Rating,
    agreements,
    consensus,
    read_labels,
)
from frame_ros.evaluation.discrimination.options import StudyOptions
from frame_ros.evaluation.discrimination.study import (
    discrimination_study,
    magnitude_of,
    strength_of,
)
from frame_ros.reports.discrimination_page import headline

NAN = math.nan
SUCCESS, FAILURE, TIMEOUT, UNKNOWN = (
    Outcome.SUCCESS, Outcome.FAILURE, Outcome.TIMEOUT, Outcome.UNKNOWN,
)  # fmt: skip


def labels_file(folder: Path, text: str) -> Path:
    path = folder / 'labels.csv'
    path.write_text(text)
    return path


def episode(name, outcome=SUCCESS, policy='act', task='pick', is_static=False, **values) -> Episode:
    """Of `jerk`, `instability` and `distance`."""
    quality = {'ti': values.get('jerk', NAN), 'a_pi_mean': values.get('instability', NAN)}
    summary = {
        'outcome': int(outcome), 'is_static': is_static, 'quality': quality,
        'safety': {'op': values.get('distance', NAN)},
    }  # fmt: skip
    attributes = {'policy': policy, 'instruction': task}
    streams = {'pose': None} if is_static else {}
    return Episode(Path('runs') / f'{name}.bag', name, attributes, [], streams, {}, {}, summary)


def rated(name: str, level: Level, rater: str = '') -> Rating:
    return Rating(name, rater, level, 2)


def groups_of(episodes, ratings):
    by_place, remarks = matched(episodes, ratings)
    return grouped(episodes, by_place), remarks


def test_a_file_of_labels(tmp_path: Path):
    rows = ['e1,High,ann,fine', 'e2, 3 ,ann,', 'e3,,ann,', 'e1,medium,bo,', '']
    text = '\n'.join(['\ufeffepisode, label, rater, note', *rows])
    found = read_labels(labels_file(tmp_path, text))
    assert [(r.episode, r.rater, r.level, r.line) for r in found] == [
        ('e1', 'ann', Level.HIGH, 2),
        ('e2', 'ann', Level.LOW, 3),
        ('e1', 'bo', Level.MEDIUM, 5),
    ]


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('', 'lacks the column episode and label.*it is: empty'),
        ('bag,label\ne1,high\n', 'lacks the column episode'),
        ('episode,label\n', 'holds no label'),
        ('episode,label\ne1,hihg\n', "line 2: the label is 'hihg'.*did you mean high"),
        ('episode,label\n,high\n', 'line 2: a label without an episode'),
        (
            'episode,label\ne1,high\ne1,low\n',
            'lines 2 and 3: the one rater labels .* high and low',
        ),
        ('episode,label,rater\ne1,high,ann\ne1,low,ann\n', "rater 'ann' labels"),
        ('episode,label\ne1,high,ann\n', 'line 2: 3 values, but the first line names 2 columns'),
        ('episode,label,raters\ne1,high,ann\n', "column 'raters'; did you mean rater"),
        ('episode,label,label\ne1,high,low\n', '2 columns label'),
        (
            'episode,label,rater\ne1,high,ann\ne2,low,\n',
            "line 3: a label without a rater, while line 2 names 'ann'",
        ),
    ],
)
def test_bad_labels_are_named(tmp_path: Path, text: str, words: str):
    with pytest.raises(ValueRangeError, match=words):
        read_labels(labels_file(tmp_path, text))


@pytest.mark.parametrize(
    'text',
    [
        'Episode,LABEL,Rater\ne1,high,ann\ne1,low,bo\n',
        'episode;label;rater;note\ne1;high;ann;well, nearly\ne1;low;bo;\n',
        'episode\tlabel\trater\ne1\thigh\tann\ne1\tlow\tbo\n',
        'episode,label,rater,date,\ne1,high,ann,monday,,\ne1,low,bo,friday,,\n',
    ],
)
def test_labels_as_spreadsheets_write_them(tmp_path: Path, text: str):
    found = read_labels(labels_file(tmp_path, text))
    assert [(r.rater, r.level) for r in found] == [('ann', Level.HIGH), ('bo', Level.LOW)]


def test_labels_of_a_column_of_floats(tmp_path: Path):
    found = read_labels(labels_file(tmp_path, 'episode,label\ne1,1.0\ne2,\ne3,3.0\n'))
    assert [(rating.episode, rating.level) for rating in found] == [
        ('e1', Level.HIGH),
        ('e3', Level.LOW),
    ]


def test_a_file_that_cannot_be_read(tmp_path: Path):
    with pytest.raises(SetupError, match='nowhere.csv'):
        read_labels(tmp_path / 'nowhere.csv')
    (tmp_path / 'labels.csv').write_bytes(b'episode,label\n\xff,high\n')
    with pytest.raises(SetupError, match='utf-8.*save the file as UTF-8'):
        read_labels(tmp_path / 'labels.csv')
    (tmp_path / 'labels.csv').write_bytes('episode,label\ne1,high\n'.encode('utf-16'))
    with pytest.raises(SetupError, match='save the file as UTF-8'):
        read_labels(tmp_path / 'labels.csv')


def test_a_label_needs_a_majority():
    high, low = rated('e', Level.HIGH, 'a'), rated('e', Level.LOW, 'b')
    assert consensus([high]) is Level.HIGH
    assert consensus([high, low]) is None
    assert consensus([high, low, rated('e', Level.LOW, 'c')]) is Level.LOW


def test_raters_are_compared_on_common_episodes():
    first = [rated(f'e{i}', level, 'a') for i, level in enumerate((1, 1, 2, 3, 3))]
    second = [rated(f'e{i}', level, 'b') for i, level in enumerate((1, 2, 2, 3))]
    (found,) = agreements([*first, *second])
    assert (found.first, found.second, found.episodes, found.same) == ('a', 'b', 4, 0.75)
    # 3 of 4 seen; by chance 2/4 * 1/4 + 1/4 * 2/4 + 1/4 * 1/4 = 5/16.
    assert found.kappa == pytest.approx((0.75 - 5 / 16) / (1 - 5 / 16))


def test_episodes_go_where_outcome_and_labels_say():
    given = [
        ('good', SUCCESS, [Level.HIGH]), ('poor', SUCCESS, [Level.LOW]),
        ('failed', FAILURE, []), ('late', TIMEOUT, []), ('seen', UNKNOWN, [Level.FAILED]),
        ('unseen', UNKNOWN, []), ('unlabelled', SUCCESS, []), ('odd', SUCCESS, [Level.FAILED]),
        ('strange', FAILURE, [Level.HIGH]), ('split', SUCCESS, [Level.HIGH, Level.LOW]),
        ('out', SUCCESS, [Level.EXCLUDED]), ('known', UNKNOWN, [Level.MEDIUM]),
    ]  # fmt: skip
    episodes = [episode(name, outcome) for name, outcome, _ in given]
    ratings = [rated(n, level, str(i)) for n, _, found in given for i, level in enumerate(found)]
    (group,), remarks = groups_of(episodes, [*ratings, rated('lost', Level.HIGH)])
    assert group.levels == {Level.HIGH: [0], Level.MEDIUM: [11], Level.LOW: [1]}
    assert group.failures == [2, 3, 4] and group.unlabelled == [6]
    assert {reason: len(places) for reason, places in group.left_out.items()} == {
        'neither a label nor an outcome': 1,
        'recorded as a success, labelled failed': 1,
        'recorded as a failure, labelled as a success': 1,
        'the raters do not agree, and no label has a majority': 1,
        'excluded by the raters': 1,
    }
    assert group.episodes == len(episodes)
    assert remarks == ['labelled, but not among the bags: lost']


def test_labels_name_an_episode_by_id_or_bag():
    for name in ('e1', 'e1.bag', 'runs/e1.bag', 'runs/e1.bag/'):
        (group,), _ = groups_of([episode('e1'), episode('e2')], [rated(name, Level.HIGH)])
        assert group.levels[Level.HIGH] == [0]
    with pytest.raises(ValueRangeError, match="names 'e1', which are 2 episodes"):
        groups_of([episode('e1'), episode('e1')], [rated('e1', Level.HIGH)])
    with pytest.raises(ValueRangeError, match=r'labelled episodes \(x\) is among the 1'):
        groups_of([episode('e1')], [rated('x', Level.HIGH)])


def test_labels_name_an_episode_by_any_path_of_its_bag():
    for name in ('./runs/e1.bag', str(Path('runs/e1.bag').absolute()), 'runs/../runs/e1.bag/'):
        (group,), _ = groups_of([episode('e1'), episode('e2')], [rated(name, Level.HIGH)])
        assert group.levels[Level.HIGH] == [0]
    with pytest.raises(ValueRangeError, match='none of the labelled'):
        groups_of([episode('e1')], [rated('runs/\0', Level.HIGH)])


def test_a_rater_counts_once_under_all_names_of_an_episode():
    high, low = rated('e1', Level.HIGH, 'a'), rated('e1', Level.LOW, 'b')
    (group,), _ = groups_of([episode('e1')], [high, low, rated('e1.bag', Level.LOW, 'b')])
    assert not group.labelled
    with pytest.raises(ValueRangeError, match="as 'e1' and as 'e1.bag', high and low by the same"):
        groups_of([episode('e1')], [high, rated('e1.bag', Level.LOW, 'a')])


def test_raters_agree_on_an_episode_that_they_name_differently():
    episodes = [episode(f'e{i}', jerk=float(i)) for i in range(4)]
    ratings = [rated(f'e{i}', Level(1 + i % 3), 'a') for i in range(4)]
    ratings += [rated(f'e{i}.bag', Level(1 + i % 3), 'b') for i in range(4)]
    gone = [rated('gone', Level.HIGH, 'a'), rated('gone', Level.LOW, 'b')]
    (found,) = discrimination_study(episodes, [*ratings, *gone]).agreements
    assert (found.episodes, found.same) == (4, 1.0)


def test_two_episodes_of_a_bag_are_named_by_their_ids():
    first, second = (
        Episode(Path('runs/b'), name, {}, [], {}, {}, {}, {'outcome': 1}) for name in ('x', 'y')
    )
    (group,), _ = groups_of([first, second], [rated('y', Level.LOW)])
    assert group.levels[Level.LOW] == [1]
    with pytest.raises(ValueRangeError, match="of the bag runs/b; use their ids, such as 'x' and"):
        groups_of([first, second], [rated('b', Level.HIGH)])
    with pytest.raises(ValueRangeError, match='with one id: no label can name only one of them'):
        groups_of([first, first], [rated('x', Level.HIGH)])


def made_study(options: StudyOptions | None = None, seed: int = 0):
    """Two policies: the jerk of the first grows with the label, that of the second does not."""
    rng = np.random.default_rng(seed)
    episodes, ratings = [], []
    for policy, slope in (('act', 1.0), ('pi0', 0.0)):
        for i in range(30):
            name, level = f'{policy}{i}', 1 + i % 3
            jerk = 1.0 + slope * level + rng.normal(0, 0.6)
            episodes.append(episode(name, policy=policy, jerk=jerk, distance=rng.random()))
            ratings.append(rated(name, Level(level)))
        for i in range(15):
            jerk = 4.5 + rng.normal(0, 0.6)
            failed = episode(f'{policy}-bad{i}', FAILURE, policy, jerk=jerk, distance=rng.random())
            episodes.append(failed)
    return discrimination_study(episodes, ratings, options), episodes, ratings


def test_correlations_and_effects_equal_scipy():
    study, episodes, ratings = made_study()
    assert study.metrics == ['ti', 'op'] and [g.policy for g in study.groups] == ['act', 'pi0']
    labels = {rating.episode: int(rating.level) for rating in ratings}
    for row in study.correlations:
        policy = study.groups[row.group].policy
        own = [e for e in episodes if e.attributes['policy'] == policy and e.episode_id in labels]
        found = stats.spearmanr(
            [e.value(row.metric) for e in own], [labels[e.episode_id] for e in own]
        )
        assert (row.rho, row.p) == pytest.approx((found.statistic, found.pvalue), abs=1e-12)
        assert row.lower < row.rho < row.upper and row.count == 30
    first = study.correlations[0]
    assert (first.metric, first.strength, first.is_significant) == ('ti', 'strong', True)
    assert first.is_as_expected and first.p < first.p_holm < 0.05
    for cell in study.effects:
        policy = study.groups[cell.group].policy
        own = [e for e in episodes if e.attributes['policy'] == policy]
        good = [e.value(cell.metric) for e in own if labels.get(e.episode_id) == cell.level]
        bad = [e.value(cell.metric) for e in own if not e.is_success]
        found = stats.mannwhitneyu(good, bad)
        assert cell.a12 == pytest.approx(found.statistic / (len(good) * len(bad)))
        assert cell.p == pytest.approx(found.pvalue, abs=1e-12)
        if cell.a12 in (0.0, 1.0):  # so it is in each resample, which is no interval
            assert math.isnan(cell.lower) and math.isnan(cell.upper)
        else:
            assert cell.lower <= cell.a12 <= cell.upper
    high = study.effects[0]
    assert (high.level, high.magnitude, high.is_better) == (Level.HIGH, 'large', True)
    assert min(row.p_holm for row in study.effects) >= min(row.p for row in study.effects)


def test_intervals_are_those_of_resampled_episodes():
    """Each resample drawn, ranked and compared by SciPy."""
    rng = np.random.default_rng(2)
    labels, jerk = np.arange(24) % 3 + 1, np.round(rng.normal(size=24) + np.arange(24) % 3, 1)
    bad = np.round(rng.normal(1.0, 1.0, 9), 1)
    episodes = [episode(f'e{i}', jerk=v) for i, v in enumerate(jerk)]
    episodes += [episode(f'b{i}', FAILURE, jerk=v) for i, v in enumerate(bad)]
    ratings = [rated(f'e{i}', Level(level)) for i, level in enumerate(labels.tolist())]
    study = discrimination_study(episodes, ratings, StudyOptions(metrics=('ti',), resamples=100))
    order = np.argsort(labels, kind='stable')
    draw = np.random.default_rng(0)
    picks = order[draw.integers(24, size=(100, 24))]
    rhos = [stats.spearmanr(jerk[p], labels[p]).statistic for p in picks]
    (row,) = study.correlations
    assert (row.lower, row.upper) == pytest.approx(np.percentile(rhos, (2.5, 97.5)), abs=1e-12)
    draw, good = np.random.default_rng(0), jerk[labels == 1]
    first, second = draw.integers(8, size=(100, 8)), draw.integers(9, size=(100, 9))
    a12 = [
        stats.mannwhitneyu(good[p], bad[q], method='asymptotic').statistic / 72
        for p, q in zip(first, second)
    ]
    cell = study.effects[0]
    assert (cell.lower, cell.upper) == pytest.approx(np.percentile(a12, (2.5, 97.5)), abs=1e-12)


def test_a_metric_that_was_asked_for_is_never_left_out_in_silence():
    episodes = [episode(f'e{i}', jerk=float(i)) for i in range(4)]
    options = StudyOptions(metrics=('ti', 'op'))
    study = discrimination_study(episodes, [rated('e0', Level.HIGH)], options)
    assert study.metrics == ['ti'] and study.remarks == ['no episode has a value of op that counts']


def test_a_metric_that_agrees_by_chance_is_no_headline():
    """Of two metrics, one with p between 0.025 and 0.05: it is not significant among two."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        values = rng.permutation(9).astype(float)
        episodes = [
            episode(f'e{i}', jerk=v, distance=(5 * i) % 9) for i, v in enumerate(values.tolist())
        ]
        ratings = [rated(f'e{i}', Level(1 + i // 3)) for i in range(9)]
        study = discrimination_study(episodes, ratings, StudyOptions(resamples=100))
        row = study.correlations[0]
        if 0.025 < row.p < 0.05 and row.rho > 0:
            break
    assert 0.025 < row.p < 0.05 < row.p_holm
    assert headline(study).startswith('No metric agrees with the labels')


def test_intervals_cover_the_truth():
    """A12 of two normals one standard deviation apart is 0.760; 95 % of intervals hold it."""
    truth, hits = stats.norm.cdf(1 / math.sqrt(2)), 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        good = [episode(f'g{i}', jerk=float(rng.normal(1, 1))) for i in range(40)]
        bad = [episode(f'b{i}', FAILURE, jerk=float(rng.normal(0, 1))) for i in range(40)]
        ratings = [rated(e.episode_id, Level.HIGH) for e in good]
        options = StudyOptions(metrics=('ti',), resamples=200)
        row = discrimination_study([*good, *bad], ratings, options).effects[0]
        hits += row.lower <= truth <= row.upper
    assert 52 <= hits <= 60


def test_the_same_seed_gives_the_same_intervals():
    first, second = made_study()[0], made_study()[0]
    assert first.correlations == second.correlations and first.effects == second.effects
    other = made_study(StudyOptions(seed=1))[0]
    assert other.correlations[0].lower != first.correlations[0].lower


def test_static_episodes_count_only_where_asked():
    still = [episode(f's{i}', FAILURE, is_static=True, jerk=0.0, distance=1.0) for i in range(4)]
    moved = [episode(f'm{i}', jerk=1.0 + i, distance=0.1 * i) for i in range(4)]
    ratings = [rated(e.episode_id, Level.HIGH) for e in moved]
    study = discrimination_study([*still, *moved], ratings)
    cells = {row.metric: row for row in study.effects if row.level is Level.HIGH}
    assert cells['ti'].failures == 0 and '0 failures; 3 of each' in cells['ti'].remark
    assert cells['op'].failures == 4 and cells['op'].a12 == 0.0
    study = discrimination_study([*still, *moved], ratings, StudyOptions(with_static=True))
    assert next(row for row in study.effects if row.metric == 'ti').a12 == 1.0


def test_what_cannot_be_compared_says_why():
    episodes = [episode(f'e{i}', jerk=1.0, distance=i) for i in range(4)]
    ratings = [rated(e.episode_id, Level.HIGH) for e in episodes]
    study = discrimination_study(episodes, ratings)
    assert [row.remark for row in study.correlations] == ['all 4 have the same label'] * 2
    ratings[0] = rated('e0', Level.LOW)
    study = discrimination_study(episodes, ratings)
    assert study.correlations[0].remark == 'all 4 have the same value'
    assert math.isfinite(study.correlations[1].rho)
    study = discrimination_study(episodes, ratings[:2])
    assert study.correlations[0].remark == '2 labelled successes; 3 are needed'
    assert study.correlations[0].is_as_expected is None


def test_bad_studies_are_refused():
    ratings = [rated('e1', Level.HIGH)]
    with pytest.raises(ShapeError, match='no episodes'):
        discrimination_study([], ratings)
    with pytest.raises(ValueRangeError, match="no metric 'nosuch'"):
        discrimination_study([episode('e1')], ratings, evolved(StudyOptions(), metrics=('nosuch',)))
    with pytest.raises(ValueRangeError, match='none of the metrics has a value'):
        discrimination_study([episode('e1')], ratings)


def test_classes_are_those_of_the_paper():
    assert [strength_of(rho) for rho in (0.099, -0.10, 0.29, -0.30, 0.49, 0.50)] == [
        'none', 'weak', 'weak', 'moderate', 'moderate', 'strong',
    ]  # fmt: skip
    assert [magnitude_of(0.5 + d / 2) for d in (0.146, 0.148, -0.331, 0.473, -0.475)] == [
        'negligible', 'small', 'medium', 'medium', 'large',
    ]  # fmt: skip


def test_a_tie_is_neither_better_nor_worse():
    rows = [('e0', SUCCESS, 1.0), ('e1', SUCCESS, 2.0), ('e2', SUCCESS, 1.0), ('e3', SUCCESS, 2.0)]
    failed = [(f'f{i}', FAILURE, float(1 + i % 2)) for i in range(4)]
    episodes = [episode(name, outcome, jerk=jerk) for name, outcome, jerk in rows + failed]
    levels = (Level.HIGH, Level.HIGH, Level.LOW, Level.LOW)
    ratings = [rated(name, level) for (name, _, _), level in zip(rows, levels)]
    study = discrimination_study(episodes, ratings, StudyOptions(metrics=('ti',), least=2))
    assert study.correlations[0].rho == 0.0 and study.correlations[0].is_as_expected is None
    assert study.effects[0].a12 == 0.5 and study.effects[0].is_better is None
