# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""One episode as the page shows it: figures, pictures, tables; everything still plain text and
numbers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from frame_ros.bags.findings import MEANINGS, Level
from frame_ros.bags.reader import Bag
from frame_ros.episodes.episode import Episode
from frame_ros.metrics import REGISTRY
from frame_ros.reports.html.figures import PANEL_HEIGHT, SURROUND, is_thinned, series_figure
from frame_ros.reports.html.media import Still, Video, VideoBudget, find_videos
from frame_ros.reports.html.path_figure import path_figure
from frame_ros.reports.html.path_marks import legend_svg, marked_points
from frame_ros.reports.html.projections import jerk_limit, view_svg
from frame_ros.reports.html.robot_outline import robot_outline
from frame_ros.reports.html.stills import camera_stills
from frame_ros.reports.model.contact_sensing import collisions, contact_sensing
from frame_ros.reports.model.contact_view import contact_view
from frame_ros.reports.model.episode_check import EpisodeCheck
from frame_ros.reports.model.intervention_view import intervention_view
from frame_ros.reports.model.metric_table import (
    LEFT_OUT,
    MetricRow,
    value_name,
)
from frame_ros.reports.model.numbers import counted, finite, readable, readable_unit
from frame_ros.reports.model.quality_counts import QualityCounts, quality_counts
from frame_ros.reports.model.rates import metric_rates
from frame_ros.reports.model.series import Path, panels, path, person_spans
from frame_ros.reports.model.truth_view import truth_view
from frame_ros.reports.model.verdict import OUTCOME_WORDS
from frame_ros.reports.parity.comparison import BAR
from frame_ros.reports.parity.verdict import parity_verdict

TOP, SIDE = (0, 1), (0, 2)

# Facts of an episode that the page names, beside all other attributes.
HIDDEN_ATTRIBUTES = frozenset(
    {'policy', 'checkpoint', 'instruction', 'robot', 'metrics_config', 'episode_id', 'start', 'end'}
    | {'outcome', 'namespace', 'frame_ros_version'}
)
LONGEST_FACT = 300


@dataclass(frozen=True)
class Column:
    """A column of the episode table. name: of a metric, of a field of the summary, or 'collisions'.
    factor: from SI to `unit`.
    """

    label: str
    unit: str
    name: str
    hint: str
    factor: float = 1.0


COLUMNS = (
    Column('duration', 's', 'duration', 'from START to END'),
    Column('to success', 's', 'time_to_success', 'from START to SUCCESS'),
    Column('steps', '', 'steps', 'executed actions'),
    Column('path length', 'm', 'pl', 'pl'),
    Column('smoothness', '', 'ps', 'ps: lower is smoother'),
    Column('RMS jerk', 'm/s³', 'ti', 'ti: trajectory instability'),
    Column('collisions', '', 'collisions', 'contacts that are not expected'),
    Column('nearest', 'mm', 'op', 'op: least distance to an obstacle', 1e3),
    Column('mean latency', 'ms', 'il', 'il: mean over the calls', 1e3),
    Column('95 % latency', 'ms', 'il_p95', 'il_p95: 95th percentile', 1e3),
    Column('mean rate', 'Hz', 'control_rate', 'control_rate'),
    Column('worst second', 'Hz', 'control_rate_worst', 'control_rate_worst'),
)


def episode_view(
    episode: Episode,
    number: int,
    rows: Sequence[MetricRow],
    check: EpisodeCheck,
    budget: VideoBudget,
    is_open: bool,
) -> dict[str, Any]:
    """Returns what the template needs for one episode; `number` counts from 1 in the order of
    `rows`' values.
    """
    bag = episode.open_bag()
    return {
        'number': number,
        'id': episode.episode_id or episode.path.name,
        'outcome': OUTCOME_WORDS[episode.outcome],
        'is_open': is_open,
        'is_truncated': episode.is_truncated,
        'is_static': episode.is_static and episode.steps > 0,
        'duration': finite(episode.summary.get('duration')),
        'steps': episode.steps,
        'cells': [cell(episode, column) for column in COLUMNS],
        'facts': _facts(episode),
        'metrics': [_metric(row, number - 1) for row in rows],
        **_figures(episode, path(episode)),
        **intervention_view(episode, bag),
        **contact_view(episode, bag),
        **truth_view(episode, bag),
        **_media(episode, bag, budget),
        **_checks(episode, check),
    }


def cell(episode: Episode, column: Column) -> float | None:
    """The value of a column of the episode table, in SI; None where unavailable."""
    if column.name == 'collisions':
        return collisions(episode)
    if column.name in REGISTRY:
        return episode.value(column.name)
    return finite(episode.summary.get(column.name))


