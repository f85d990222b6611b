# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of a comparison of policies."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from frame_ros.evaluation.policy_comparison.study import Study
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.reports.comparison.episodes import episodes_part, rules_part, sets_part
from frame_ros.reports.comparison.pair_parts import pairs_part, successes_part, times_part
from frame_ros.reports.comparison.score_parts import (
    conditions_part,
    failures_part,
    labels_part,
    objects_part,
    scalars_part,
    scores_part,
)
from frame_ros.reports.comparison.words import (
    headline,
    outcome_words,
    score_of,
    verdict_lines,
    warnings,
)
from frame_ros.reports.comparison_figures.cdf import cdf_figure, macro_cdf_figure
from frame_ros.reports.comparison_figures.curves import Band
from frame_ros.reports.comparison_figures.forest import ForestRow, forest_figure
from frame_ros.reports.comparison_figures.pp import pp_figure
from frame_ros.reports.comparison_figures.qq import qq_figure
from frame_ros.reports.comparison_figures.rmst_grid import rmst_grid_figure
from frame_ros.reports.comparison_figures.style import Look, looks_of
from frame_ros.reports.comparison_figures.trade_off import trade_off_figure
from frame_ros.reports.html.study_page import Figure, Part, StudyPage

Looks = dict[str, Look]


def comparison_page(study: Study, title: str = '', folder: Path | None = None) -> StudyPage:
    """Returns the page of a comparison.

    folder: of the page, from which bags are linked; the current one by default.
    """
    place = folder or Path()
    order = [*study.letters, *([study.human] if study.human else [])]
    looks = looks_of(order, [study.human] if study.human else [])
    options = study.options
    return StudyPage(
        title=title
        or f'Comparison of {" and ".join(study.policies[:3])}'
        + (' and others' if len(study.policies) > 3 else ''),
        kicker='frame_ros comparison of policies',
        headline=headline(study),
        verdict=verdict_lines(study),
        warnings=warnings(study),
        facts=[
            ('Policies', f'{len(study.policies)}'),
            ('Objects', f'{len(study.objects)}'),
            ('Episodes', f'{len(study.episodes):,}'),
            ('Operations', f'{sum(row.operations for row in study.cells):,}'),
            ('Horizon', f'{options.tau:g} s'),
            ('Level', f'{options.alpha:g}, {options.correction}'),
            ('Intervals', f'{options.resamples:,} resamples, seed {options.seed}'),
        ],
        parts=_parts(study, looks, place),
    )


def _parts(study: Study, looks: Looks, folder: Path) -> list[Part]:
    cells = _cells(study)
    has_times = bool(cells)
    parts = [scores_part(study, _score_figures(study, cells, looks))]
    if study.pairs:
        parts.append(pairs_part(study, _pair_figures(study)))
    if any(pair.times for pair in study.pairs):
        parts.append(times_part(study))
    if any(pair.successes for pair in study.pairs):
        parts.append(successes_part(study))
    if len(study.policies) > 1 and len(study.scores) > 1:
        parts.append(scalars_part(study))
    parts.append(objects_part(study, _object_figures(study, cells, looks)))
    if has_times:
        parts.append(failures_part(study, looks))
        parts.append(Part('Shapes of the CDFs', [], _shape_figures(study, cells, looks), 'shapes'))
    if study.conditions:
        parts.append(conditions_part(study, looks))
    if study.labels:
        parts.append(labels_part(study))
    return [*parts, rules_part(study, folder), sets_part(study), episodes_part(study, folder)]


def _cells(study: Study) -> dict[str, dict[str, Cell]]:
    """Returns policy -> object -> operations, the best policy first, the human last."""
    order = [*study.letters, *([study.human] if study.human else [])]
    found = {
        policy: {
            row.object: row.cell
            for row in study.cells
            if row.policy == policy and row.cell is not None
        }
        for policy in order
    }
    return {policy: own for policy, own in found.items() if own}


