# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The HTML page: one self-contained file, in which text from a bag stays text."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timezone
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from frame_ros.bags.findings import Level
from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import valid_text
from frame_ros.core.output_files import write_whole
from frame_ros.core.time import SECOND
from frame_ros.core.version import package_version
from frame_ros.episodes.episode import Episode
from frame_ros.reports.html.episode_pictures import as_json_script, episode_pictures
from frame_ros.reports.html.media import VideoBudget
from frame_ros.reports.html.projections import legend_svg
from frame_ros.reports.html.tables import COLUMNS, dot_strip
from frame_ros.reports.html.tiles import tiles
from frame_ros.reports.model.episode_check import EpisodeChecks, shared_findings
from frame_ros.reports.model.numbers import counted, readable, readable_unit, shortened
from frame_ros.reports.model.options import ReportOptions
from frame_ros.reports.parity.comparison import BAR
from frame_ros.reports.report import EPISODE_SECTIONS, REPORT_SECTIONS, Report

ASSETS = Path(__file__).parent / 'page_assets'
FRAGMENTS = Path(__file__).parents[1] / 'sections'
GLYPHS = {'success': '✓', 'failure': '✕', 'timeout': '◷', 'stopped': '■', 'unknown': '?'}
MOST_OPEN = 3
# Attributes of an episode that the page does not list with the others.
HIDDEN_ATTRIBUTES = frozenset(
    {'policy', 'checkpoint', 'instruction', 'robot', 'metrics_config', 'episode_id', 'start', 'end'}
    | {'outcome', 'namespace', 'frame_ros_version'}
)
LONGEST_FACT = 300

Progress = Callable[[Iterable[Any]], Iterable[Any]]


def build_report(
    episodes: Sequence[Episode],
    title: str = '',
    progress: Progress = iter,
    made: datetime | None = None,
    options: ReportOptions | None = None,
    checks: EpisodeChecks | None = None,
) -> str:
    """Returns one self-contained HTML page over these episodes, in their order.

    episodes: with `metrics` and `summary` filled; bags that could not be read or held no messages
    are named and do not count. progress: wraps the loop over episodes, for a progress bar. made:
    when, now by default. checks: those made already.

    Raises:
        SetupError: plotly's script is not installed.
    """
    report = Report(episodes, options, checks)
    budget = VideoBudget()
    drawn = [
        (part, episode_pictures(part.episode, budget)) for part in progress(list(report.parts()))
    ]
    plotly, script = _plotly_script(), (ASSETS / 'report.js').read_text(encoding='utf-8')
    return _template().render(
        report=report,
        title=title or _title(report.episodes),
        version=package_version(),
        made=(made or datetime.now(timezone.utc)).strftime('%Y-%m-%d %H:%M UTC'),
        content_security_policy=content_security_policy(plotly, script),
        css=Markup((ASSETS / 'report.css').read_text(encoding='utf-8')),
        plotly=Markup(plotly),
        script=Markup(script),
        recorded=_recorded(report.episodes),
        doubtful=shared_findings(report.checks, Level.DOUBTFUL),
        worth_knowing=shared_findings(report.checks, Level.WORTH_KNOWING),
        tiles=tiles(report),
        columns=COLUMNS,
        episodes=drawn,
        most_open=MOST_OPEN,
        bar=BAR,
        glyphs=GLYPHS,
        outcomes=[episode.outcome for episode in report.episodes],
    )


def write_report(
    episodes: Sequence[Episode],
    path: str | Path,
    title: str = '',
    progress: Progress = iter,
    options: ReportOptions | None = None,
    checks: EpisodeChecks | None = None,
) -> Path:
    """Writes the page of `build_report` to `path`, whole or not at all; returns the path.

    Raises:
        SetupError: the folder does not exist or cannot be written.
    """
    page = build_report(episodes, title, progress, options=options, checks=checks)
    write_whole(Path(path), valid_text(page), 'the report')  # names of files may be of any bytes
    return Path(path)


def content_security_policy(*scripts: str) -> str:
    """A policy under which the page runs these scripts and nothing else, and loads nothing from
    anywhere.
    """
    digests = (base64.b64encode(hashlib.sha256(s.encode()).digest()).decode() for s in scripts)
    allowed = ' '.join(f"'sha256-{digest}'" for digest in digests)
    return (
        f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; "
        'img-src data: blob:; media-src data:; worker-src blob:; font-src data:; '
        "base-uri 'none'; form-action 'none'"
    )


@lru_cache(maxsize=1)
def _plotly_script() -> str:
    """plotly.js as the plotly package carries it, found without importing the package.

    Line ends are as a browser reads them, so that the hash in the policy fits.
    """
    from importlib.util import find_spec

    spec = find_spec('plotly')
    path = (
        Path(spec.submodule_search_locations[0])
        if spec and spec.submodule_search_locations
        else None
    )
    file = path / 'package_data' / 'plotly.min.js' if path else None
    if file is None or not file.is_file():
        raise SetupError(
            'plotly is not installed, its script is part of every report: pip install plotly'
        )
    return file.read_text(encoding='utf-8').replace('\r\n', '\n').replace('</script', '<\\/script')


def _template() -> jinja2.Template:
    sections = (*REPORT_SECTIONS, *EPISODE_SECTIONS)
    own = {f'{section.key}.html': section.template for section in sections if section.template}
    loader = jinja2.ChoiceLoader(
        [jinja2.FileSystemLoader((ASSETS, FRAGMENTS)), jinja2.DictLoader(own)]
    )
    environment = jinja2.Environment(
        loader=loader, autoescape=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(
        readable=readable,
        counted=counted,
        readable_unit=readable_unit,
        facts=facts_of,
        script=as_json_script,
        strip=dot_strip,
        mark=legend_svg,
    )
    return environment.get_template('report.html')


def _title(episodes: Sequence[Episode]) -> str:
    policies = list(dict.fromkeys(filter(None, (e.attributes.get('policy') for e in episodes))))
    subject = ', '.join(policies[:3]) + (' …' if len(policies) > 3 else '')
    count = counted(len(episodes), 'episode')
    return f'{subject}: {count}' if subject else f'Report on {count}'


def _recorded(episodes: Sequence[Episode]) -> str:
    """Times of the first and last start, UTC; seconds alone where the clock is a simulation's; ''
    without any.
    """
    starts = [int(e.summary['start']) for e in episodes if e.summary.get('start')]
    if not starts:
        return ''
    first, last = min(starts), max(starts)
    if first < 10**17:
        return f'simulated time {first / SECOND:.1f} s' + (
            f' to {last / SECOND:.1f} s' if last != first else ''
        )
    a, b = (datetime.fromtimestamp(t / SECOND, timezone.utc) for t in (first, last))
    begin = a.strftime('%Y-%m-%d %H:%M')
    end = b.strftime('%H:%M' if a.date() == b.date() else '%Y-%m-%d %H:%M')
    return f'{begin} UTC' if begin.endswith(end) else f'{begin} – {end} UTC'


def facts_of(episode: Episode) -> list[tuple[str, str]]:
    """(name, value) of the attributes of an episode that the page shows with it."""
    shown = {'bag': episode.path.name if episode.path.name != episode.episode_id else ''}
    shown.update({k: v for k, v in episode.attributes.items() if k not in HIDDEN_ATTRIBUTES})
    facts = ((str(k), str(v)) for k, v in shown.items())
    return [(k.replace('_', ' '), shortened(v, LONGEST_FACT)) for k, v in facts if v]
