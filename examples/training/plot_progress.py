# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Draws the curves of a training run from its progress.json. Needs matplotlib.

python examples/training/plot_progress.py runs/act/progress.json progress.png
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

PANELS = (
    ('loss', 'training loss'),
    ('sr', 'success rate'),
    ('ps', 'PS'),
    ('ti', 'RMS jerk, m/s³'),
    ('ate', 'ATE, m'),
    ('time', 'time to success, s'),
)
ENDS = 'lower', 'upper'


def curve(evaluations: list[dict[str, Any]], name: str) -> list[tuple[float, ...]]:
    """(step, value, lower, upper) of each evaluation that has a value; where there is no interval,
    of one episode say, its ends are NaN.
    """
    rows = []
    for record in evaluations:
        if name == 'loss':
            estimate = {'value': record['loss'], 'lower': record['loss'], 'upper': record['loss']}
        else:
            estimate = record['success_rate'] if name == 'sr' else record['metrics'][name]
        if estimate['value'] is not None:
            ends = (math.nan if (end := estimate[key]) is None else end for key in ENDS)
            rows.append((record['step'], estimate['value'], *ends))
    return rows


def main() -> None:
    """Writes the picture."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('progress', type=Path)
    parser.add_argument('picture', type=Path)
    options = parser.parse_args()
    import matplotlib

    matplotlib.use('Agg')
    from matplotlib import pyplot

    record = json.loads(options.progress.read_text())
    expert = record['run']['demonstrator']
    figure, axes = pyplot.subplots(2, 3, figsize=(10, 5.2), sharex=True, layout='constrained')
    for axis, (name, title) in zip(axes.flat, PANELS):
        rows = curve(record['evaluations'], name)
        if rows:
            steps, values, lower, upper = zip(*rows)
            axis.fill_between(steps, lower, upper, alpha=0.2, linewidth=0)
            axis.plot(steps, values, marker='o', markersize=3)
        if name != 'loss' and (goal := curve([expert], name)):
            axis.axhline(goal[0][1], color='grey', linestyle='--', linewidth=1)
        axis.set_title(title, fontsize=10)
        axis.set_ylim(bottom=0)
        axis.grid(alpha=0.3)
    for axis in axes[-1]:
        axis.set_xlabel('gradient steps')
    figure.savefig(options.picture, dpi=110)


if __name__ == '__main__':
    main()
