# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page and the JSON of a comparison: links, escaped texts, no NaN, sentences."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'evaluation'))

from comparison_outcomes import episode, judged, phail_like

from frame_ros.core.plain_text import plain, plain_lines
from frame_ros.evaluation.outcomes.operation import Ending
from frame_ros.evaluation.outcomes.outcome_set import LeftOut, OutcomeSet
from frame_ros.evaluation.policy_comparison.comparison import compare_policies
from frame_ros.evaluation.policy_comparison.options import ComparisonOptions
from frame_ros.reports.comparison.data import comparison_data
from frame_ros.reports.comparison.episodes import file_link
from frame_ros.reports.comparison.words import headline, warnings
from frame_ros.reports.comparison_page import comparison_page
from frame_ros.reports.html.study_page import build_study_page

FEW = ComparisonOptions(resamples=200)
NASTY = '<script>alert(1)</script>'


@pytest.fixture(scope='module')
def study():
    outcomes = [replace(each, source=Path('runs') / 'a b' / each.name) for each in phail_like(6, 4)]
    return compare_policies(outcomes, FEW)


@pytest.fixture(scope='module')
def html(study):
    return build_study_page(comparison_page(study, folder=Path('pages')))


def without_scripts(html):
    return re.sub(r'<script.*?</script>', '', html, flags=re.DOTALL)


def test_policies_of_different_sessions_are_warned_of():
    """Also where another condition is the same, or known of one policy only."""
    outcomes = [
        episode(f'{policy} {n}', policy, [12.0 + n], conditions={
            'session': f'{policy}{n % 2}', 'operator_name': 'ann', 'control_rate': '10', **more})
        for policy, more in (('a', {}), ('b', {'site': 'x'}))
        for n in range(6)
    ]  # fmt: skip
    (text,) = warnings(compare_policies(outcomes, FEW))
    assert 'share no session:' in text
    shared = replace(outcomes[0], conditions={'session': 'b1'})
    assert not warnings(compare_policies([shared, *outcomes[1:]], FEW))


def test_a_horizon_beyond_what_was_seen_is_said():
    """Operations that ended without success after 30 s, against a horizon of 240 s."""
    outcomes = [
        episode(f'{policy} {number}', policy, [12.0 + number, None][number % 2 :])
        for policy in ('a', 'b')
        for number in range(6)
    ]
    (text,) = warnings(compare_policies(outcomes, FEW))
    assert 'but for a few: a 30 s, b 30 s;' in text and '--tau 30' in text and 'differ' not in text
    assert not warnings(compare_policies(outcomes, ComparisonOptions(resamples=200, tau=30.5)))
    longer = [replace(e, operations=(replace(e.operations[-1], end=e.operations[-1].begin + 60),))
              if e.policy == 'b' and e.operations[-1].ending is Ending.TIMEOUT else e
              for e in outcomes]  # fmt: skip
    (text,) = warnings(compare_policies(longer, FEW))
    assert 'a 30 s, b 60 s' in text and 'these times differ' in text and '--tau 30' in text
    done = [replace(e, operations=e.operations[:1]) for e in outcomes if len(e.operations) == 2]
    assert len(done) == 6 and not warnings(compare_policies(done, FEW))
    # One that was stopped early, of others that were all done: F of the last is 1.
    last = done[0].operations[0]
    stopped = replace(done[0], operations=(replace(last, end=3.0, ending=Ending.STOPPED),))
    assert not warnings(compare_policies([stopped, *done[1:]], FEW))


def test_times_beyond_the_horizon_are_said():
    """As in ms: the curves of both policies are flat, and equal."""
    outcomes = [
        episode(f'{policy} {number}', policy, [time + number])
        for policy, time in (('a', 9000.0), ('b', 20.0))
        for number in range(6)
    ]
    (text,) = warnings(compare_policies(outcomes, FEW))
    assert 'nothing was done within 240 s, the first after: a 9,000 s;' in text
    assert not warnings(compare_policies(outcomes, ComparisonOptions(resamples=200, tau=9010)))
    # A drop is done at infinity, and no time in ms.
    dropped = [episode(f'a {n}', 'a', [None], ending=Ending.DROP) for n in range(6)]
    assert not warnings(compare_policies([*dropped, *outcomes[6:]], FEW))


