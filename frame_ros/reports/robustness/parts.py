# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Parts of the page of robustness for one policy, task and robot."""

from __future__ import annotations

import math
from collections.abc import Sequence

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.scene_trials.robustness.factors import (
    LEAST_IN_BIN,
    LEAST_SCENES,
    FactorEffect,
)
from frame_ros.evaluation.scene_trials.robustness.regions import Region
from frame_ros.evaluation.scene_trials.robustness.scene_factors import SIMILARITY
from frame_ros.evaluation.scene_trials.robustness.scene_table import SUCCESS, family_of
from frame_ros.evaluation.scene_trials.robustness.sobol import LEAST_ROWS, SobolIndex
from frame_ros.evaluation.scene_trials.robustness.study import GroupStudy
from frame_ros.reports.html.study_page import BAD, QUIET, STRONG, Cell, Figure, Part, Table
from frame_ros.reports.model.numbers import UNAVAILABLE, readable
from frame_ros.reports.robustness.figures import (
    confounder_figure,
    effects_figure,
    heat_figure,
    outcome_label,
    overview_figure,
    shares_figure,
)

MOST_SHARES = 4  # metrics with a figure of their shares


def group_parts(group: GroupStudy, place: int, is_only: bool) -> list[Part]:
    """Returns the parts of one group. place: of the group, for the anchors."""
    found = [
        _regions(group),
        _success(group),
        _metrics(group),
        _table(group),
        _confounders(group),
        Part('Failures over the table', [], [heat_figure(group.heat)], 'heat'),
        _shares(group),
        _noise(group),
    ]
    head = '' if is_only else f'{group.table.name}: '
    return [
        Part(
            f'{head}{each.heading[0].lower() if head else each.heading[0]}{each.heading[1:]}',
            each.paragraphs,
            each.content,
            f'{each.anchor}-{place}' if place else each.anchor,
            each.is_folded,
        )
        for each in found
        if each.paragraphs or each.content
    ]


def interval_text(value: float, ends: tuple[float, float]) -> str:
    """Returns a rate with its interval in per cent."""
    if not math.isfinite(value):
        return UNAVAILABLE
    low, high = ends
    if not math.isfinite(low):
        return f'{100 * value:.0f} %'
    return f'{100 * value:.0f} % [{100 * low:.0f}, {100 * high:.0f}]'


def chosen_text(group: GroupStudy) -> str:
    """Returns the reason for which no factor is named where scenes were chosen by outcomes."""
    return (
        f'No factor is named: {group.chosen} of {counted(len(group.table.scenes), "scene")} come '
        'from a search or breaking, which choose scenes by the outcomes of others, so that an '
        'effect may be that of the choice.'
    )


def p_cell(p: float, level: float = 0.05) -> Cell:
    """Returns a p-value; strong below the level."""
    if not math.isfinite(p):
        return Cell(UNAVAILABLE, QUIET)
    return Cell(f'{p:.3f}' if p >= 0.001 else '< 0.001', STRONG if p < level else '')


def _regions(group: GroupStudy) -> Part:
    found = group.regions
    texts = [
        f'{counted(found.looked_at, "condition")} on one or two factors were looked at over '
        f'{counted(found.scenes, "scene")}. p is the probability that the best of all of them '
        'would be as good if the factors did not matter (permutations); a region after the first '
        'must stand out from what the ones before it leave. The lift is the share of failures in '
        'the region over that of all scenes; its interval is wider than a plain one, as it holds '
        'for all conditions at once.'
    ]
    if found.reason:
        return Part('Regions of failure', [f'None were looked for: {found.reason}.'], [], 'regions')
    if not found.found:
        texts.insert(0, 'No region stands out from chance.')
        return Part('Regions of failure', texts, [], 'regions')
    header = ('region', 'scenes', 'failures', 'share failed', 'lift', 'interval of the lift', 'p')
    rows = [_region_row(each) for each in found.found]
    table = Table(header, rows, numbers=frozenset((1, 2, 3, 4, 5, 6)))
    return Part('Regions of failure', texts, [table], 'regions')


