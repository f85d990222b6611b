# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Arms between which there is no difference, made of what was recorded. PhAIL, appendix J."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.meanings import MeaningEnum
from frame_ros.core.plain_text import counted
from frame_ros.evaluation.binary.pairing import pair_episodes
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome
from frame_ros.evaluation.survival.cell import Cell, cell_of
from frame_ros.evaluation.survival.pool import Draws

# Fewest episodes of an object of which halves are compared.
FEWEST = 4


class NullKind(MeaningEnum):
    """Ways to make arms that do not differ."""

    SPLIT = 'split', "a policy's episodes, halved at random"
    HUMAN_SPLIT = 'human_split', "the human reference's episodes, halved at random"
    PERMUTATION = 'permutation', 'labels of two policies, shuffled within strata'
    GENERATED = 'generated', 'new episodes in each trial, of two policies that do not differ'


@dataclass(frozen=True)
class Scenario:
    """Arms of many trials, drawn from the same episodes.

    Attributes:
        name: of the policy, or of both.
        kind: of the arms.
        cells: object -> all its episodes.
        successes: object -> (E,) of the episodes; NaN: not known.
        first, second: object -> (T, n) and (T, m) numbers of the episodes in each trial's arms.
        pairs: object -> (P, 2) numbers of paired episodes, of the two policies of a permutation.
    """

    name: str
    kind: NullKind
    cells: dict[str, Cell]
    successes: dict[str, NDArray[np.float64]]
    first: dict[str, Draws]
    second: dict[str, Draws]
    pairs: dict[str, NDArray[np.intp]]


def scenarios_of(
    outcomes: Sequence[EpisodeOutcome], trials: int, seed: int, strata: Sequence[str] = ()
) -> tuple[list[Scenario], list[str]]:
    """Returns all scenarios: halves of each policy and of the human reference, permutations of each
    two policies; and remarks on what cannot be made.

    Args:
        outcomes: of all policies; episodes whose times are not known are left out.
        trials: of each scenario.
        strata: conditions of the episodes, such as tote, within which labels are shuffled, besides
            the object.

    Raises:
        ValueRangeError: no episode has one of these conditions.
    """
    known = sorted({name for each in outcomes for name in each.conditions})
    if unknown := [name for name in strata if name not in known]:
        raise ValueRangeError(
            f'no episode has the condition {unknown[0]!r}; there are {", ".join(known) or "none"}'
        )
    timed = [each for each in outcomes if each.operations]
    labels = dict.fromkeys(each.policy for each in timed)
    rows: dict[str, dict[str, list[EpisodeOutcome]]] = {label: {} for label in labels}
    for each in timed:
        rows[each.policy].setdefault(each.object, []).append(each)
    humans = {each.policy for each in timed if each.is_human}
    found: list[Scenario] = []
    remarks = []
    if len(timed) < len(outcomes):
        remarks.append(f'left out: {counted(len(outcomes) - len(timed), "episode")} without times')
    for label in sorted(labels, key=lambda label: label in humans):
        kept = {name: each for name, each in rows[label].items() if len(each) >= FEWEST}
        if lacking := [name or '(no object)' for name in rows[label] if name not in kept]:
            listed = ', '.join(lacking)
            remarks.append(f'{label}: fewer than {FEWEST} episodes of {listed}: not split')
        if kept:
            kind = NullKind.HUMAN_SPLIT if label in humans else NullKind.SPLIT
            found.append(_split(label, kind, kept, trials, _stream(seed, len(found))))
    for a, b in combinations([label for label in labels if label not in humans], 2):
        shared = {name: (rows[a][name], rows[b][name]) for name in rows[a] if name in rows[b]}
        if shared:
            random = _stream(seed, len(found))
            found.append(_permutation(f'{a} and {b}', shared, trials, strata, random))
        else:
            remarks.append(f'{a} and {b} share no object: not shuffled')
    return found, remarks


def _stream(seed: int, number: int) -> np.random.Generator:
    return np.random.default_rng([seed, number])


def _split(
    label: str,
    kind: NullKind,
    rows: Mapping[str, list[EpisodeOutcome]],
    trials: int,
    random: np.random.Generator,
) -> Scenario:
    """Halves of the same size: of an odd number of episodes one is in none."""
    first, second = {}, {}
    for name, each in rows.items():
        half = len(each) // 2
        orders = shuffled(np.zeros(len(each), np.intp), trials, random)
        first[name], second[name] = orders[:, :half], orders[:, half : 2 * half]
    cells, successes = _cells(rows)
    return Scenario(label, kind, cells, successes, first, second, {})


def _permutation(
    label: str,
    rows: Mapping[str, tuple[list[EpisodeOutcome], list[EpisodeOutcome]]],
    trials: int,
    strata: Sequence[str],
    random: np.random.Generator,
) -> Scenario:
    first, second, pairs = {}, {}, {}
    for name, (a, b) in rows.items():
        keys = [tuple(each.conditions.get(key, '') for key in strata) for each in (*a, *b)]
        groups = np.array([sorted(set(keys)).index(key) for key in keys], np.intp)
        orders = shuffled(groups, trials, random)
        first[name], second[name] = orders[:, : len(a)], orders[:, len(a) :]
        pairs[name] = _pairs(a, b)
    cells, successes = _cells({name: [*a, *b] for name, (a, b) in rows.items()})
    return Scenario(label, NullKind.PERMUTATION, cells, successes, first, second, pairs)


def shuffled(groups: NDArray[np.intp], trials: int, random: np.random.Generator) -> Draws:
    """Returns (trials, E) numbers of episodes, shuffled among those of one group: each place keeps
    the group that it has in `groups` (E,).
    """
    keys = random.random((trials, len(groups)))
    # By group, then by chance; and back to the places of the group.
    order = np.lexsort((keys, np.broadcast_to(groups, keys.shape)), axis=1)
    found = np.empty((trials, len(groups)), np.int32)
    found[:, np.argsort(groups, kind='stable')] = order
    return found


def _pairs(a: Sequence[EpisodeOutcome], b: Sequence[EpisodeOutcome]) -> NDArray[np.intp]:
    """Paired episodes, where both outcomes are known."""
    found = [
        (i, len(a) + j)
        for i, j in pair_episodes(a, b).pairs
        if a[i].is_success is not None and b[j].is_success is not None
    ]
    return np.array(found, np.intp).reshape(-1, 2)


def _cells(
    rows: Mapping[str, Iterable[EpisodeOutcome]],
) -> tuple[dict[str, Cell], dict[str, NDArray[np.float64]]]:
    cells, successes = {}, {}
    for name, each in rows.items():
        listed = list(each)
        cells[name] = cell_of(listed)
        values: list[Any] = [np.nan if o.is_success is None else o.is_success for o in listed]
        successes[name] = np.array(values, np.float64)
    return cells, successes
