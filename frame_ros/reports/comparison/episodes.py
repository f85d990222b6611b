# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The episodes of a comparison, the sets of them that numbers come from, and links to both."""

from __future__ import annotations

import math
import os
from collections import Counter
from pathlib import Path
from urllib.parse import quote

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.outcomes.outcome_set import LeftOut
from frame_ros.evaluation.policy_comparison.study import Study
from frame_ros.reports.html.study_page import BAD, GOOD, PLAIN, QUIET, Cell, Part, Table
from frame_ros.reports.model.numbers import UNAVAILABLE, readable


def set_link(number: int) -> str:
    """Returns where the episodes of a number are listed, within the page."""
    return f'#set-{number}'


def episode_link(place: int) -> str:
    """Returns where an episode is listed, within the page."""
    return f'#episode-{place + 1}'


def file_link(source: Path | None, folder: Path) -> str:
    """Returns the path of a bag or file relative to the page's folder, for a link; '' without."""
    if source is None:
        return ''
    relative = os.path.relpath(source.absolute(), folder.absolute())
    return quote(os.fsencode(relative))


def sets_part(study: Study) -> Part:
    """Returns the sets of episodes, each with links to all of them."""
    rows: list[list[str | Cell]] = [
        [
            Cell(each.name, anchor=f'set-{number}'),
            f'{len(each.places)}',
            Cell('', links=[(f'{place + 1}', episode_link(place)) for place in each.places]),
        ]
        for number, each in enumerate(study.sets)
    ]
    return Part(
        'Episodes of each number',
        ['Every number of this page leads to the row of its episodes here.'],
        [Table(('numbers of', 'episodes', ''), rows, numbers=frozenset((1,)))],
        'sets',
    )


def episodes_part(study: Study, folder: Path) -> Part:
    """Returns all episodes; folder: of the page, which bags are linked from."""
    rows = [_episode(place, each, folder) for place, each in enumerate(study.episodes)]
    header = (
        '', 'episode', 'policy', 'object', 'task', 'success', 'operations', 'duration (s)',
        'labels', 'conditions', 'remarks',
    )  # fmt: skip
    text = f'{counted(len(rows), "episode")} of {counted(len(study.objects), "object")}.'
    table = Table(header, rows, numbers=frozenset((0, 7)), is_sortable=True)
    return Part('Episodes', [text], [table], 'episodes')


def _episode(place: int, episode: EpisodeOutcome, folder: Path) -> list[str | Cell]:
    endings = Counter(op.ending.value for op in episode.operations)
    known = episode.is_success is not None
    reached = [name for name, is_reached in episode.stages.items() if is_reached]
    return [
        Cell(f'{place + 1}', anchor=f'episode-{place + 1}'),
        Cell(
            episode.name,
            href=file_link(episode.source, folder),
            below='' if episode.source is None else str(episode.source.name),
        ),
        Cell(episode.policy, below='human reference' if episode.is_human else ''),
        episode.object,
        Cell(episode.task, below=f'pair: {episode.pair}' if episode.pair else ''),
        Cell(
            ('yes' if episode.is_success else 'no') if known else UNAVAILABLE,
            (GOOD if episode.is_success else BAD) if known else QUIET,
            below=f'reached {", ".join(reached)}' if reached else '',
        ),
        Cell(
            ', '.join(f'{count} {name.replace("_", " ")}' for name, count in endings.items())
            or 'times not known',
            PLAIN if endings else QUIET,
        ),
        UNAVAILABLE if math.isnan(episode.duration) else readable(episode.duration, 4),
        episode.label_source.value,
        Cell(', '.join(f'{k} {v}' for k, v in episode.conditions.items()), QUIET),
        Cell('; '.join(episode.notes), QUIET),
    ]


def rules_part(study: Study, folder: Path) -> Part:
    """Returns the rules that were applied, and what was left out."""
    rules: list[list[str | Cell]] = [
        [
            each.text,
            Cell(each.applied_to, href='' if each.episodes is None else set_link(each.episodes)),
        ]
        for each in study.rules
    ]
    content = [Table(('rule', 'applied to'), rules)]
    if study.left_out:
        content.append(_left_out(study.left_out, folder))
    text = (
        'Nothing is left out silently: all that was read is in the list of episodes, or in the '
        'list of what does not count.'
    )
    return Part('Rules and exclusions', [text, *study.notes], content, 'rules')


def _left_out(left_out: tuple[LeftOut, ...], folder: Path) -> Table:
    rows: list[list[str | Cell]] = [
        [Cell(each.name, href=file_link(each.source, folder)), each.reason] for each in left_out
    ]
    return Table(('read, and not counted', 'reason'), rows, 'Left out')
