# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact by the force-torque thresholds on UCI's robot execution failures, which are of a real
robot.

    python benchmarks/execution_failures.py --folder FOLDER    # with lp1.data to lp5.data

The files are not part of the repository: they are UCI's data set Robot Execution Failures. They
name no unit, no posture and no tool, so they show how the thresholds stand to a real sensor's
readings in failures and without, and are no measure of accuracy; there is no bar. Without a folder
a generated file of the same form shows that all of it works.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
from parts.bars import parse

from frame_ros.evaluation.execution_failures import (
    PROBLEMS,
    SAMPLES,
    FailureRow,
    judge_failures,
    read_execution_failures,
)


def main() -> int:
    """Prints one row per problem and set of thresholds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--folder', default='', help='folder with lp1.data to lp5.data')
    options = parse(parser)
    with tempfile.TemporaryDirectory() as made:
        folder = options.folder or made
        if not options.folder:
            print('no --folder: generated windows, whose figures mean nothing')
            _generate(Path(made) / 'lp1.data')
        windows = read_execution_failures(folder)
    print(
        'thresholds   force  torque  problem                                         found   false'
    )
    for name, is_scaled in (('by default', False), ('scaled', True)):
        for row in judge_failures(windows, is_scaled=is_scaled):
            print(_in_words(name, row))
    return 0


def _in_words(name: str, row: FailureRow) -> str:
    found, false = f'{row.found} of {row.failures}', f'{row.false} of {row.normal}'
    text = f'{row.problem}: {PROBLEMS[row.problem]}'
    return f'{name:12}{row.force_on:6.1f}{row.torque_on:8.1f}  {text:45}{found:>12}{false:>9}'


def _generate(file: Path) -> None:
    """Writes windows of noise, and of noise with a push of 30."""
    rng = np.random.default_rng(0)
    lines = []
    for index in range(20):
        lines.append('collision' if index % 2 else 'normal')
        rows = np.rint(rng.normal(0.0, 0.3, (SAMPLES, 6)))
        rows[5:, 2] += 30 * (index % 2)
        lines += ['\t' + '\t'.join(str(int(value)) for value in row) for row in rows]
        lines += ['', '']
    file.write_text('\n'.join(lines))


if __name__ == '__main__':
    sys.exit(main())
