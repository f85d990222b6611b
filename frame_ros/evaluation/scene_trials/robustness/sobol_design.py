# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Designs of scenes from which Sobol indices follow: two samples, and mixtures of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import attrs
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ValueRangeError
from frame_ros.evaluation.scene_trials.robustness.scene_table import SceneTable
from frame_ros.evaluation.scene_trials.robustness.sobol import SobolIndex, sobol_indices
from frame_ros.scenes.description.scene import Origin, Scene, with_values
from frame_ros.scenes.generation.constraints import check_scene
from frame_ros.scenes.generation.generator import GENERATOR, scene_from
from frame_ros.scenes.generation.operators import Operator, chosen_operators
from frame_ros.scenes.generation.setting import Setting

Array = NDArray[np.float64]
Values = dict[str, dict[str, Any]]
PLACEMENT = 'placement'
# Constraints that bind together where and what the objects are.
_PLACING = frozenset(('distance', 'grasp', 'semantics'))
_NAME = re.compile(r'sobol_(?:(A|B)|AB_(.+))_(\d+)')
_MOST_SEED = 2**31


@dataclass(frozen=True)
class SobolDesign:
    """Scenes of a design.

    Attributes:
        scenes: that keep all constraints, named sobol_A_0, sobol_B_0, sobol_AB_<factor>_0.
        groups: factor -> the operators that are exchanged together.
        rows: number of them.
        left_out: factor -> rows whose mixture breaks a constraint.
        draws: tried for the two samples.
    """

    scenes: tuple[Scene, ...]
    groups: Mapping[str, tuple[str, ...]]
    rows: int
    left_out: Mapping[str, int]
    draws: int


def placement_groups(operators: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Returns factor -> operators, where all that decide what stands where are one, PLACEMENT.

    Constraints bind these together: a mixture of two good scenes by one of them alone is a scene
    that can be made only now and then, and the factors would not be independent.
    """
    groups: dict[str, tuple[str, ...]] = {}
    for each in chosen_operators(operators):
        is_placing = _PLACING & set(each.may_break) or each.name == 'confounder_count'
        name = PLACEMENT if is_placing else each.name
        groups[name] = (*groups.get(name, ()), each.name)
    return groups


def sobol_design(
    setting: Setting,
    operators: Sequence[str],
    rows: int,
    seed: int = 0,
    groups: Mapping[str, Sequence[str]] | None = None,
    attempts: int = 200,
    start: Scene | None = None,
) -> SobolDesign:
    """Draws a design: samples A and B of scenes that keep all constraints, and for each factor the
    scenes of A with this factor as in B.

    Points are of a scrambled Sobol sequence, half a point for each sample; a half that breaks a
    constraint is skipped, and the next is taken. A mixture that breaks one is left out and counted:
    its row does not count for the indices of that factor. With 'placement' as one factor (the
    default) only visibility joins two factors, and few are left out.

    Args:
        operators: names, or 'paper' or 'all'.
        rows: N; there are N (factors + 2) scenes at most.
        groups: factor -> operators that are exchanged together; None: `placement_groups`. An
            operator of its own: {name: (name,)}.
        attempts: points tried per row.
        start: the scene that operators change; None: the nominal one.

    Raises:
        ValueRangeError: rows is less than 1, an operator is in no group or in two, or too few
            points keep the constraints.
    """
    chosen = chosen_operators(operators)
    parts = {name: tuple(each) for name, each in (groups or placement_groups(operators)).items()}
    named = sorted(each for part in parts.values() for each in part)
    if rows < 1 or named != sorted(each.name for each in chosen):
        raise ValueRangeError(
            f'{rows} rows of the operators {", ".join(each.name for each in chosen)} in the groups '
            f'{parts}; at least one row and each operator in one group is expected'
        )
    made = _Maker(setting, seed, start)
    pairs, draws = _samples(made, chosen, rows, attempts)
    scenes: list[Scene] = []
    left_out = dict.fromkeys(parts, 0)
    for row, (first, second) in enumerate(pairs):
        scenes += [
            made.named(first, 'A', row), made.named(second, 'B', row)
        ]  # fmt: skip
        for factor, names in parts.items():
            mixed = {**first, **{name: second[name] for name in names}}
            scene = made.named(mixed, f'AB_{factor}', row)
            if check_scene(scene, setting) is None:
                scenes.append(scene)
            else:
                left_out[factor] += 1
    return SobolDesign(tuple(scenes), parts, rows, left_out, draws)


@attrs.frozen
class _Maker:
    """Makes scenes of values."""

    setting: Setting
    seed: int
    start: Scene | None

    def scene(self, values: Values) -> Scene:
        return scene_from(self.setting, values, self.start)

    def named(self, values: Values, sample: str, row: int) -> Scene:
        """Returns the scene of a row of a sample, with its name and the policy seed of its row."""
        policy_seed = int(np.random.default_rng((self.seed, row)).integers(_MOST_SEED))
        return with_values(
            self.scene(values),
            name=f'sobol_{sample}_{row}',
            policy_seed=policy_seed,
            origin=Origin(generator=GENERATOR, seed=self.seed, index=row, values=values),
        )


def _samples(
    made: _Maker, operators: Sequence[Operator], rows: int, attempts: int
) -> tuple[list[tuple[Values, Values]], int]:
    """Rows of both samples that keep the constraints, and the number of points tried."""
    from scipy.stats.qmc import Sobol

    setting = made.setting
    dimensions = [(each.name, d) for each in operators for d in each.dimensions(setting)]
    count = len(dimensions)
    points = Sobol(2 * count, seed=made.seed)
    found: tuple[list[Values], list[Values]] = ([], [])
    draws = 0
    for _ in range(rows * attempts):
        if min(map(len, found)) >= rows:
            break
        point = points.random(1)[0]
        for half, sample in zip((point[:count], point[count:]), found):
            if len(sample) >= rows:
                continue
            draws += 1
            values: Values = {}
            for (operator, dimension), share in zip(dimensions, half.tolist()):
                values.setdefault(operator, {})[dimension.name] = dimension.at(share)
            if check_scene(made.scene(values), setting) is None:
                sample.append(values)
    if min(map(len, found)) < rows:
        raise ValueRangeError(
            f'{min(map(len, found))} of {rows} rows of the design were found in {draws} draws; '
            'fewer operators or another range leave more room'
        )
    return list(zip(*found)), draws


def design_indices(table: SceneTable, values: Array, seed: int = 0) -> list[SobolIndex]:
    """Returns the indices of the factors of a design, found by the names of its scenes; empty if
    the scenes are of none.

    values: (n,) of an outcome, of the scenes of the table.
    """
    results: dict[str, dict[tuple[str, int, int], float]] = {}
    for scene, value in zip(table.scenes, values.tolist()):
        if match := _NAME.search(scene.name):
            sample, factor, row = match.groups()
            # Two designs in one report have the same numbers of rows, but other names in front.
            seed_of = scene.origin.seed if scene.origin is not None else 0
            key = scene.name[: match.start()], int(seed_of or 0), int(row)
            results.setdefault(sample or f'AB_{factor}', {})[key] = value
    if not {'A', 'B'} <= set(results) or len(results) < 3:
        return []
    rows = sorted({key for each in results.values() for key in each})
    columns = {
        name: np.array([each.get(key, float('nan')) for key in rows])
        for name, each in results.items()
    }
    a, b = columns.pop('A'), columns.pop('B')
    return sobol_indices(a, b, {n.removeprefix('AB_'): c for n, c in columns.items()}, seed=seed)
