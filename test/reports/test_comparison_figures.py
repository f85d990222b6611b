# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The figures of a comparison show the statistics, hold no NaN, and stand any name and any cell."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.kaplan_meier import curve_of
from frame_ros.evaluation.survival.two_samples import ks_distance, probability_faster
from frame_ros.reports.comparison_figures import (
    Band,
    ForestRow,
    Path,
    Scalar,
    cdf_figure,
    conditions_figure,
    detection_figure,
    disagreement,
    failure_figure,
    forest_figure,
    looks_of,
    macro_cdf_figure,
    pp_figure,
    qq_figure,
    rmst_grid_figure,
    scalar_table,
    sequential_figure,
    trade_off_figure,
)
from frame_ros.reports.comparison_figures.curves import step_corners, thinned_steps
from frame_ros.reports.comparison_figures.style import label_of, labels_of, spread
from frame_ros.reports.comparison_figures.trade_off import trajectory
from frame_ros.reports.html.study_page import Cell as TableCell
from frame_ros.reports.html.study_page import Figure, Part, StudyPage, build_study_page

TAU = 240.0
NAN, INF = math.nan, math.inf
NASTY = 'ckpt/</script><b>"bold"</b> %{x} &amp; \n' + 'very long ' * 12


def sampled(seed: int, median: float = 40.0, drops: float = 0.05, count: int = 320) -> Cell:
    random = np.random.default_rng(seed)
    times = median * np.exp(random.normal(0, 1, count))
    events = times < TAU
    times = np.minimum(times, TAU)
    is_ghost = random.random(count) < drops
    times[is_ghost], events[is_ghost] = INF, True
    return Cell(times, events, np.arange(count) // 8)


def of(times: list[float], events: list[bool]) -> Cell:
    return Cell(np.array(times, float), np.array(events, bool), np.arange(len(times)))


def traces(figure: Figure, name: str, axis: str = 'x') -> list[dict]:
    return [t for t in figure.data if t.get('name') == name and t.get('xaxis', 'x') == axis]


def text_of(figure: Figure) -> str:
    return json.dumps(figure.as_data(), allow_nan=False, ensure_ascii=False)


HUMAN = {'spoons': sampled(1, 9, 0), 'towels': sampled(2, 11, 0)}
CELLS = {
    'fast': {'spoons': sampled(3, 25), 'towels': sampled(4, 30)},
    'slow': {'spoons': sampled(5, 80, 0.1), 'towels': sampled(6, 90, 0.1)},
}
# Cells that a formula can stumble over.
DEGENERATE = {
    'one success': of([5.0], [True]),
    'one ghost': of([INF], [True]),
    'one censored': of([30.0], [False]),
    'no success': of([INF, 60.0, 30.0], [True, False, False]),
    'at once': of([0.0, 0.0], [True, True]),
    'after tau': of([500.0, 600.0], [True, True]),
    'no failures': of([1.0, 2.0, 3.0], [True] * 3),
    'nothing': of([], []),
}


def test_a_cdf_is_drawn_with_the_values_of_the_estimate():
    figure = cdf_figure(CELLS, TAU)
    for axis, name in (('x', 'spoons'), ('x2', 'towels')):
        (trace,) = traces(figure, 'fast', axis)
        curve = curve_of(CELLS['fast'][name])
        assert trace['line']['shape'] == 'hv'
        assert trace['x'][0] == 0 and trace['x'][-1] == TAU
        assert trace['y'][-1] == pytest.approx(curve.cdf(TAU), abs=1e-5)
        late = curve.cdf(np.array(trace['x']) + TAU / 300)
        assert (np.array(trace['y']) <= late + 1e-5).all()
        assert (np.array(trace['y']) >= curve.cdf(np.array(trace['x']) * (1 - 1e-4)) - 1e-5).all()
    done = [note['text'] for note in figure.layout['annotations'] if '%' in note['text']]
    assert sum(
        f'{curve_of(CELLS["fast"]["spoons"]).cdf(TAU):.0%}'.replace('%', ' %') in text
        for text in done
    )


def test_the_macro_cdf_is_the_mean_over_the_objects_that_all_have():
    cells = {**CELLS, 'fast': {**CELLS['fast'], 'only here': sampled(9, 1, 0)}}
    (trace,) = traces(macro_cdf_figure(cells, TAU), 'fast')
    ends = [curve_of(CELLS['fast'][name]).cdf(TAU) for name in ('spoons', 'towels')]
    assert trace['y'][-1] == pytest.approx(np.mean(ends), abs=1e-5)
    figure = macro_cdf_figure({'a': {'x': sampled(1)}, 'b': {'y': sampled(2)}}, TAU)
    assert not figure.data and 'no operations' in text_of(figure)


def test_bands_are_drawn_where_they_are_known():
    times = np.array([1.0, 2.0, 3.0, 500.0])
    band = Band(times, np.array([0.1, 0.2, NAN, 0.3]), np.array([0.3, 0.4, 0.5, 0.6]))
    figure = cdf_figure({'fast': CELLS['fast']}, TAU, {'fast': {'spoons': band}})
    (shaded,) = [trace for trace in figure.data if trace.get('fill') == 'toself']
    assert max(shaded['x']) == 2 and min(shaded['y']) == 0.1 and max(shaded['y']) == 0.4
    empty = Band(times, np.full(4, NAN), np.full(4, NAN))
    figure = cdf_figure({'fast': CELLS['fast']}, TAU, {'fast': {'spoons': empty}})
    assert not [trace for trace in figure.data if 'fill' in trace]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(2, 60), st.booleans())
