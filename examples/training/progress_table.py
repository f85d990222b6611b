# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The table of a training run: a row for every evaluation, as FRAME's table 5 and more."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from frame_ros.evaluation.rollouts import RolloutSummary

# Metric, heading, digits. Units are those of the registry: m, m/s3, ...
COLUMNS = (
    ('pl', 'PL (m)', 2),
    ('ps', 'PS', 3),
    ('cc', 'CC (1/m)', 2),
    ('ti', 'TI (m/s³)', 1),
    ('a_ai', 'A-AI', 4),
    ('tcp_ai', 'TCP-AI (mm)', 2),
    ('ot', 'OT', 4),
    ('ate', 'ATE (m)', 3),
    ('rte', 'RTE (mm)', 2),
    ('cr', 'CR', 4),
    ('op', 'OP (mm)', 1),
    ('il', 'IL (ms)', 1),
)
MILLI = ('tcp_ai', 'rte', 'op', 'il')


@dataclass(frozen=True)
class Checkpoint:
    """One evaluation. loss: mean of the training loss since the one before."""

    step: int
    loss: float
    summary: RolloutSummary

    def record(self) -> dict[str, Any]:
        """Plain values for JSON; what is unavailable is None."""
        summary = asdict(self.summary)
        summary['per_episode'] = {
            name: [_or_none(value) for value in values.tolist()]
            for name, values in self.summary.per_episode.items()
        }
        for estimate in (summary['success_rate'], *summary['metrics'].values()):
            estimate.update({key: _or_none(value) for key, value in estimate.items()})
        return {'step': self.step, 'loss': _or_none(self.loss), **summary}


def _or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def markdown_table(checkpoints: list[Checkpoint]) -> str:
    """The table as Markdown; '-' where a metric is unavailable."""
    headings = ['Steps', 'Loss', 'SR', '95 % interval', *(heading for _, heading, _ in COLUMNS)]
    lines = [_line(headings), _line(['---:'] * len(headings))]
    return '\n'.join(lines + [_line(_cells(checkpoint)) for checkpoint in checkpoints])


def _line(cells: list[str]) -> str:
    return '| ' + ' | '.join(cells) + ' |'


def _cells(checkpoint: Checkpoint) -> list[str]:
    rate = checkpoint.summary.success_rate
    cells = [
        f'{checkpoint.step:,}',
        f'{checkpoint.loss:.3f}' if math.isfinite(checkpoint.loss) else '-',
        f'{rate.value:.0%}',
        f'{rate.lower:.0%} to {rate.upper:.0%}',
    ]
    for name, _, digits in COLUMNS:
        value = checkpoint.summary.metrics[name].value * (1000 if name in MILLI else 1)
        cells.append(f'{value:.{digits}f}' if math.isfinite(value) else '-')
    return cells


def write_table(checkpoints: list[Checkpoint], folder: Path, facts: dict[str, Any]) -> None:
    """Writes progress.md, progress.csv and progress.json; facts: the run's options."""
    (folder / 'progress.md').write_text(markdown_table(checkpoints) + '\n', encoding='utf-8')
    records = [checkpoint.record() for checkpoint in checkpoints]
    text = json.dumps({'run': facts, 'evaluations': records}, indent=1)
    (folder / 'progress.json').write_text(text + '\n')
    with (folder / 'progress.csv').open('w', newline='') as file:
        writer = csv.writer(file)
        names = list(checkpoints[0].summary.metrics)
        writer.writerow(['step', 'loss', 'episodes', 'sr', 'sr_lower', 'sr_upper', *names])
        for checkpoint in checkpoints:
            rate, metrics = checkpoint.summary.success_rate, checkpoint.summary.metrics
            numbers = [rate.value, rate.lower, rate.upper, *(metrics[n].value for n in names)]
            row = [checkpoint.step, checkpoint.loss, checkpoint.summary.episodes, *numbers]
            writer.writerow(['' if not math.isfinite(value) else value for value in row])