def test_every_link_of_the_page_leads_somewhere(study, html):
    body = without_scripts(html)
    anchors = set(re.findall(r' id="([^"]+)"', body))
    inner = set(re.findall(r'href="#([^"]+)"', body))
    assert inner and inner <= anchors
    assert {f'episode-{i + 1}' for i in range(len(study.episodes))} <= inner
    files = set(re.findall(r'href="([^"#]+)"', body))
    assert f'../runs/a%20b/{study.episodes[0].name}' in files
    assert len(files) == len(study.episodes)


def test_the_sets_of_a_number_are_listed_with_their_episodes(study, html):
    row = study.cells[0]
    listed = re.search(rf'id="set-{row.episodes}".*?</tr>', html, re.DOTALL)[0]
    places = {int(n) - 1 for n in re.findall(r'#episode-(\d+)', listed)}
    assert places == set(study.sets[row.episodes].places)


def test_every_number_of_the_tables_is_a_link_or_says_why_it_is_missing(html):
    scores = re.search(r'<section class="card" id="scores">.*?</section>', html, re.DOTALL)[0]
    cells = re.findall(r'<td class="n[^"]*".*?</td>', scores, re.DOTALL)
    assert len(cells) > 40
    assert all('href="#set-' in cell for cell in cells)
    missing = [cell for cell in cells if '>–<' in cell]
    assert missing and all('title="' in cell for cell in missing)


def test_parts_of_a_full_study(study):
    page = comparison_page(study)
    assert [part.anchor for part in page.parts] == [
        'scores', 'pairs', 'times', 'successes', 'scalars', 'objects', 'failures', 'shapes',
        'conditions', 'labels', 'rules', 'sets', 'episodes',
    ]  # fmt: skip


def test_texts_of_recordings_stay_text():
    outcomes = [
        replace(
            judged(f'{NASTY} {policy} {i}', f'{policy} {NASTY}', i % 2 == 0, object=NASTY),
            task=NASTY, notes=(NASTY,), conditions={'camera': f'{NASTY}{i % 2}', NASTY: str(i % 2)},
            stages={NASTY: True, 'placed': i % 2 == 0}, source=Path(f'"><img src=x>{i}'),
        )
        for policy in ('a', 'b')
        for i in range(4)
    ]  # fmt: skip
    timed = [
        episode(f'{NASTY} {i}', f'{p} {NASTY}', [10.0, None], object=NASTY, task=NASTY)
        for p in ('a', 'b')
        for i in range(3)
    ]
    for rows in (outcomes, timed):
        left_out = (LeftOut(NASTY, Path('javascript:alert(1)'), NASTY),)
        study = compare_policies(OutcomeSet(tuple(rows), left_out, (), (NASTY,)), FEW)
        html = build_study_page(comparison_page(study, NASTY))
        assert NASTY not in html and '<img' not in without_scripts(html)
        assert 'href="javascript:' not in html


def test_characters_of_recordings_that_act_are_escapes():
    acting = 'پای\u200cزیرو \x1b[2J\x9b\u202e\n\u2028'
    timed = [
        episode(f'{acting} {i}', f'{p} {acting}', [10.0 + i, None], object=acting, task=acting)
        for p in ('a', 'b')
        for i in range(4)
    ]  # fmt: skip
    left_out = (LeftOut(acting, Path(acting), acting),)
    study = compare_policies(OutcomeSet(tuple(timed), left_out, (), (acting,)), FEW)
    html = build_study_page(comparison_page(study, acting))
    assert plain_lines(without_scripts(html)) == without_scripts(html)
    assert r'\x1b[2J\x9b\u202e\n\u2028' in html and 'پای\u200cزیرو' in html
    figures = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', html, re.DOTALL)
    escapes = re.findall(r'(?<!\\)(?:\\\\)*(\\u....)', ''.join(figures))
    characters = {json.loads(f'"{escape}"') for escape in escapes}
    assert '\u200c' in characters and all(plain(each) == each for each in characters)