def test_the_area_below_a_pp_curve_is_the_auc_and_the_line_is_the_ks_distance(a, n, m, has_ties):
    policy, human = sampled(a, 60, 0.1, n), sampled(a + 1, 20, 0.02, m)
    if has_ties:
        policy, human = (
            each._replace(times=np.ceil(each.times / 20) * 20) for each in (policy, human)
        )
    figure = pp_figure({'p': {'o': policy}}, {'o': human}, 'human', TAU)
    (curve,) = traces(figure, 'p')
    (beyond,) = traces(figure, 'beyond')
    assert (curve['x'][0], curve['y'][0]) == (0, 0)
    assert (beyond['x'][-1], beyond['y'][-1]) == (1, 1)
    x, y = np.array(curve['x'] + beyond['x']), np.array(curve['y'] + beyond['y'])
    area = float(np.sum(np.diff(x) * (y[1:] + y[:-1]) / 2))
    assert area == pytest.approx(probability_faster(policy, human, TAU), abs=1e-9)
    distance = ks_distance(policy, human, TAU)
    marks = traces(figure, 'KS')
    assert len(marks) == (distance > 0)
    for mark in marks:
        assert mark['x'][0] == mark['x'][1] == mark['y'][0]
        assert abs(mark['y'][1] - mark['y'][0]) == pytest.approx(distance, abs=1e-9)
        assert (np.array(curve['y']) - np.array(curve['x'])).max() <= distance + 1e-9


def test_the_pp_figure_says_auc_and_ks_of_each_policy():
    figure = pp_figure(CELLS, HUMAN, 'human', TAU)
    for name in ('spoons', 'towels'):
        for policy, row in CELLS.items():
            auc = probability_faster(row[name], HUMAN[name], TAU)
            ks = ks_distance(row[name], HUMAN[name], TAU)
            assert f'{policy}: AUC {auc:.2f}, KS {ks:.2f}' in text_of(figure)


