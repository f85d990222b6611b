# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""CDFs of time to success (PhAIL, figures 1a and 2): per object, and their mean over objects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.survival.cell import Cell
from frame_ros.evaluation.survival.kaplan_meier import KaplanMeier
from frame_ros.reports.comparison_figures.curves import (
    Array,
    Band,
    curves_of,
    macro_steps,
    step_corners,
)
from frame_ros.reports.comparison_figures.style import (
    PANELS,
    Look,
    Trace,
    coloured,
    empty_note,
    labels_of,
    looks_of,
    shown_objects,
    spread,
)
from frame_ros.reports.html.panels import axes_of, legend_below, small_multiples, transparent
from frame_ros.reports.html.study_page import Figure
from frame_ros.reports.model.numbers import plot_numbers

STRIP = 0.17  # of tau, right of it, for the shares that are done by tau
MACRO_STRIP = 0.36  # the same, with the names
SHORT = 18  # characters of a name there
LABEL_DISTANCE = 0.075  # of the height, between those shares
MACRO_HEIGHT = 400
BAND_POINTS = 80
PANEL_STEPS = 300  # of a curve in a panel of several, about a pixel each
TICKS = (*np.outer([0.001, 0.01, 0.1, 1], [1, 2, 5]).ravel(), 10, 15, 30, 60, 120, 300, 600)  # s
# An axis up to tau is that much longer than the operations at least, or ends with them.
LONGER = 1.5
ABOUT = (
    'Share of operations that are done within a time (Kaplan-Meier): the higher and the further '
    'left, the better. The percentages are the shares done by τ = {tau:g} s. What a curve lacks to '
    '1 there are hard failures, which no time mends, and operations that need longer.'
)


def cdf_figure(
    cells: Mapping[str, Mapping[str, Cell]],
    tau: float,
    bands: Mapping[str, Mapping[str, Band]] | None = None,
    looks: Mapping[str, Look] | None = None,
) -> Figure:
    """Returns a panel per object with the CDF of every policy.

    Args:
        cells: policy -> object -> operations, a human reference among them.
        tau: s, the end of the axis.
        bands: policy -> object -> pointwise 95 % interval.
        looks: of the policies, as `looks_of` makes them; by their order if not given.
    """
    looks = looks or looks_of(cells)
    curves = {policy: curves_of(row) for policy, row in cells.items()}
    objects, more = shown_objects(curves)
    about_all, tau = _about_axis(cells, tau)
    titles = list(labels_of(objects).values()) or ['']
    layout = small_multiples(titles, 'time to success (s)', 'share of operations done')
    data: list[Trace] = []
    named: set[str] = set()
    for panel, name in enumerate(objects, 1):
        ends: dict[str, float] = {}
        for policy, row in curves.items():
            if name not in row:
                continue
            corners, look = step_corners(row[name], tau, PANEL_STEPS), looks[policy]
            band = (bands or {}).get(policy, {}).get(name)
            about = _about([row[name]])
            data += _curve(corners, look, band, tau, panel, policy not in named, about)
            ends[policy] = float(corners[1][-1])
            named.add(policy)
        _add_ends(layout, ends, looks, tau, panel)
    _format(layout, tau, not objects)
    has_bands = ' Shaded: 95 % interval over resampled episodes.' if bands else ''
    return Figure(data, layout, f'{about_all}{has_bands}{more}', PANELS)


def macro_cdf_figure(
    cells: Mapping[str, Mapping[str, Cell]],
    tau: float,
    bands: Mapping[str, Band] | None = None,
    looks: Mapping[str, Look] | None = None,
) -> Figure:
    """Returns the mean over objects, with equal weights, of the CDF of every policy.

    Args:
        cells: policy -> object -> operations; the mean is over the objects that all policies have.
        tau: s, the end of the axis.
        bands: policy -> pointwise 95 % interval of the mean.
        looks: of the policies, as `looks_of` makes them; by their order if not given.
    """
    looks = looks or looks_of(cells)
    curves = {policy: curves_of(row) for policy, row in cells.items()}
    objects = shared_objects(curves)
    about_all, tau = _about_axis(cells, tau)
    layout = small_multiples([''], 'time to success (s)', 'share of operations done')
    layout.update(height=MACRO_HEIGHT, legend=legend_below(MACRO_HEIGHT - 92))
    layout['margin']['t'], layout['annotations'] = 14, []
    data: list[Trace] = []
    ends: dict[str, float] = {}
    texts, short = dict[str, str](), labels_of(curves, SHORT)
    for policy, row in curves.items():
        if not objects:
            break
        corners, band = macro_steps([row[name] for name in objects], tau), (bands or {}).get(policy)
        used = [row[name] for name in objects]
        about = _about(used)
        data += _curve(corners, looks[policy], band, tau, 1, True, about)
        ends[policy] = float(corners[1][-1])
        texts[policy] = f'{short[policy]}, {100 * _hard(used):.0f} % failed hard'
    _add_ends(layout, ends, looks, tau, 1, texts)
    _format(layout, tau, not objects, MACRO_STRIP)
    mean = (
        f' Mean over {counted(len(objects), "object")} that all have, with equal weights.'
        if len(objects) != 1
        else ''
    )
    has_bands = ' Shaded: 95 % interval over resampled episodes.' if bands else ''
    return Figure(data, layout, f'{about_all}{mean}{has_bands}')


def _about_axis(cells: Mapping[str, Mapping[str, Cell]], tau: float) -> tuple[str, float]:
    """Returns the figure in words, and the end of its axis: tau, or shortly behind the last
    operation where the curves stay flat for most of the way to tau.
    """
    times = [cell.times[np.isfinite(cell.times)] for row in cells.values() for cell in row.values()]
    last = max((float(each.max()) for each in times if len(each)), default=tau)
    about = ABOUT.format(tau=tau)
    if last <= 0.0 or LONGER * last >= tau:
        return about, tau
    return f'{about} No operation took longer than {last:.3g} s: the curves stay as they are.', (
        1.2 * last
    )


