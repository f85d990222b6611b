# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes report FOLDER...`: the robustness of policies over the scenes of campaigns."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.metrics import format_table
from frame_ros.cli.scenes.action import FILES, Action, names_of
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import add_options, flag_of, from_arguments
from frame_ros.core.options import walk
from frame_ros.evaluation.scene_trials.robustness.study import RobustnessOptions

if TYPE_CHECKING:
    from frame_ros.evaluation.scene_trials.robustness.study import RobustnessStudy

DEFAULT_OUTPUT = 'robustness.html'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of `report`; those that another action has too are shared."""
    group = parser.add_argument_group('report')
    taken = {name for action in parser._actions for name in action.option_strings}
    if '--json' not in taken:
        text = 'print JSON instead of tables; no page unless --output'
        group.add_argument('--json', action='store_true', help=text)
    if '--title' not in taken:
        group.add_argument('--title', default='', help='heading of the page')
    shared = [each.name for each in walk(RobustnessOptions) if flag_of(each.name) in taken]
    add_options(group, RobustnessOptions, shared)
    own = argparse.ArgumentParser()
    add_options(own, RobustnessOptions)
    for action in parser._actions:
        if action.dest == 'success_rule' and '--success-rule' in action.option_strings:
            wide = next(each for each in own._actions if each.dest == action.dest)
            # A report knows more rules than a search, which refuses the others itself.
            action.type, action.choices = wide.type, wide.choices


def run(args: argparse.Namespace, _: object = ()) -> int:
    """Analyses campaigns, writes the page and JSON, and prints a summary.

    `args` has files (the folders), output, json, title and the fields of RobustnessOptions. The
    JSON has the name of the page with the ending .json; with --json it is printed, and no page is
    written unless --output says so.

    Raises:
        SetupError: a folder cannot be read, no trial counts, the page cannot be written, or a
            file that is no report has the name of the page or of its JSON.
        ValueRangeError: a metric is not known.
    """
    from frame_ros.core.output_files import check_file, refuse_inputs, write_whole
    from frame_ros.evaluation.scene_trials.robustness.campaign_data import read_campaigns
    from frame_ros.evaluation.scene_trials.robustness.study import robustness_study
    from frame_ros.reports.html.own_pages import refuse_other_page
    from frame_ros.reports.html.study_page import write_study_page
    from frame_ros.reports.robustness_page import KIND, robustness_data, robustness_page

    prints = bool(getattr(args, 'json', False))
    output = None if prints and args.output is None else Path(args.output or DEFAULT_OUTPUT)
    if output is not None:
        output = check_file(output, '--output')
        if output.suffix.lower() == '.json':
            raise SetupError(f'--output is {output}; it must be a page such as {DEFAULT_OUTPUT}')
        names = ('campaign.json', 'scenes.json', 'results.jsonl')
        inputs = [Path(folder).expanduser() / name for folder in args.files for name in names]
        refuse_inputs(output.with_suffix('.json'), inputs, '--output')
        refuse_other_page(output, KIND)
        _refuse_other_json(output.with_suffix('.json'))
    study = robustness_study(read_campaigns(args.files), from_arguments(RobustnessOptions, args))
    text = json.dumps(robustness_data(study), indent=1, allow_nan=False) + '\n'
    if output is not None:
        write_study_page(robustness_page(study, getattr(args, 'title', '') or ''), output)
        write_whole(output.with_suffix('.json'), text, 'the JSON')
    print(text.rstrip() if prints else as_text(study))
    if output is not None and not prints:
        print(f'\nthe page: {output}')
    return 0


ACTIONS = {
    'report': Action(
        'the robustness of policies over the scenes of campaigns',
        run, lambda: names_of(RobustnessOptions) | {'output', 'json', 'title'}, FILES,
    )
}  # fmt: skip


def _refuse_other_json(file: Path) -> None:
    """Raises SetupError where a file is there that is not the JSON of a report."""
    from frame_ros.core.input_files import load_json, read_text
    from frame_ros.reports.robustness_page import FORMAT

    if not file.exists():
        return
    try:
        found = load_json(read_text(file))
    except (OSError, ValueError):
        found = None
    if not isinstance(found, dict) or found.get('format') != FORMAT:
        raise SetupError(
            f'{file} is there and is no report; the JSON of the report would overwrite it. Give '
            'another --output'
        )


def as_text(study: RobustnessStudy) -> str:
    """Returns the study in some lines and tables for a terminal."""
    from frame_ros.reports.robustness_page import headline, verdict, warnings_of

    parts = ['\n'.join([headline(study), *verdict(study)])]
    regions = [
        (group.table.policy, group.table.task, each.name, f'{each.scenes}', f'{each.rate:.0%}',
         f'{each.lift:.2f} ({each.lower:.2f} to {each.upper:.2f})', f'{each.p:.3f}')
        for group in study.groups
        for each in group.regions.found
    ]  # fmt: skip
    if regions:
        header = ('policy', 'task', 'region of failure', 'scenes', 'failed', 'lift', 'p')
        parts.append(format_table([header, *regions]))
    if study.mutations:
        rows: list[tuple[str, ...]] = [('changed', 'policy', 'task', 'Def.', 'Mut.', 'Mut./Def.')]
        for each in study.mutations:
            ratio = f'{each.ratio:.1%}' if each.passed else '-'
            rows.append(
                (each.mutation, each.policy, each.task, f'{each.passed}', f'{each.kept:.1f}', ratio)
            )
        parts.append(format_table(rows))
    parts += [f'warning: {each}' for each in warnings_of(study)]
    parts += [f'note: {each}' for each in study.data.remarks]
    return '\n\n'.join(parts)