def test_a_qq_curve_holds_matched_quantiles_and_ends_open_at_the_last_that_both_reach():
    figure = qq_figure(CELLS, HUMAN, 'human', TAU)
    for axis, name in (('x', 'spoons'), ('x2', 'towels')):
        mine, reference = curve_of(CELLS['slow'][name]), curve_of(HUMAN[name])
        (line,) = traces(figure, 'slow', axis)
        ends = [t for t in traces(figure, 'last', axis) if t['legendgroup'] == 'slow']
        last = min(mine.cdf(TAU), reference.cdf(TAU))
        assert line['customdata'][-1] == pytest.approx(last, abs=1e-4)
        assert line['x'][49] == pytest.approx(mine.median, rel=1e-3)
        assert line['y'][49] == pytest.approx(reference.median, rel=1e-3)
        assert ends[0]['marker']['symbol'].endswith('-open')
        assert ends[0]['x'] == line['x'][-1:] and ends[0]['y'] == line['y'][-1:]


def test_the_trade_off_shows_both_scalars_at_every_tau():
    taus = (30.0, 60.0, 240.0)
    figure = trade_off_figure(CELLS, taus)
    (trace,) = traces(figure, 'slow', 'x2')
    curve = curve_of(CELLS['slow']['towels'])
    assert trace['x'] == pytest.approx([curve.units_per_hour(tau) for tau in taus], rel=1e-3)
    assert trace['y'] == pytest.approx([curve.mtbf_a(tau) for tau in taus], rel=1e-3)
    (macro,) = traces(figure, 'slow', 'x3')
    both = [curve_of(each) for each in CELLS['slow'].values()]
    assert macro['x'] == pytest.approx(trajectory(both, taus)[0], rel=1e-3)
    with pytest.raises(ValueRangeError):
        trade_off_figure(CELLS, (-1.0,))


def test_a_human_reference_is_no_line_of_the_trade_off():
    cells = {**CELLS, 'me': HUMAN}
    figure = trade_off_figure(cells, looks=looks_of(cells, ['me']))
    assert figure.data == trade_off_figure(CELLS).data


def test_an_infinite_mean_time_between_failures_is_not_drawn():
    figure = trade_off_figure({'p': {'o': DEGENERATE['no failures']}}, (2.0, 10.0))
    (trace,) = traces(figure, 'p')
    assert trace['customdata'] == [2.0]
    figure = trade_off_figure({'p': {'o': DEGENERATE['no failures']}}, (10.0,))
    assert not figure.data and 'no policy has a finite' in text_of(figure)


@pytest.mark.parametrize('name', DEGENERATE)
def test_degenerate_cells_are_drawn_without_nan(name):
    cells = {'odd': {'o': DEGENERATE[name]}, 'fast': {'o': CELLS['fast']['spoons']}}
    reference = {'o': HUMAN['spoons']}
    for figure in (
        cdf_figure(cells, TAU),
        macro_cdf_figure(cells, TAU),
        pp_figure(cells, reference, 'human', TAU),
        pp_figure(cells, {'o': DEGENERATE[name]}, 'odd', TAU),
        qq_figure(cells, reference, 'human', TAU),
        qq_figure(cells, {'o': DEGENERATE[name]}, 'odd', TAU),
        trade_off_figure(cells),
    ):
        assert 'Infinity' not in text_of(figure) and figure.caption


def every_figure(policies: list[str], objects: list[str]) -> list[Figure]:
    cells = {
        policy: {name: sampled(17 * i + j, 30 + 10 * i) for j, name in enumerate(objects)}
        for i, policy in enumerate(policies)
    }
    human = {name: sampled(j, 9, 0, 800) for j, name in enumerate(objects)}
    estimates = {p: dict.fromkeys(objects, (50.0, 40.0, 60.0)) for p in policies}
    bands = {
        p: {
            o: Band(np.linspace(0, TAU, 400), np.linspace(0, 0.5, 400), np.ones(400))
            for o in objects
        }
        for p in policies
    }
    pairs = [f'{a} vs. {b}' for a in policies for b in policies if a < b]
    n = np.arange(5, 35, 5)
    return [
        cdf_figure(cells, TAU, bands),
        macro_cdf_figure(cells, TAU, {p: row[objects[0]] for p, row in bands.items()}),
        pp_figure(cells, human, NASTY, TAU),
        qq_figure(cells, human, NASTY, TAU),
        trade_off_figure(cells),
        rmst_grid_figure(estimates, TAU),
        forest_figure([ForestRow(p, (1.0, 0.5, 2.0), NASTY) for p in pairs], 's', 'About.', 0.0),
        failure_figure({p: {'success': 3, NASTY: 2} for p in policies}),
        conditions_figure({p: {'left': (1.0, 0.0, 2.0), NASTY: (2, 1, 3)} for p in policies},
                          NASTY, 'x'),
        detection_figure({p: {'KS': (n, n / 40), NASTY: (n, n / 50)} for p in pairs},
                         dict.fromkeys(pairs, (n, n / 41)), available=dict.fromkeys(pairs, 30)),
        sequential_figure({NASTY: Path([1, 2, 3], [0.0, 1.0, 2.0], 3, NASTY)},
                          {NASTY: ([1, 2, 3], [2.0, 2.0, 2.0])}, NASTY, 'About.', 3),
    ]  # fmt: skip