def test_links_to_files_are_relative_and_have_no_scheme():
    assert file_link(Path('/data/x y/ep#1'), Path('/data/pages')) == '../x%20y/ep%231'
    assert file_link(Path('javascript:alert(1)'), Path()) == 'javascript%3Aalert%281%29'
    assert file_link(None, Path()) == ''


def nothing_infinite(value):
    if isinstance(value, dict):
        return all(map(nothing_infinite, value.values()))
    if isinstance(value, list):
        return all(map(nothing_infinite, value))
    return not isinstance(value, float) or abs(value) < float('inf')


def test_json_is_complete_and_without_nan(study):
    data = json.loads(json.dumps(comparison_data(study), allow_nan=False))
    assert nothing_infinite(data) and data['format'] == 'frame_ros comparison 1'
    assert len(data['episodes']) == len(study.episodes) and len(data['pairs']) == 6
    human = next(row for row in data['means'] if row['policy'] == 'human')
    assert human['scores']['hrt']['value'] is None
    assert human['scores']['hrt']['reason'] == 'it is the reference'
    for row in (*data['means'], *data['cells']):
        for number in row['scores'].values():
            assert number['value'] is not None or number['reason']
            assert data['sets'][number['episodes']]['episodes']
    pair = data['pairs'][0]
    assert pair['times']['p_holm'] <= pair['times']['p_bonferroni']
    assert {'verdict', 'reason', 'exit_status', 'needed'} <= set(pair['judgement'])


def test_the_options_can_be_read_from_json(study):
    assert comparison_data(study)['options']['resamples'] == 200


def ten(policy, successes):
    return [judged(f'{policy} {i}', policy, i < successes, pair=f'{i}') for i in range(10)]


@pytest.mark.parametrize(
    ('outcomes', 'words'),
    [
        (ten('a', 10), 'a is the only policy: there is none to compare it with'),
        ([*ten('a', 10), *ten('b', 0)], 'b is worse than a'),
        (
            [*ten('a', 10), *ten('b', 0), *ten('c', 0)],
            'a is the best of 3 policies with 95\u00a0% confidence: success 100.0\u00a0%',
        ),
        (
            [*ten('a', 5), *ten('b', 5), *ten('c', 6)],
            'None of the 3 policies can be distinguished from the best with 95\u00a0% confidence',
        ),
        (
            [*ten('a', 10), *ten('b', 10), *ten('c', 0)],
            'a and b cannot be distinguished from the best of 3 policies; c is not the best, with',
        ),
    ],
)
def test_the_headline_says_which_policy_is_better_and_how_sure_that_is(outcomes, words):
    assert headline(compare_policies(outcomes, FEW)).startswith(words)


def test_a_policy_out_of_the_set_of_the_best_of_which_no_pair_is_decided_is_explained():
    """McNemar p = 2 / 2^6 = 0.031 is below 0.07 / 2, and above 0.07 / 3."""
    outcomes = [*ten('a', 9), *ten('b', 3), *ten('c', 8)]
    study = compare_policies(outcomes, ComparisonOptions(resamples=200, alpha=0.07))
    assert study.best == ('a', 'c') and study.letters == {'a': 'a', 'c': 'a', 'b': 'a'}
    data = comparison_data(study)
    assert 'b: not the best, though no pair is decided' in data['warnings'][0]
    assert comparison_page(study).warnings[0] in data['warnings']
    assert '2 tests to adjust for, of all pairs 3' in data['warnings'][0]