def _region_row(region: Region) -> list[str | Cell]:
    others = (('much the same', region.also), ('stands out as much', region.rivals))
    also = '; '.join(f'{text}: {", ".join(names)}' for text, names in others if names)
    return [
        Cell(region.name, STRONG, below=also),
        f'{region.scenes}',
        readable(region.failures, 3),
        Cell(f'{100 * region.rate:.0f} %', BAD, strength=0.6 * region.rate),
        f'{region.lift:.2f}',
        f'{region.lower:.2f} to {region.upper:.2f}',
        p_cell(region.p),
    ]


def _by_p(effects: Sequence[FactorEffect]) -> list[FactorEffect]:
    return sorted(effects, key=lambda each: each.p if math.isfinite(each.p) else 2.0)


def _success(group: GroupStudy) -> Part:
    own = [each for each in _by_p(group.effects) if each.outcome == SUCCESS and each.bins]
    if not own:
        return Part(
            'Success against each factor', ['The scenes differ in no factor.'], [], 'success'
        )
    significant = [each.factor for each in own if each.is_significant]
    texts = [
        f'Success depends on: {", ".join(significant)}.'
        if significant
        else 'No factor has a significant effect on success.'
    ]
    if group.chosen:
        texts = [chosen_text(group)]
    if all(each.scenes < LEAST_SCENES for each in own):
        texts = [f'A test needs {LEAST_SCENES} scenes.']
    figure = effects_figure(own, 'Success rate by factor, the smallest p first.')
    return Part('Success against each factor', texts, [figure], 'success')


def _metrics(group: GroupStudy) -> Part:
    others = [each for each in group.effects if each.outcome != SUCCESS]
    if not others:
        return Part('Quality, safety and confidence against each factor')
    families: dict[str, list[str]] = {}
    for name in group.table.metrics:
        families.setdefault(family_of(name), []).append(name)
    texts = [
        'Metrics: ' + '; '.join(f'{f}: {", ".join(names)}' for f, names in families.items()) + '.'
    ]
    if group.chosen:
        texts.insert(0, chosen_text(group))
    significant = [each for each in _by_p(others) if each.is_significant]
    content: list[Table | Figure] = [overview_figure(group.effects)]
    if all(each.scenes < LEAST_SCENES for each in group.effects):
        texts.append(f'A test needs {LEAST_SCENES} scenes.')
        content = []
    elif significant:
        content.append(effects_figure(significant, 'Metrics by factor, the smallest p first.'))
    else:
        texts.append('No factor has a significant effect on a metric.')
    return Part('Quality, safety and confidence against each factor', texts, content, 'metrics')


def _table(group: GroupStudy) -> Part:
    header = (
        'outcome', 'family', 'factor', 'scenes', "Spearman's ρ", 'p of the trend', 'p of the bins',
        'adjusted p', 'span of the bins',
    )  # fmt: skip
    rows: list[list[str | Cell]] = [
        [
            Cell(each.outcome, hint=outcome_label(each.outcome)), family_of(each.outcome),
            each.factor, f'{each.scenes}', readable(each.rho, 2), p_cell(each.trend_p, 0),
            p_cell(each.bins_p, 0), p_cell(each.p_holm), readable(each.span, 3),
        ]
        for each in _by_p(group.effects)
    ]  # fmt: skip
    if not rows:
        return Part('All tests of factors')
    text = (
        "The trend is tested by Spearman's correlation, the bins by the test of Kruskal and "
        "Wallis; the smaller p counts twice, and is adjusted by Holm's method: of success for all "
        'factors, of metrics for all factors and metrics. The span is the mean of the highest bin '
        'minus that of the lowest.'
    )
    table = Table(header, rows, numbers=frozenset(range(3, 9)), is_sortable=True)
    return Part('All tests of factors', [text], [table], 'tests', is_folded=True)


def _confounders(group: GroupStudy) -> Part:
    found = group.confounders
    if len(found.sweep) < 2:
        return Part('Confounders')
    texts = [
        f'Correlation of success with their number: ρ = {readable(found.rho, 2)}, '
        f'p = {readable(found.trend_p, 2)}.'
    ]
    if found.similar:
        alike, other = found.similar[-1], found.dissimilar[-1]
        texts += [
            f'With the more similar half {interval_text(alike.rate, (alike.lower, alike.upper))} '
            f'succeed (n = {alike.scenes}), with the less similar half '
            f'{interval_text(other.rate, (other.lower, other.upper))} (n = {other.scenes}): '
            f'p = {readable(found.p, 2)} (exact, within scenes of one number), '
            f'A12 = {found.a12:.2f}.',
            SIMILARITY,
        ]
    return Part('Confounders', texts, [confounder_figure(found)], 'confounders')