def test_names_are_text_wherever_they_stand():
    others = [NASTY + 'x', 'b']
    for figure in every_figure([NASTY, *others], [NASTY, 'o']):
        text = text_of(figure).replace('\\n', ' ')
        assert '<b>' not in text and '</script' not in text and '%{x} &' not in text
        assert 'very long very long very long very long' not in text
        assert '&' not in figure.caption.replace('&amp; ', ''), 'the page escapes captions'
    page = StudyPage('t', 'k', 'h', parts=[Part('p', [], every_figure(['a', NASTY], ['o']))])
    assert '</script><b>' not in build_study_page(page)


@pytest.mark.parametrize(('policies', 'objects'), [(5, 6), (2, 1), (1, 1), (8, 14)])
def test_figures_of_small_and_large_studies_are_small(policies, objects):
    figures = every_figure([f'p{i}' for i in range(policies)], [f'o{i}' for i in range(objects)])
    for figure in figures:
        panels = [key for key in figure.layout if key.startswith('xaxis')]
        assert 1 <= len(panels) <= 12 and len(text_of(figure)) < 900_000
        assert figure.height >= 60 and len(figure.caption) > 20
        for key in (key for key in figure.layout if key[1:5] == 'axis'):
            low, high = figure.layout[key].get('domain', (0, 1))
            assert 0 <= low < high <= 1
    if objects == 14:
        assert '2 more objects are not drawn' in figures[0].caption


def test_a_thinned_step_curve_looks_the_same():
    times = np.sort(np.random.default_rng(0).uniform(0, 100, 20_000))
    values = np.arange(20_000) / 20_000
    x, y = thinned_steps(
        np.concatenate([[0], times, [100.0]]), np.concatenate([[0], values, [1.0]])
    )
    assert len(x) <= 602 and x[0] == 0 and (x[-1], y[-1]) == (100, 1)
    drawn = y[np.searchsorted(x, times, 'right') - 1]
    # As high as the whole curve within one pixel to the right.
    assert (drawn >= values - 1e-12).all()
    assert (drawn <= np.interp(times + 100 / 600, times, values, right=1) + 1e-3).all()
    short = step_corners(curve_of(of([1.0, 2.0], [True, True])), TAU)
    assert short[0].tolist() == [0, 1, 2, TAU] and short[1].tolist() == [0, 0.5, 1, 1]


def test_an_empty_cell_of_the_grid_says_why():
    estimates = {'a': {'x': (10.0, 8.0, 13.0)}, 'b': {'y': (20.0, NAN, NAN)}}
    figure = rmst_grid_figure(estimates, TAU, {('b', 'x'): 'not recorded'})
    text = text_of(figure)
    assert '<i>not recorded</i>' in text and '<i>no episodes</i>' in text
    first, second = figure.data
    assert first['x'] == [10] and first['error_x']['array'] == [3]
    assert first['error_x']['arrayminus'] == [2]
    assert not second['error_x']['visible']
    assert text_of(rmst_grid_figure({}, TAU)) and text_of(rmst_grid_figure({'a': {}}, TAU))