def as_json_script(value: Any) -> Markup:
    """JSON that may stand in a script element: no character of it can end the element or begin a
    comment.
    """
    text = json.dumps(value, allow_nan=False, separators=(',', ':'))
    for character in '<>&\u2028\u2029':
        text = text.replace(character, f'\\u{ord(character):04x}')
    return Markup(text)


def _facts(episode: Episode) -> list[tuple[str, str]]:
    shown = {'bag': episode.path.name if episode.path.name != episode.episode_id else ''}
    shown.update({k: v for k, v in episode.attributes.items() if k not in HIDDEN_ATTRIBUTES})
    return [
        (
            name.replace('_', ' '),
            value if len(value) <= LONGEST_FACT else value[:LONGEST_FACT] + ' …',
        )
        for name, value in ((str(k), str(v)) for k, v in shown.items())
        if value
    ]


def _figures(episode: Episode, drawn: Path | None) -> dict[str, Any]:
    made, outline = panels(episode), robot_outline(episode)
    series = series_figure(episode, made)
    shown = [p for p in made if not p.is_empty]
    empty = [p.title for p in made if p.is_empty]
    return {
        'path_json': drawn and as_json_script(path_figure(drawn, outline)),
        'path_marks': _path_legend(drawn) if drawn else [],
        'outline': outline,
        'top_view': drawn and Markup(view_svg(drawn, TOP, 'Top view')),
        'side_view': drawn and Markup(view_svg(drawn, SIDE, 'Side view')),
        'jerk_limit': drawn and jerk_limit(drawn),
        'series_json': series and as_json_script(series),
        'series_height': PANEL_HEIGHT * len(shown) + SURROUND,
        'is_thinned': is_thinned(made),
        'empty_panels': empty,
        'is_contact_lost': contact_sensing(episode).lost > 0,
        'has_person': bool(person_spans(episode)),
    }


def _path_legend(drawn: Path) -> list[tuple[Markup, str]]:
    return [(Markup(legend_svg(mark)), mark.name) for mark, _ in marked_points(drawn)]


def _media(episode: Episode, bag: Bag | None, budget: VideoBudget) -> dict[str, Any]:
    videos: list[Video] = [budget.take(file) for file in find_videos(episode.path)]
    cameras: dict[str, list[Still]] = {}
    for picture in camera_stills(episode, bag) if bag else ():
        cameras.setdefault(picture.camera, []).append(picture)
    return {'videos': videos, 'cameras': list(cameras.items())}


def _checks(episode: Episode, check: EpisodeCheck) -> dict[str, Any]:
    counts = quality_counts(check.counts)
    return {
        'parity': parity_verdict([check.parity]),
        'parity_rows': sorted(check.parity, key=lambda row: row.holds),
        'bar': readable(BAR, 1),
        'rates': check.rates,
        'metric_rates': metric_rates(episode),
        'counts': counts,
        'doubtful': check.doubtful,
        'worth_knowing': check.texts(Level.WORTH_KNOWING),
        'quality_text': _quality_text(check, counts),
        'meanings': {what: MEANINGS[what] for what in counts.columns if what in MEANINGS},
        'unavailable': _unavailable(episode),
    }


def _unavailable(episode: Episode) -> dict[str, list[tuple[str, str]]]:
    """Reason -> (id, name) of the values that are unavailable for it."""
    found: dict[str, list[tuple[str, str]]] = {}
    for name, reason in episode.unavailable:
        found.setdefault(reason, []).append((name, value_name(name)))
    return found


def _quality_text(check: EpisodeCheck, counts: QualityCounts) -> str:
    parts = [f'{counted(len(check.doubtful), "finding")} of doubt'] * bool(check.doubtful)
    known = check.texts(Level.WORTH_KNOWING)
    parts += [f'{len(known):,} worth knowing'] * bool(known)
    parts += [f'{counts.total:,} counted'] * bool(counts.total)
    return ', '.join(parts) or 'good'


def _metric(row: MetricRow, index: int) -> dict[str, Any]:
    value = row.values[index]
    factor, unit = readable_unit([value], row.unit)
    is_left_out = bool(row.is_left_out) and row.is_left_out[index] and value is not None
    return {
        'name': row.name,
        'id': row.id,
        'aggregate': row.aggregate,
        'value': value,
        'factor': factor,
        'unit': unit,
        'higher_is_better': row.higher_is_better,
        'remark': LEFT_OUT if is_left_out else row.reasons[index],
    }