def _shares(group: GroupStudy) -> Part:
    known = {name: each for name, each in group.sobol.outcomes.items() if each}
    if not known:
        return Part('Shares of the variance')
    text = (
        'From a design: rows whose scene could not be made or whose trial does not count are left '
        'out, factor by factor. Runs of one row have one policy seed; noise that is not of the '
        'seed adds to the total index.'
        if group.sobol.of_design
        else 'Estimated from scenes drawn at random: first order only. Factors that depend on each '
        'other, such as x and the radius of one place, share what they have in common, so that '
        'shares do not add up; what is missing to 100 % is interactions and noise between runs.'
    )
    left_out = [f'{e.factor} {e.left_out}' for e in known.get(SUCCESS, ()) if e.left_out]
    texts = [text, *([f'Rows left out: {", ".join(left_out)}.'] if left_out else [])]
    shown = [name for name in known if name != SUCCESS and _has_share(known[name])]
    ranked = sorted(shown, key=lambda name: -max(_share(each) for each in known[name]))
    names = [*([SUCCESS] if SUCCESS in known else []), *ranked[:MOST_SHARES]]
    if reason := _no_shares(group, known.get(SUCCESS, ())):
        texts.append(f'Of success there are no shares: {reason}.')
    if rest := len(known) - len(names):
        texts.append(
            f'Of {counted(rest, "more metric")} no factor has a share whose interval is above 0.'
            if len(ranked) <= MOST_SHARES
            else f'{counted(rest, "more metric")} {"is" if rest == 1 else "are"} in the JSON.'
        )
    drawn = [name for name in names if any(math.isfinite(each.first) for each in known[name])]
    content = [shares_figure(known[name], name) for name in drawn]
    return Part("Shares of the variance (Sobol' indices)", texts, content, 'sobol')


def _no_shares(group: GroupStudy, indices: Sequence[SobolIndex]) -> str:
    """The reason for which no index of success is known; '': one is, or there is no estimate."""
    if not indices or any(math.isfinite(each.first) for each in indices):
        return ''
    rows = max(each.rows for each in indices)
    if rows < LEAST_ROWS:
        return f'too few rows, {rows} of the design have all their results, {LEAST_ROWS} are needed'
    same = 'the samples A and B' if group.sobol.of_design else 'the scenes'
    return f'nothing varies, success is the same in all of {same}'


def _share(index: SobolIndex) -> float:
    return index.first if math.isfinite(index.first) else 0.0


def _has_share(indices: Sequence[SobolIndex]) -> bool:
    return any(each.first_interval[0] > 0 for each in indices)


def _noise(group: GroupStudy) -> Part:
    floor = group.noise
    heading = 'Noise floor: the same scene again'
    if not floor.outcomes:
        text = 'No scene was run more than once, so that noise between runs is not known.'
        return Part(heading, [text], [], 'noise')
    ends = (floor.lower, floor.upper)
    texts = [
        f'Two runs of the same scene with other policy seeds end differently with a probability of '
        f'{interval_text(floor.flip_rate, ends)} ({counted(floor.scenes, "scene")} with repeats; '
        "Wilson's interval, in which a scene is one trial however often it was run). "
        'A factor exceeds the floor if its effect is significant and its highest and lowest bin '
        'are further apart than the standard deviation between runs of one scene. Shares of the '
        f'variance have a 95 % bootstrap interval over scenes, if there are {LEAST_IN_BIN} or more '
        'and resamples differ.',
    ]
    rows: list[list[str | Cell]] = [
        [
            Cell(each.outcome, hint=outcome_label(each.outcome)), f'{each.scenes}', f'{each.runs}',
            readable(each.within, 3), interval_text(each.share, (each.lower, each.upper)),
            ', '.join(each.exceeding) or UNAVAILABLE, ', '.join(each.below) or UNAVAILABLE,
        ]
        for each in floor.outcomes
    ]  # fmt: skip
    header = (
        'outcome', 'scenes', 'runs', 'deviation within a scene', 'share of the variance',
        'factors that exceed it', 'significant, but within it',
    )  # fmt: skip
    return Part(heading, texts, [Table(header, rows, numbers=frozenset((1, 2, 3, 4)))], 'noise')