def test_a_forest_marks_intervals_without_the_reference():
    rows = [ForestRow('a', (2.0, 1.0, 3.0)), ForestRow('b', (-2.0, -3.0, -1.0)),
            ForestRow('c', (0.5, -1.0, 2.0)), ForestRow('d', (NAN, NAN, NAN), 'no pairs'),
            ForestRow('a', (1.0, 0.5, INF))]  # fmt: skip
    figure = forest_figure(rows, 's', 'About.', 0.0, ('left', 'right'))
    symbols = [trace['marker']['symbol'] for trace in figure.data]
    assert symbols == ['circle', 'square', 'circle-open', 'circle']
    assert [trace['y'] for trace in figure.data] == [[0], [1], [2], [4]]
    assert figure.data[3]['error_x']['array'] == [None]
    assert len(figure.layout['yaxis']['ticktext']) == 5
    text = text_of(figure)
    assert 'no pairs' in text and '∞' in text
    assert text_of(forest_figure([], 's', 'About.'))


def test_failure_bars_are_shares():
    figure = failure_figure({'a': {'success': 3, 'never': 0, 'drop': 1}, 'b': {'drop': 2}, 'c': {}})
    success, drop = figure.data
    assert (
        success['x'] == [75, 0, 0] and drop['x'] == [25, 100, 0] and drop['customdata'] == [1, 2, 0]
    )
    assert success['marker']['pattern'] != drop['marker']['pattern']


def test_conditions_join_what_is_known():
    results = {'a': {'left': (50.0, 40.0, 60.0), 'right': (30.0, 20.0, 40.0)},
               'b': {'left': (NAN, NAN, NAN)}}  # fmt: skip
    figure = conditions_figure(results, 'camera', 'rate (%)', {'a': {'left': 12}})
    lines, empty, left, right = figure.data
    assert lines['x'] == [50, 30] and empty['x'] == []
    assert left['x'] == [50] and left['text'] == ['<br>12 episodes'] and right['text'] == ['']
    assert lines['y'] == [left['y'][0], right['y'][0]]


def test_detection_curves_have_the_target_and_the_prediction():
    figure = detection_figure({'a vs. b': {'KS': ([5, 10], [0.2, 0.9])}},
                              {'a vs. b': ([5, 10], [0.3, 0.8])}, 0.8, {'a vs. b': 10})  # fmt: skip
    curve, model = figure.data
    assert curve['y'] == [0.2, 0.9] and model['y'] == [0.3, 0.8]
    assert [shape['y0'] for shape in figure.layout['shapes']] == [0.8, 0]
    assert '80 %' in figure.caption and 'at 0.05,' in figure.caption


def test_a_sequential_course_ends_at_its_stop():
    path = Path(np.arange(1, 101), np.arange(100) - 1.0, 40, 'a is better')
    boundary = (np.arange(1, 101), np.full(100, 38.0))
    figure = sequential_figure({'a vs. b': path}, {'a is better': boundary}, 'evidence', 'About.')
    *_, stop = figure.data
    assert stop['x'] == [40] and stop['y'] == [38] and stop['text'] == ['a is better after 40']
    figure = sequential_figure({'a': path}, {'up': boundary}, 'e', 'About.', is_logarithmic=True)
    assert None in figure.data[1]['y']


def scalars() -> list[Scalar]:
    return [
        Scalar('RMST', {'a': 50.0, 'b': 40.0, 'c': NAN}, False, 's'),
        Scalar('HRT', {'a': 0.1, 'b': 0.2, 'c': 0.2}, True),
        Scalar('AUC', {'a': 0.5, 'b': 0.4}, True, hrefs={'a': '#episodes'}),
    ]


