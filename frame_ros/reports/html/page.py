# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The HTML page: one self-contained file, in which text from a bag stays text."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from frame_ros.bags.findings import Level
from frame_ros.core.input_files import valid_text
from frame_ros.core.output_files import write_whole
from frame_ros.core.plain_text import counted
from frame_ros.core.time import SECOND
from frame_ros.core.version import package_version
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.processing import settings_of
from frame_ros.reports.html.episode_pictures import episode_pictures
from frame_ros.reports.html.media import Video, VideoBudget, find_videos
from frame_ros.reports.html.page_frame import page_frame
from frame_ros.reports.html.tables import COLUMNS
from frame_ros.reports.html.tiles import tiles
from frame_ros.reports.model.episode_check import EpisodeChecks, shared_findings
from frame_ros.reports.model.numbers import shortened
from frame_ros.reports.model.options import ReportOptions
from frame_ros.reports.parity.comparison import BAR
from frame_ros.reports.report import REPORT_SECTIONS, EpisodeReport, Report
from frame_ros.reports.sections.episode_sections import EPISODE_SECTIONS

GLYPHS = {'success': '✓', 'failure': '✕', 'timeout': '◷', 'stopped': '■', 'unknown': '?'}
MOST_OPEN = 3
# Attributes of an episode that the page does not list with the others.
HIDDEN_ATTRIBUTES = frozenset(
    {'policy', 'checkpoint', 'instruction', 'robot', 'metrics_config', 'episode_id', 'start', 'end'}
    | {'outcome', 'namespace', 'frame_ros_version'}
)
LONGEST_FACT = 300
LONGEST_NAME = 60  # of a policy or an episode, and
LONGEST_HEAD = 120  # of a fact at the head, where they must leave room for the verdict

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
    return ''.join(_pieces(episodes, title, progress, made, options, checks))


def _pieces(
    episodes: Sequence[Episode],
    title: str,
    progress: Progress,
    made: datetime | None,
    options: ReportOptions | None,
    checks: EpisodeChecks | None,
) -> Iterator[str]:
    """Returns the pieces of the page of `build_report`."""
    report = Report(episodes, options, checks)
    checks, budget = checks or EpisodeChecks(), VideoBudget()
    drawn = [
        (part, {**checks.drawn(part.episode, episode_pictures), 'videos': _videos(part, budget)})
        for part in progress(report.parts)
    ]
    sections = (*REPORT_SECTIONS, *EPISODE_SECTIONS)
    own = {f'{section.key}.html': section.template for section in sections if section.template}
    template, frame = page_frame('report.html', own)
    return template.generate(
        report=report,
        title=title or _title(report.episodes),
        version=package_version(),
        made=(made or datetime.now(timezone.utc)).strftime('%Y-%m-%d %H:%M UTC'),
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
        facts_of=facts_of,
        longest_name=LONGEST_NAME,
        longest_head=LONGEST_HEAD,
        **frame,
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
    pieces = _pieces(episodes, title, progress, None, options, checks)
    # Names of files may be of any bytes.
    write_whole(Path(path), map(valid_text, pieces), 'the report')
    return Path(path)


def _videos(part: EpisodeReport, budget: VideoBudget) -> list[Video]:
    return [budget.take(file) for file in find_videos(part.episode.path)]


def _title(episodes: Sequence[Episode]) -> str:
    policies = list(dict.fromkeys(filter(None, (e.attributes.get('policy') for e in episodes))))
    subject = ', '.join(shortened(policy, LONGEST_NAME) for policy in policies[:3])
    subject += ' …' if len(policies) > 3 else ''
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
    shown['calibration'] = _calibration_text(episode)
    facts = ((str(k), str(v)) for k, v in shown.items())
    return [(k.replace('_', ' '), shortened(v, LONGEST_FACT)) for k, v in facts if v]


def _calibration_text(episode: Episode) -> str:
    """Returns the origin of the calibration that the scores were computed with; '' without one."""
    calibration = settings_of(episode).calibration
    if calibration is None:
        return ''
    origin = calibration.provenance
    counts = f'{counted(origin.successes, "success")}, {counted(origin.failures, "failure")}'
    parts = [origin.policy, counts, origin.newest and f'the newest of {origin.newest}']
    return ', '.join(part for part in parts if part)
