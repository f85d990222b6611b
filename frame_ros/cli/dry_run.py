# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The processes that a run would start, as text."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from frame_ros.bringup.process_table import Process
from frame_ros.bringup.run_options import RunOptions


def describe_run(options: RunOptions, processes: Sequence[Process], directory: Path) -> str:
    """Returns folder, policy, expected topics, and every process with its command line."""
    prefix = f'/{options.namespace.strip("/")}/' if options.namespace else '/'
    recorder = next(p for p in processes if p.executable == 'episode_recorder')
    expected = recorder.parameters['topics.expected']
    assert isinstance(expected, list)
    names = [str(topic) if str(topic).startswith('/') else f'{prefix}{topic}' for topic in expected]
    lines = [
        f'directory: {directory.resolve()}' + ('' if options.record else ' (logs only)'),
        f'policy:    {options.policy}',
        f'namespace: {prefix}',
        f'expected in every episode: {", ".join(names)}',
    ]
    for process in processes:
        lines += ['', f'{process.name}:', f'  {shlex.join(process.command(options.namespace))}']
        renamed = {ours: theirs for ours, theirs in process.remappings.items() if ours != theirs}
        if renamed:
            pairs = ', '.join(f'{ours} as {theirs}' for ours, theirs in renamed.items())
            lines.append(f'  topics: {pairs}')
    return '\n'.join(lines)