def test_the_table_of_scalars_marks_the_first_place_and_shared_places():
    table = scalar_table(scalars(), ['a', 'b', 'c'])
    rows = [[each for each in row if isinstance(each, TableCell)] for row in table.rows]
    assert [cell.text for cell in rows[0]] == ['RMST (s) ↓', '50', '40', '–']
    assert [cell.below for cell in rows[1]] == ['', '3rd', '1st (shared)', '1st (shared)']
    assert [cell.strength for cell in rows[2]] == [0, 0.5, 0, 0] and rows[2][1].href == '#episodes'
    assert table.caption == (
        'The scalars disagree on the first place: b by RMST; b and c by HRT; a by AUC.'
    )


def test_agreement_is_said():
    first, second, third = scalars()
    assert disagreement([first, second], ['a', 'b']) == 'All 2 scalars rank b first.'
    assert disagreement([third], ['a', 'b']) == 'The one scalar ranks a first.'
    assert disagreement([first], ['a']) == 'No scalar ranks two policies.'
    values = {'a': 1.0, 'b': 2.0, 'c': 3.0}
    same = [Scalar('x', values, True), Scalar('y', values, True)]
    assert disagreement(same, values) == 'All 2 scalars rank c first, in the same order.'
    other = Scalar('z', {'a': 2.0, 'b': 1.0, 'c': 3.0}, True)
    assert 'the order behind it differs' in disagreement([*same, other], values)


def test_looks_differ_in_more_than_colour():
    looks = looks_of([f'p{i}' for i in range(12)] + ['me'], ['me'])
    lines = {(look.colour, look.dash, look.symbol) for look in looks.values()}
    assert len(lines) == 13
    first = list(looks.values())[:5]
    assert len({look.dash for look in first}) == len({look.symbol for look in first}) == 5
    assert looks['me'].colour not in {look.colour for look in first}
    assert looks_of(['p0', 'p1'])['p1'][1:] == looks['p1'][1:]


def test_labels_are_short_and_different():
    names = ['a' * 100 + str(i) + 'b' * 100 for i in range(3)]
    assert len(set(labels_of(names).values())) == 3
    assert label_of('') == label_of(' \n') == '(no name)'
    assert label_of('x' * 50).endswith('x') and len(label_of('x' * 50)) == 32


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_labels_are_spread_in_their_order(values):
    places = spread(values, 0.075, 0.0, 1.0)
    order = np.argsort(values, kind='stable')
    assert (np.diff(np.array(places)[order]) >= 0.075 - 1e-9).all()
    assert min(places) >= -1e-9 and max(places) <= 1 + 1e-9


def test_bands_are_steps_and_the_axis_ends_where_nothing_changes_any_more():
    """The horizon is 12 times as long as the longest operation."""
    cells = {'fast': {'spoons': of([5.0, 10.0, 20.0], [True, True, False])}}
    band = Band(np.array([0.0, 5.0, 10.0, 240.0]), np.array([0, 0.1, 0.3, 0.3]), np.ones(4))
    figure = cdf_figure(cells, 240.0, {'fast': {'spoons': band}})
    (shaded,) = [trace for trace in figure.data if trace.get('fill') == 'toself']
    lower = dict(zip(shaded['x'][::2][:3], shaded['y'][::2][:3]))
    assert shaded['x'][:6] == [0, 5, 5, 10, 10, 24]
    assert shaded['y'][:6] == [0, 0, 0.1, 0.1, 0.3, 0.3] and lower[5] == 0.1
    assert figure.layout['xaxis']['range'][1] < 30
    assert figure.layout['xaxis']['tickvals'] == [0, 5, 10, 15, 20]
    assert 'done by τ = 240 s' in figure.caption and 'longer than 20 s' in figure.caption
    between = Band(np.array([0.0, 7.0, 240.0]), np.array([0, 0.2, 0.3]), np.ones(3))
    figure = cdf_figure(cells, 25.0, {'fast': {'spoons': between}})  # not at the steps: no steps
    (shaded,) = [trace for trace in figure.data if trace.get('fill') == 'toself']
    assert shaded['x'][:2] == [0, 7] and len(shaded['x']) == 4
    assert macro_cdf_figure(cells, 25.0).layout['xaxis']['range'][1] > 25