def test_too_few_resamples_for_many_pairs_are_said():
    """Six pairs and 100 resamples: p is at least 6 / 101."""
    outcomes = phail_like(4, 2, ('act', 'openpi', 'groot', 'smolvla'), ('spoons',))
    study = compare_policies(outcomes, ComparisonOptions(resamples=100))
    assert any('100 resamples are too few for 6 pairs' in text for text in warnings(study))
    assert not any('too few' in text for text in warnings(compare_policies(outcomes, FEW)))


def test_three_policies_without_anything_in_common_are_not_comparable():
    outcomes = [replace(each, object=each.policy) for each in [*ten('a', 1), *ten('b', 1)]]
    outcomes += [replace(each, object='c') for each in ten('c', 5)]
    study = compare_policies(outcomes, FEW)
    assert headline(study).startswith('No two policies are comparable: objects differ')
    assert 'not comparable' in build_study_page(comparison_page(study))


def test_what_was_left_out_is_listed_with_its_reason():
    left_out = (LeftOut('copy', Path('runs/copy'), 'recorded twice: the same as in runs/first'),)
    read = OutcomeSet((*ten('a', 10), *ten('b', 0)), left_out, (), ('a note on what was read',))
    html = build_study_page(comparison_page(compare_policies(read, FEW), folder=Path()))
    assert 'recorded twice: the same as in runs/first' in html and 'href="runs/copy"' in html
    assert 'a note on what was read' in html


def test_a_page_of_outcomes_without_times_has_no_part_about_them():
    page = comparison_page(compare_policies([*ten('a', 10), *ten('b', 0)], FEW))
    anchors = [part.anchor for part in page.parts]
    assert 'times' not in anchors and 'shapes' not in anchors and 'successes' in anchors


@pytest.mark.parametrize('count', [1, 2])
def test_small_studies_have_a_page(count):
    """One episode, no success, no failure, unequal objects: the page is there all the same."""
    outcomes = [
        *(episode(f'a{i}', 'a', [5.0]) for i in range(count)),
        *(episode(f'b{i}', 'b', [None], ending=Ending.SAFETY_STOP) for i in range(count)),
        *(episode(f'c{i}', 'c', [5.0], object='cup') for i in range(count)),
    ]
    study = compare_policies(outcomes, FEW)
    assert 'Rules and exclusions' in build_study_page(comparison_page(study))
    assert nothing_infinite(json.loads(json.dumps(comparison_data(study), allow_nan=False)))


def mixed(random):
    """Few episodes of few policies, each of which lacks some facts."""
    found = []
    for policy in random.sample(['a', 'b', 'c', 'human'], random.randint(2, 4)):
        for name in random.sample(['x', 'y', ''], random.randint(1, 3)):
            for number in range(random.choice([1, 2, 5])):
                each = episode(
                    f'{policy}{name}{number}',
                    policy,
                    [random.choice([0.0, 5.0, 300.0, None]) for _ in range(random.randint(1, 3))],
                    object=name,
                    ending=random.choice([Ending.DROP, Ending.TIMEOUT, Ending.SAFETY_STOP]),
                    pair=random.choice(['', f'{number}']),
                    is_human=policy == 'human',
                    task=random.choice(['pick', 'pick', '']),
                    stages=random.choice([{}, {'grasped': True, 'placed': number % 2 == 0}]),
                )
                if random.random() < 0.2:
                    known = random.choice([None, True, False])
                    each = replace(each, operations=(), is_success=known, duration=float('nan'))
                found.append(each)
    return found


@pytest.mark.parametrize('seed', range(12))
def test_whatever_facts_are_missing_there_are_numbers_or_reasons(seed):
    study = compare_policies(mixed(Random(seed)), ComparisonOptions(resamples=100))
    data = json.loads(json.dumps(comparison_data(study), allow_nan=False))
    for row in (*data['means'], *data['cells']):
        for number in row['scores'].values():
            assert number['value'] is not None or number['reason']
    assert comparison_page(study).headline