def shared_objects(curves: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Returns the objects that every policy has, in the order of the first."""
    rows = list(curves.values())
    return [name for name in rows[0] if all(name in row for row in rows)] if rows else []


def _hard(curves: Sequence[KaplanMeier]) -> float:
    """Returns the share of hard failures."""
    return sum(each.ghosts for each in curves) / sum(each.count for each in curves)


def _about(curves: Sequence[KaplanMeier]) -> str:
    count = sum(each.count for each in curves)
    return f'{counted(count, "operation")}, {100 * _hard(curves):.3g} % failed hard'


def _curve(
    corners: tuple[Array, Array],
    look: Look,
    band: Band | None,
    tau: float,
    panel: int,
    is_named: bool,
    about: str,
) -> list[Trace]:
    data = [] if band is None else _shaded(band, corners, look, tau, panel)
    data.append(
        {
            'type': 'scatter', 'mode': 'lines', 'name': look.label, 'legendgroup': look.label,
            'showlegend': is_named, 'x': plot_numbers(corners[0]), 'y': plot_numbers(corners[1]),
            'line': look.line(shape='hv'), 'marker': {'color': look.colour}, **axes_of(panel),
            'hovertemplate': f'%{{y:.1%}} within %{{x:.1f}} s<br>{about}'
                             f'<extra>{look.label}</extra>',
        }
    )  # fmt: skip
    return data


def _shaded(
    band: Band, corners: tuple[Array, Array], look: Look, tau: float, panel: int
) -> list[Trace]:
    known = np.isfinite(band.lower) & np.isfinite(band.upper) & (np.asarray(band.times) <= tau)
    if not known.any():
        return []
    times, lower, upper = (np.asarray(each, float)[known] for each in band)
    later = np.asarray(band.times)[np.asarray(band.times) > times[-1]]
    kept = _kept(lower, upper)
    times, lower, upper = times[kept], lower[kept], upper[kept]
    # A band at all steps of the curve is made of steps; one at some of them would lag behind it.
    steps = corners[0][np.diff(corners[1], prepend=0.0) > 0.0]
    if np.isin(steps, band.times).all():
        end = min(float(later[0]), tau) if len(later) else tau
        times, lower, upper = _stepped(np.append(times, end), lower, upper)
    return [
        {
            'type': 'scatter', 'mode': 'lines', 'line': {'width': 0}, 'hoverinfo': 'skip',
            'showlegend': False, 'legendgroup': look.label, 'fill': 'toself',
            'x': plot_numbers(np.append(times, times[::-1])),
            'y': plot_numbers(np.append(lower, upper[::-1]), 3),
            'fillcolor': transparent(look.colour), **axes_of(panel),
        }
    ]  # fmt: skip


def _stepped(times: Array, *values: Array) -> tuple[Array, ...]:
    """Returns the corners of step curves: (k + 1,) times, (k,) values that hold from one of them to
    the next.
    """
    return np.repeat(times, 2)[1:-1], *(np.repeat(each, 2) for each in values)


def _kept(lower: Array, upper: Array) -> NDArray[np.intp]:
    """Returns the places of a band at which it visibly changes, and both ends, at most about
    BAND_POINTS.
    """
    changes = np.any(np.diff(np.round([lower, upper], 3), prepend=-1.0), axis=0)
    changes[-1] = True
    places = np.flatnonzero(changes)
    return places[np.unique(np.linspace(0, len(places) - 1, BAND_POINTS).round().astype(int))]


def _add_ends(
    layout: dict[str, Any],
    ends: Mapping[str, float],
    looks: Mapping[str, Look],
    tau: float,
    panel: int,
    texts: Mapping[str, str] | None = None,
) -> None:
    """Writes the shares that are done by tau right of it, and draws tau."""
    axes = axes_of(panel)
    heights = spread(list(ends.values()), LABEL_DISTANCE, 0.02, 0.99)
    for (policy, end), height in zip(ends.items(), heights):
        text = f'{100 * end:.0f} % {(texts or {}).get(policy, "")}'
        layout['annotations'].append(
            {
                'text': coloured(text, looks[policy].colour), 'showarrow': False,
                'x': 1.02 * tau, 'xref': axes['xaxis'], 'xanchor': 'left',
                'y': round(height, 4), 'yref': axes['yaxis'], 'yanchor': 'middle',
            }
        )  # fmt: skip
    layout.setdefault('shapes', []).append(
        {'type': 'line', 'xref': axes['xaxis'], 'x0': tau, 'x1': tau, 'y0': 0, 'y1': 1,
         'yref': f'{axes["yaxis"]} domain', 'layer': 'below', 'line': {'width': 1, 'dash': 'dot'}}
    )  # fmt: skip


def _format(layout: dict[str, Any], tau: float, is_empty: bool, strip: float = STRIP) -> None:
    step = next(each for each in TICKS if 6 * each >= tau) if tau < 6 * TICKS[-1] else tau / 4
    ticks = np.arange(0.0, 1.001 * tau, step).tolist()
    for axis in [key for key in layout if key.startswith('xaxis')]:
        layout[axis].update(range=[0, (1 + strip) * tau], zeroline=False, tickvals=ticks)
    for axis in [key for key in layout if key.startswith('yaxis')]:
        layout[axis].update(range=[-0.02, 1.03], tickformat='.0%', dtick=0.25)
    if is_empty:
        empty_note(layout, 1, 'no operations with known times')
