# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Success rates with Wilson intervals and the letters of policies that do not differ."""

from __future__ import annotations

from collections.abc import Mapping

from frame_ros.metrics import wilson_interval
from frame_ros.reports.comparison_figures.forest import ForestRow, forest_figure
from frame_ros.reports.comparison_figures.style import CONFIDENCE, Look, looks_of
from frame_ros.reports.html.study_page import Figure

NONE = float('nan')


def success_rate_figure(
    counts: Mapping[str, tuple[int, int]],
    letters: Mapping[str, str] | None = None,
    looks: Mapping[str, Look] | None = None,
    confidence: float = CONFIDENCE,
) -> Figure:
    """Returns a row per policy.

    Args:
        counts: policy -> successes, trials.
        letters: policy -> compact letters; policies that share one do not differ.
        looks: of the policies, as `looks_of` makes them; by their order if not given.
        confidence: of the intervals.
    """
    looks = looks or looks_of(counts)
    rows = []
    for policy, (successes, trials) in counts.items():
        lower, upper = wilson_interval(successes, trials, confidence) if trials else (NONE, NONE)
        rate = 100 * successes / trials if trials else NONE
        words = [f'{successes} of {trials}'] if trials else ['no trials']
        if (letters or {}).get(policy):
            words.append(f'({letters[policy]})')  # type: ignore[index]
        estimate = rate, 100 * lower, 100 * upper
        rows.append(ForestRow(policy, estimate, ' '.join(words), looks[policy]))
    same = ' Policies that share a letter are not distinguishable.' if letters else ''
    figure = forest_figure(
        rows, 'success rate (%)', f'Share of successful episodes, Wilson intervals.{same}',
        confidence=confidence,
    )  # fmt: skip
    figure.layout['xaxis']['range'] = [-2, 102]
    return figure
