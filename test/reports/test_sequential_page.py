# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a sequential study shows the course between the boundaries that decided it."""

import json

import numpy as np
import pytest

from frame_ros.cli import main
from frame_ros.evaluation.sequential.bounded import BoundedTest
from frame_ros.evaluation.sequential.decision import Decision
from frame_ros.evaluation.sequential.pairing import BY_ORDER, BY_ROW
from frame_ros.evaluation.sequential.plan import SequentialPlan
from frame_ros.evaluation.sequential.study import SequentialStudy
from frame_ros.reports.html.study_page import build_study_page
from frame_ros.reports.sequential_page import boundary, sequential_page


def steps_of(plan, rates=(0.95, 0.2), seed=0):
    random, study, steps = np.random.default_rng(seed), SequentialStudy(plan), []
    while study.step.decision is Decision.CONTINUE and len(steps) < 40:
        steps.append(study.update(*(bool(random.random() < rate) for rate in rates)))
    return steps


@pytest.mark.parametrize('method', ['lai', 'barnard', 'betting'])
def test_the_course_stops_at_the_boundary(method):
    plan = SequentialPlan(most=40, method=method)
    steps = steps_of(plan)
    assert steps[-1].decision is Decision.BETTER
    page = sequential_page(plan, '<b>a</b>', 'b', steps, 'a is better', ['one is odd'])
    statistic, difference = page.parts[0].content
    course, stop = (t for t in statistic.data if t.get('legendgroup') and t['mode'] != '')
    assert stop['x'] == [len(steps)] and len(course['x']) == len(steps)
    scale = statistic.layout['yaxis']
    assert (scale['type'], scale.get('tickformat')) == (
        ('log', '~g') if method == 'betting' else ('linear', None)
    )
    upper = statistic.data[0]['y']
    upper = upper[: len(steps)] if method != 'betting' else [20.0] * len(steps)
    assert course['y'][-1] >= upper[-1] * (1 - 1e-4)
    assert all(limit is None or y < limit for y, limit in zip(course['y'][:-1], upper[:-1]))
    assert len(difference.data) == 3
    json.dumps([figure.as_data() for figure in page.parts[0].content], allow_nan=False)
    assert '<b>a' not in build_study_page(page)


def test_the_boundary_is_the_least_difference_that_decides():
    plan = SequentialPlan(most=30, method='lai')
    steps, test = steps_of(plan, (0.6, 0.5)), BoundedTest(plan)
    pairs, values = boundary(test.decide, steps, Decision.BETTER, 30)
    for step, value in zip(steps, values):
        discordant = step.wins + step.losses
        for wins in range(discordant + 1):
            is_better = test.decide(step.pairs, wins, discordant - wins) is Decision.BETTER
            assert is_better == (2 * wins - discordant >= value)
    assert pairs == list(range(1, 31)) and np.isfinite(values[-1])


def test_a_study_without_pairs_has_a_page():
    page = sequential_page(SequentialPlan(), 'a', 'b', [], 'continue')
    assert 'continue' in build_study_page(page)


def test_the_command_writes_the_page(tmp_path, capsys):
    outcomes, page = tmp_path / 'pairs.csv', tmp_path / 'page.html'
    outcomes.write_text('pair,a,b\n' + ''.join(f'{n},1,0\n' for n in range(20)))
    status = main(['sequential', str(outcomes), '-o', str(page)])
    assert status == 10 and 'a is better than b' in page.read_text()
    assert main(['sequential', str(outcomes), '-o', str(outcomes)]) not in (0, 10)


def test_how_pairs_were_found_is_no_doubt_unless_it_is_by_order():
    page = sequential_page(SequentialPlan(), 'a', 'b', [], 'continue', [BY_ROW, BY_ORDER])
    assert page.verdict == ['Each row is a pair.'] and page.warnings == [BY_ORDER]
