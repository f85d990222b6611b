# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The page of robustness over scenes, and the same as plain data."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.scene_trials.robustness.scene_table import ONE_PER_SCENE, SUCCESS
from frame_ros.evaluation.scene_trials.robustness.study import GroupStudy, RobustnessStudy
from frame_ros.reports.html.study_page import Cell, Part, StudyPage, Table
from frame_ros.reports.model.numbers import json_safe, readable
from frame_ros.reports.robustness.mutation_parts import mutation_parts, step_rows
from frame_ros.reports.robustness.parts import chosen_text, group_parts, interval_text
from frame_ros.scenes.tasks.rules import RULES

FORMAT = 'frame_ros robustness report 1'  # of the JSON
KIND = 'frame_ros scenes report'  # of the page
OF_WORLD = 'of the simulated world itself'
SEARCHED = (
    'A search chose these scenes by the outcomes of others: rates, shares and regions are of what '
    'it looked at, not of scenes drawn at random'
)


BROKEN = (
    'These scenes are those from which changes that break the policy were looked for, and steps on '
    'the way, each chosen by the outcomes of those before it'
)


def warnings_of(study: RobustnessStudy) -> list[str]:
    """Returns what makes the rates of a study doubtful: scenes that were chosen by outcomes."""
    data = study.data
    found = [f'{each}: {SEARCHED}.' for each in data.searched]
    found += [f'{each}: {BROKEN}.' for each in data.broken if each not in data.searched]
    rest = [each for each in data.folders if each not in (*data.searched, *data.broken)]
    if found and rest:
        found.append(
            f'The folders are unlike: scenes of {", ".join(rest)} were not chosen by outcomes, '
            'those of the others were. Rates over all are of no population, and factors by which '
            'the folders differ seem to have an effect; a report of each alone has neither.'
        )
    return found


def robustness_page(study: RobustnessStudy, title: str = '') -> StudyPage:
    """Returns the page of a study."""
    data = study.data
    warnings = [*warnings_of(study), *(f'{each}.' for each in data.remarks)]
    parts = [_results(study), *_invalid(study)]
    for place, group in enumerate(study.groups):
        parts += group_parts(group, place, len(study.groups) == 1)
    parts += [*mutation_parts(study.mutations), *_breaking(study)]
    rule = study.options.success_rule
    return StudyPage(
        title=title or 'Robustness over scenes',
        kicker=KIND,
        headline=headline(study),
        verdict=verdict(study),
        warnings=warnings,
        facts=[
            ('Scenes', f'{len(data.scenes):,}'),
            ('Trials that count', f'{len(data.trials):,}'),
            ('Invalid', f'{len(data.invalid):,}'),
            ('Rule', f'{rule}: {RULES.get(rule, OF_WORLD)}'),
            ('Folders', ', '.join(data.folders)),
        ],
        parts=parts,
    )


def headline(study: RobustnessStudy) -> str:
    """Returns the success of each group in a sentence, the first three of them, and how many
    trials count where some do not.
    """
    texts = [
        f'{each.table.policy} succeeds in {interval_text(each.rate, each.interval)} of '
        f'{counted(len(each.table.scenes), "scene")} of {each.table.task} with {each.table.robot}'
        for each in study.groups[:3]
    ]
    more = len(study.groups) - 3
    text = '; '.join([*texts, *([f'and {more} more'] if more > 0 else [])])
    valid, invalid = len(study.data.trials), len(study.data.invalid)
    return f'{text}; {valid} of {valid + invalid} trials count' if invalid else text


def verdict(study: RobustnessStudy) -> list[str]:
    """Returns what stands out, in sentences."""
    found = []
    for group in study.groups:
        head = '' if len(study.groups) == 1 else f'{group.table.name}: '
        if group.invalid:
            low, high = (100 * each for each in group.bounds)
            found.append(
                f'{head}Success is {low:.1f} % with the {counted(group.invalid, "trial")} that did '
                f'not count as failures, and {high:.1f} % with them as successes.'
            )
        chosen = ', of the scenes that were chosen' if group.chosen else ''
        if group.regions.found:
            worst = group.regions.found[0]
            where = ', or as much where '.join((worst.name, *worst.rivals))
            found.append(
                f'{head}It fails most where {where}: {100 * worst.rate:.0f} % of '
                f'{worst.scenes} scenes, {worst.lift:.2f} times as often as everywhere '
                f'[{worst.lower:.2f}, {worst.upper:.2f}]{chosen}.'
            )
        factors = [e.factor for e in group.effects if e.outcome == SUCCESS and e.is_significant]
        if group.chosen:
            found.append(f'{head}{chosen_text(group)}')
        elif factors:
            found.append(f'{head}Factors with an effect on success: {", ".join(factors)}.')
    if study.data.invalid:
        reasons = '; '.join(f'{reason} ({n})' for reason, n in study.data.reasons.items())
        found.append(
            f'{counted(len(study.data.invalid), "trial")} did not count and are in no figure: '
            f'{reasons}.'
        )
    return found


