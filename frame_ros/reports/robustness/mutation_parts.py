# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Tables of scenes that were run again with something changed, as the paper's tables 4, 5 and 7."""

from __future__ import annotations

import math
from collections.abc import Sequence

from frame_ros.evaluation.scene_trials.robustness.mutations import MutationRow, is_instruction
from frame_ros.reports.html.study_page import BAD, QUIET, STRONG, Cell, Part, Table
from frame_ros.reports.model.numbers import UNAVAILABLE, readable
from frame_ros.reports.robustness.parts import interval_text, p_cell
from frame_ros.scenes.tasks.rates import TransferRates

ABOUT = (
    'Def.: scenes that passed by default and were run again; Mut.: of these, how many still pass, '
    'the mean over the runs of each. Again: runs of the same passed scenes with nothing changed. '
    'Scenes that passed were partly lucky, so that Mut./Def. is to be compared with that, not with '
    "100 %; p vs. again is McNemar's exact test of the two."
)
PAIRS = (
    'All scenes that were run again, also those that failed by default: rates of both, the '
    'difference of the pairs of a default and the first changed run with the interval of Tango, '
    "and McNemar's exact test. Diff. is (Mut. - Def.) / Def., as in the paper's table 7."
)

WORDINGS = (
    'Wordings: scenes that passed with the standard instruction, and the share that still passes '
    'with each other one, the smallest first. One of many may be small by chance.'
)


def mutation_parts(rows: Sequence[MutationRow]) -> list[Part]:
    """Returns the parts of mutated runs; none without any."""
    if not rows:
        return []
    words = [each for each in rows if is_instruction(each)]
    scenes = [each for each in rows if not is_instruction(each)]
    found = []
    if scenes:
        pairs = [each for each in scenes if each.has_failed]
        tables = [_kept_table(scenes), *([_pairs_table(pairs)] if pairs else [])]
        texts = [ABOUT, *([PAIRS] if pairs else [])]
        found.append(Part('Scenes run again with something changed', texts, tables, 'mutations'))
    if words:
        pairs = [each for each in words if each.has_failed]
        tables = [_kept_table(words), *([_pairs_table(pairs)] if pairs else [])]
        texts = [] if scenes else [ABOUT]
        texts += [PAIRS] if pairs else []
        if any(len(each.wordings) > 1 for each in words):
            tables.append(_wordings_table(words))
            texts.append(WORDINGS)
        found.append(Part('Standard and other instructions', texts, tables, 'instructions'))
    if any(each.steps for each in rows):
        text = 'Transfer rates: of the runs that reached the step before, those that reached this; '
        text += 'n is in scenes.'
        found.append(
            Part('Steps by default and changed', [text], [_steps_table(rows)], 'steps', True)
        )
    return found


def _kept_table(rows: Sequence[MutationRow]) -> Table:
    header = (
        'changed', 'policy', 'task', 'Def.', 'Mut.', 'Mut./Def.', 'again', 'scenes again',
        'p vs. again',
    )  # fmt: skip
    lines = [
        [
            each.mutation, each.policy, each.task, f'{each.passed}',
            f'{each.kept:.1f}' if each.passed else UNAVAILABLE,
            Cell(interval_text(each.ratio, each.kept_interval), STRONG),
            interval_text(each.again, each.again_interval),
            f'{each.repeated}' if each.repeated else Cell('0', QUIET),
            p_cell(each.against_repeats_p),
        ]
        for each in rows
    ]  # fmt: skip
    lines += _totals(rows)
    return Table(header, lines, numbers=frozenset(range(3, 9)))


def _wordings_table(rows: Sequence[MutationRow]) -> Table:
    lines: list[list[str | Cell]] = [
        [
            each.policy, each.task, own.wording, f'{own.passed}',
            Cell(interval_text(own.kept / own.passed, own.interval), STRONG),
        ]
        for each in rows
        for own in each.wordings
    ]  # fmt: skip
    header = ('policy', 'task', 'wording', 'Def.', 'still pass')
    return Table(header, lines, numbers=frozenset({3, 4}))


def _totals(rows: Sequence[MutationRow]) -> list[list[str | Cell]]:
    """A line per mutation that has several policies or tasks, as the paper's 'Tot.'."""
    found: list[list[str | Cell]] = []
    for name in dict.fromkeys(each.mutation for each in rows):
        own = [each for each in rows if each.mutation == name]
        passed, kept = sum(each.passed for each in own), sum(each.kept for each in own)
        if len(own) > 1 and passed:
            share = Cell(f'{100 * kept / passed:.1f} %', STRONG)
            empty = Cell(UNAVAILABLE, QUIET)
            found.append([name, 'all', '', f'{passed}', f'{kept:.1f}', share, *[empty] * 3])
    return found


def _pairs_table(rows: Sequence[MutationRow]) -> Table:
    header = (
        'changed', 'policy', 'task', 'scenes', 'Def.', 'Mut.', 'Diff.', 'difference of pairs', 'p'
    )  # fmt: skip
    lines = []
    for each in rows:
        low, high = each.difference_interval
        text = f'{100 * each.difference:+.1f} points [{100 * low:+.1f}, {100 * high:+.1f}]'
        relative = f'{100 * each.relative:+.1f} %' if math.isfinite(each.relative) else UNAVAILABLE
        shade = min(0.6, max(0.0, -each.relative)) if math.isfinite(each.relative) else 0.0
        lines.append(
            [
                each.mutation, each.policy, each.task, f'{each.scenes}',
                f'{100 * each.default_rate:.1f} %', f'{100 * each.mutated_rate:.1f} %',
                Cell(relative, BAD, strength=shade) if shade else relative, text, p_cell(each.p),
            ]
        )  # fmt: skip
    return Table(header, lines, numbers=frozenset(range(3, 9)))


def _steps_table(rows: Sequence[MutationRow]) -> Table:
    header = ('changed', 'policy', 'task', 'runs', 'step', 'reached', 'transfer')
    lines: list[list[str | Cell]] = []
    for each in rows:
        if each.steps is None:
            continue
        for name, rates in zip(('default', 'changed'), each.steps):
            for row in step_rows(rates):
                lines.append([each.mutation, each.policy, each.task, name, *row])
    return Table(header, lines, numbers=frozenset((5, 6)))


def step_rows(rates: TransferRates) -> list[list[str | Cell]]:
    """Returns step, share reached and transfer rate, each with its interval and n."""
    return [
        [
            each.step,
            f'{interval_text(each.rate, each.interval)}, n = {readable(each.episodes, 6)}',
            f'{interval_text(each.transfer, each.transfer_interval)}, '
            f'n = {readable(each.before, 4)}',
        ]
        for each in rates.steps
    ]
