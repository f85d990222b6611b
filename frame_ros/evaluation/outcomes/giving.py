# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A file of outcomes to be completed, for recordings that hold none."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from io import StringIO

from frame_ros.evaluation.outcomes.outcome_set import LeftOut, OutcomeSet
from frame_ros.evaluation.policy_labels import NAMELESS

MOST_ROWS = 50
POLICY = 'POLICY'  # where it is not known


def how_to_give(found: OutcomeSet) -> str:
    """Returns, as a paragraph, how the outcomes of episodes that have none can be given: the lines
    of a CSV file of them, to be completed; '' if none was left out for that reason.
    """
    lacking = [each for each in found.excluded if each.reason.startswith('no outcome')]
    if not lacking:
        return ''
    rows = [(each.name, _policy_of(each), '') for each in lacking]
    more = len(rows) - MOST_ROWS
    return (
        '\n\nOutcomes of recordings without events are given in a CSV file instead of the bags, a '
        'row an episode (docs/outcomes.md; object, pair and time are further columns). Save these '
        'lines, write true or false at the end of each and the policy where POLICY stands, and '
        'give the file:\n\n'
        + _table([('episode', 'policy', 'success'), *rows[:MOST_ROWS]])
        + (f'... and {more:,} more\n' if more > 0 else '')
    ).rstrip('\n')


def _policy_of(left_out: LeftOut) -> str:
    policy = left_out.outcome.policy if left_out.outcome is not None else ''
    return POLICY if policy in ('', NAMELESS) else policy


def _table(rows: Sequence[tuple[str, ...]]) -> str:
    file = StringIO()
    csv.writer(file, lineterminator='\n').writerows(rows)
    return file.getvalue()
