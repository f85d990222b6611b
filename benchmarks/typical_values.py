# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Typical values of every metric on the demo: recorded runs to docs/typical_values.json.

    frame-ros demo --episodes 10 --quality 1,1,0.9,0.5,0.2 --directory runs/typical
    python benchmarks/typical_values.py runs/typical

Episodes are grouped by the quality of the scripted policy. ATE, RTE and DTW are against the
successful episodes of the best quality, each measured against the others, never itself. Without
runs it records some (in a temporary folder) and only prints.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from parts.bars import parse

from frame_ros.core.errors import BagError
from frame_ros.core.version import package_version
from frame_ros.episodes import read_episodes
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.episode_errors import episode_errors
from frame_ros.episodes.reference import Reference
from frame_ros.episodes.reference_loading import is_successful, reference_of
from frame_ros.reports.model.metric_table import MetricRow, metric_rows, success_count
from frame_ros.reports.model.options import ReportOptions

OUTPUT = Path(__file__).resolve().parents[1] / 'docs' / 'typical_values.json'
DIGITS = 4
# Errors are computed here, against all references but the episode's own.
ERRORS = ReportOptions(match='time')
EPISODES, QUALITIES = 5, '1,1,0.9,0.5,0.2'


def main(argv: Sequence[str] | None = None) -> int:
    """Reads the runs and writes the file; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition('\n')[0])
    parser.add_argument('runs', nargs='*', type=Path, help='folders of bags of the demo')
    parser.add_argument('-o', '--output', type=Path, default=OUTPUT)
    args = parse(parser, argv)
    if not args.runs:
        with tempfile.TemporaryDirectory() as folder:
            record(Path(folder), *((2, '1') if args.short else (EPISODES, QUALITIES)))
            print_table(typical_values(read_runs([Path(folder)])))
        return 0
    values = typical_values(read_runs(args.runs))
    args.output.write_text(json.dumps(values, indent=1, allow_nan=False) + '\n', encoding='utf-8')
    print_table(values)
    print(f'written: {args.output}', file=sys.stderr)
    return 0


def record(folder: Path, episodes: int, qualities: str) -> None:
    """Runs the demo."""
    start = 'from frame_ros.cli import main; raise SystemExit(main())'
    command = [sys.executable, '-c', start, 'demo', '--no-report']
    command += ['--episodes', str(episodes), '--quality', qualities, '--directory', str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def read_runs(runs: Sequence[Path]) -> list[Episode]:
    """All episodes, their errors taken against the successful ones of the best quality.

    Raises:
        BagError: there is no successful episode with a quality.
    """
    first = [episode for run in runs for episode in read_episodes(run)]
    first = [episode for episode in first if episode.attributes.get('quality')]
    good = [episode for episode in first if is_successful(episode)]
    if not good:
        raise BagError('no successful episode with a quality in these runs: record a demo')
    best = max(float(episode.attributes['quality']) for episode in good)
    references: list[Reference] = [
        reference_of(e) for e in good if float(e.attributes['quality']) == best
    ]
    for episode in first:
        episode.references = tuple(references)
    return first


def typical_values(episodes: Sequence[Episode]) -> dict[str, Any]:
    """Returns the values for docs/generate.py: median, least and greatest per quality."""
    rows = metric_rows(episodes, [episode_errors(episode, ERRORS) for episode in episodes], ERRORS)
    names = sorted({e.attributes['quality'] for e in episodes}, key=float, reverse=True)
    rate = next(row for row in rows if row.id == 'control_rate').median
    return {
        'made_by': f'benchmarks/typical_values.py, frame_ros {package_version()}',
        'policy': episodes[0].attributes.get('policy', ''),
        'robot': episodes[0].attributes.get('robot', ''),
        'control_rate': rounded(rate or 0.0),
        'reference': 'ATE, RTE and DTW are against the nearest of '
        f'{len(episodes[0].references)} successful episodes of the best quality, never itself.',
        'groups': {name: group_values(episodes, rows, name) for name in names},
    }


def group_values(
    episodes: Sequence[Episode], rows: Sequence[MetricRow], quality: str
) -> dict[str, Any]:
    """One quality: its successes, and each metric that has a value."""
    places = [i for i, e in enumerate(episodes) if e.attributes['quality'] == quality]
    count = success_count([episodes[i] for i in places])
    metrics = {}
    for row in rows:
        known = [v for v in (row.values[i] for i in places) if v is not None]
        if known:
            found = {'median': median(known), 'least': min(known), 'greatest': max(known)}
            metrics[row.id] = {
                **{name: rounded(value) for name, value in found.items()},
                'episodes': len(known),
            }
    if count.rate is not None:
        metrics['sr'] = {
            **dict.fromkeys(('median', 'least', 'greatest'), rounded(count.rate)),
            'episodes': count.trials,
        }
    return {
        'episodes': len(places),
        'successes': count.successes,
        'trials': count.trials,
        'metrics': metrics,
    }


def rounded(value: float) -> float:
    """A number in a few digits, so that the file says no more than it knows."""
    return float(f'{value:.{DIGITS}g}')


def print_table(values: dict[str, Any]) -> None:
    """Medians, one metric a line."""
    groups = values['groups']
    print('metric'.ljust(24) + ''.join(f'quality {name}'.rjust(14) for name in groups))
    ids = dict.fromkeys(id for group in groups.values() for id in group['metrics'])
    for id in ids:
        cells = [group['metrics'].get(id) for group in groups.values()]
        texts = ['NaN' if cell is None else f'{cell["median"]:.4g}' for cell in cells]
        print(id.ljust(24) + ''.join(text.rjust(14) for text in texts))


if __name__ == '__main__':
    raise SystemExit(main())