def _score_figures(study: Study, cells: dict[str, dict[str, Cell]], looks: Looks) -> list[Figure]:
    score = score_of(study, study.headline_score)
    factor, unit = (100.0, '%') if score.unit == '' else (1.0, score.unit)
    rows = []
    for policy in study.letters:
        estimate = next(r for r in study.means if r.policy == policy).scores[score.id]
        ends = factor * estimate.value, factor * estimate.lower, factor * estimate.upper
        rows.append(ForestRow(policy, ends, estimate.reason, looks[policy]))
    figures = [
        forest_figure(
            rows, f'{score.name} ({unit})', f'{score.name}: {score.text}; mean over objects.',
            confidence=1.0 - study.options.alpha,
        )
    ]  # fmt: skip
    if cells:
        figures.append(macro_cdf_figure(cells, study.options.tau, _macro_bands(study), looks))
    return figures


def _macro_bands(study: Study) -> dict[str, Band]:
    """Returns the bands of the policies whose mean is over the objects that all have."""
    return {
        row.policy: Band(row.curve.times, row.curve.lower, row.curve.upper)
        for row in study.means
        if row.curve is not None and not any(each.missing for each in study.means)
    }


def _pair_figures(study: Study) -> list[Figure]:
    rows = [
        ForestRow(
            f'{pair.first} − {pair.second}',
            (
                pair.times.rmst_difference.value,
                pair.times.rmst_difference.lower,
                pair.times.rmst_difference.upper,
            ),
            outcome_words(pair),
        )
        for pair in study.pairs
        if pair.times is not None
    ]
    if rows:
        return [
            forest_figure(
                rows, 'difference of RMST (s)',
                'Difference of restricted mean time to success, mean over objects.',
                0.0, ('first is faster', 'second is faster'), 1.0 - study.options.alpha,
            )
        ]  # fmt: skip
    rows = []
    for pair in study.pairs:
        primary = pair.successes.result.primary if pair.successes else None
        if primary is not None:
            ends = 100 * primary.difference, 100 * primary.lower, 100 * primary.upper
            rows.append(ForestRow(f'{pair.first} − {pair.second}', ends, outcome_words(pair)))
    if not rows:
        return []
    return [
        forest_figure(
            rows, 'difference of success (percentage points)',
            'Difference of success rates, paired where half of the episodes are.',
            0.0, ('second is better', 'first is better'), 1.0 - study.options.alpha,
        )
    ]  # fmt: skip


def _object_figures(study: Study, cells: dict[str, dict[str, Cell]], looks: Looks) -> list[Figure]:
    if not cells:
        return []
    bands: dict[str, dict[str, Band]] = {}
    estimates: dict[str, dict[str, tuple[float, float, float]]] = {p: {} for p in cells}
    for row in study.cells:
        if row.curve is None:
            continue
        band = Band(row.curve.times, row.curve.lower, row.curve.upper)
        bands.setdefault(row.policy, {})[row.object] = band
        rmst = row.scores['rmst']
        estimates[row.policy][row.object] = rmst.value, rmst.lower, rmst.upper
    tau = study.options.tau
    return [
        cdf_figure(cells, tau, bands, looks),
        rmst_grid_figure(estimates, tau, looks=looks),
    ]


def _shape_figures(
    study: Study, cells: dict[str, dict[str, Cell]], looks: Looks
) -> Sequence[Figure]:
    tau = study.options.tau
    reference = study.human if study.human in cells else next(iter(cells))
    others = {policy: own for policy, own in cells.items() if policy != reference}
    found = []
    if others:
        found = [
            pp_figure(others, cells[reference], reference, tau, looks),
            qq_figure(others, cells[reference], reference, tau, looks),
        ]
    taus = [tau * share for share in (1 / 8, 1 / 4, 3 / 8, 1 / 2, 5 / 8, 3 / 4, 7 / 8, 1)]
    return [*found, trade_off_figure(cells, taus, looks=looks)]