def _results(study: RobustnessStudy) -> Part:
    header = ('policy', 'task', 'robot', 'scenes', 'trials', 'success', 'steps reached')
    rows: list[list[str | Cell]] = []
    steps: list[list[str | Cell]] = []
    for group in study.groups:
        table = group.table
        reached = ', '.join(
            f'{each.step} {100 * each.rate:.0f} %'
            for each in (group.steps.steps if group.steps else ())
        )
        rows.append(
            [
                table.policy, table.task, table.robot, f'{len(table.scenes)}',
                f'{table.trial_count}', interval_text(group.rate, group.interval), reached,
            ]
        )  # fmt: skip
        if group.steps:
            steps += [
                [table.policy, table.task, table.robot, *row] for row in step_rows(group.steps)
            ]
    content = [Table(header, rows, numbers=frozenset((3, 4)))]
    if steps:
        content.append(
            Table(
                ('policy', 'task', 'robot', 'step', 'reached', 'transfer from the step before'),
                steps,
                'Steps; n is in scenes, of each the mean over its trials.',
            )
        )
    text = f"Trials in which nothing was mutated. {ONE_PER_SCENE} Intervals are Wilson's, 95 %."
    return Part('Results', [text], content, 'results')


def _invalid(study: RobustnessStudy) -> list[Part]:
    if not study.data.invalid:
        return []
    rows: list[list[str | Cell]] = [[reason, f'{n}'] for reason, n in study.data.reasons.items()]
    table = Table(('reason', 'trials'), rows, numbers=frozenset((1,)))
    text = 'These are no failures of the policy, and count nowhere.'
    return [Part('Trials that do not count', [text], [table], 'invalid')]


def _breaking(study: RobustnessStudy) -> list[Part]:
    if not study.breaking:
        return []
    rows: list[list[str | Cell]] = [
        [
            each.operator, each.policy, f'{each.scenes}', f'{each.broken}',
            readable(each.smallest, 3), readable(each.median, 3), each.example,
        ]
        for each in study.breaking
    ]  # fmt: skip
    header = (
        'operator', 'policy', 'scenes', 'broken', 'smallest scale', 'median', 'smallest in words'
    )  # fmt: skip
    text = (
        'Scenes that were changed by one operator alone, step by step. The scale is the part of '
        'the way from the value of the scene, 0, to the end of the range or the value of another '
        'scene, 1, at which the policy begins to fail. These scenes are in no other figure.'
    )
    table = Table(header, rows, numbers=frozenset((2, 3, 4, 5)))
    return [Part('Smallest breaking perturbations', [text], [table], 'breaking')]


def robustness_data(study: RobustnessStudy) -> dict[str, Any]:
    """Returns the study as plain JSON types; NaN is null."""
    data = study.data
    found: dict[str, Any] = json_safe(
        {
            'format': FORMAT,
            'folders': data.folders,
            'scenes': len(data.scenes),
            'trials': len(data.trials),
            'invalid': data.reasons,
            'remarks': data.remarks,
            'searched': data.searched,
            'broken': data.broken,
            'rule': study.options.success_rule,
            'groups': [_group_data(each) for each in study.groups],
            'breaking': [asdict(each) for each in study.breaking],
            'mutations': [_mutation_data(each) for each in study.mutations],
        }
    )
    return found


def _mutation_data(row: Any) -> dict[str, Any]:
    steps = None if row.steps is None else [_steps_data(each) for each in row.steps]
    plain = {name: getattr(row, name) for name in row.__dataclass_fields__ if name != 'steps'}
    plain['wordings'] = [asdict(each) for each in row.wordings]
    return {**plain, 'ratio': row.ratio, 'relative': row.relative, 'steps': steps}


def _steps_data(rates: Any) -> list[dict[str, Any]]:
    names = ('step', 'episodes', 'reached', 'rate', 'interval', 'before', 'carried', 'transfer',
             'transfer_interval')  # fmt: skip
    return [{name: getattr(each, name) for name in names} for each in rates.steps]


def _group_data(group: GroupStudy) -> dict[str, Any]:
    table = group.table
    return {
        'policy': table.policy,
        'task': table.task,
        'robot': table.robot,
        'scenes': len(table.scenes),
        'trials': table.trial_count,
        'success': group.rate,
        'interval': group.interval,
        'bounds': group.bounds,
        'invalid': group.invalid,
        'chosen': group.chosen,
        'steps': None if group.steps is None else _steps_data(group.steps),
        'effects': [asdict(each) for each in group.effects],
        'confounders': asdict(group.confounders),
        'heat_map': asdict(group.heat),
        'regions': asdict(group.regions),
        'sobol': asdict(group.sobol),
        'noise_floor': asdict(group.noise),
    }
