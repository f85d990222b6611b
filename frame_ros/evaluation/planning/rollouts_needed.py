# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Numbers of rollouts that would still resolve two policies, with what is known of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from frame_ros.core.plain_text import counted
from frame_ros.evaluation.binary.paired import PairCounts, mcnemar_p, tango_ends
from frame_ros.evaluation.planning.bridge import SIMULATIONS, BridgeModel, drifts_of
from frame_ros.evaluation.planning.design_effect import DesignEffect, correlation_effect
from frame_ros.evaluation.planning.detection import ALPHA, TARGET, episodes_of, shared_cells
from frame_ros.evaluation.planning.sample_sizes import mcnemar_exact_sample_size
from frame_ros.evaluation.survival.macro_ks import macro_ks
from frame_ros.evaluation.survival.pool import arm_statistics, draw_episodes, pool_of
from frame_ros.evaluation.survival.samples import RESAMPLES, SEED, TAU
from frame_ros.metrics import wilson_interval

MCNEMAR, MACRO_KS = 'McNemar', 'macro-KS'
# Beyond this a number of episodes is none that anyone runs.
MOST = 1_000_000
# Episodes of each policy and object, fewer than which are too few to plan from.
FEWEST = 4


@dataclass(frozen=True)
class RolloutsNeeded:
    """The rollouts that a test of two policies needs. Numbers are pairs over all objects (McNemar),
    or episodes per object and policy (macro-KS).

    Attributes:
        test: MCNEMAR or MACRO_KS.
        effect: observed: difference of success rates, or macro-averaged KS distance.
        p: of the test at present.
        is_resolved: whether it finds a difference already: p is at most alpha.
        present: number at present.
        at_observed: number at which the test finds the observed effect, were it the true one; None:
            no number does, or it is beyond a million.
        corrected: macro-KS: the same of the distance less what noise adds to it; else None.
        low, high: numbers for the ends of the 95 % interval of the effect; high is None where the
            interval holds no effect: then no number can be promised.
        per_cell: at_observed per object and policy.
        further: rollouts in all, of both policies, that are missing to at_observed; None without.
        words: all this in a sentence or two.
    """

    test: str
    effect: float
    p: float
    is_resolved: bool
    present: int
    at_observed: int | None
    corrected: int | None
    low: int | None
    high: int | None
    per_cell: int | None
    further: int | None
    words: str


def pairs_needed(
    counts: PairCounts, objects: int = 1, power: float = TARGET, alpha: float = ALPHA
) -> RolloutsNeeded:
    """Pairs that McNemar's exact test needs, with what was observed. Connor's formula, as in PhAIL,
    appendix H, gives a number that is too small for it.

    The range takes the ends of Tango's interval of the difference, each with the discordance that
    makes it easier or harder (the ends of its Wilson interval).

    Args:
        counts: pairs of all objects together: a test that is stratified by object adds their
            discordant pairs, so the number is that of all objects, not of each.
        objects: among which further pairs are divided.

    Raises:
        ValueRangeError: power or alpha is out of range, or there is no pair.
    """
    p = mcnemar_p(counts.only_a, counts.only_b)
    ends = tango_ends(counts.only_a, counts.only_b, counts.pairs, 1.0 - alpha)
    share = counts.discordant / counts.pairs
    shares = wilson_interval(counts.discordant, counts.pairs, 1.0 - alpha)

    def size(difference: float, discordance: float) -> int | None:
        if abs(difference) * math.sqrt(MOST) < 1.0:
            return None
        return mcnemar_exact_sample_size(
            difference, min(1.0, max(abs(difference), discordance)), power, alpha
        )

    at_observed = size(counts.difference, share)
    low = size(max(ends, key=abs), shares[0])
    high = None if ends[0] <= 0.0 <= ends[1] else size(min(ends, key=abs), shares[1])
    further = None if at_observed is None else 2 * max(at_observed - counts.pairs, 0)
    per_cell = None if at_observed is None else math.ceil(at_observed / objects)
    observed = (
        f'a difference of {counts.difference:+.3f} in {counted(counts.pairs, "pair")} '
        f'({counts.discordant} discordant), p {p:.3g}'
    )
    words = _words(observed, 'pairs in all', p <= alpha, (at_observed, low), further)
    return RolloutsNeeded(
        MCNEMAR, counts.difference, p, p <= alpha, counts.pairs, at_observed, None, low, high,
        per_cell, further, words,
    )  # fmt: skip


def episodes_needed(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    effect: DesignEffect | None = None,
    tau: float = TAU,
    power: float = TARGET,
    alpha: float = ALPHA,
    resamples: int = RESAMPLES,
    simulations: int = SIMULATIONS,
    seed: int = SEED,
    p: float | None = None,
) -> RolloutsNeeded:
    """Episodes that the macro-averaged KS test needs, by Brownian bridges. PhAIL, appendix H.

    The paper takes the observed distances as the true ones. They are too large, since noise makes a
    distance where there is none: `corrected` subtracts the mean excess of resampled distances over
    the observed one. The largest distance that the data allow is the upper quantile of resampled
    ones, which their own noise makes too large rather than too small; the smallest is the same,
    reflected at the observed one.

    Args:
        a, b: object -> Cell, or (times, events) with each operation as an episode of its own.
        effect: design effect; by default that by the correlation within episodes.
        tau: s.
        resamples: of episodes, for p and the range. With fewer than 4 episodes of a policy and
            object no number is given.
        simulations: of bridges.
        p: of the test at present; None: by permutations, as `frame-ros compare` has it.

    Raises:
        ShapeError: the policies share no object.
        ValueRangeError: as `kaplan_meier`, or an argument is out of range.
    """
    pairs = shared_cells(a, b)
    cells = [cell for pair in pairs.values() for cell in pair]
    effect = effect or correlation_effect(cells, tau)
    model = BridgeModel(drifts_of(a, b, tau), alpha, simulations, seed)
    p = macro_ks(a, b, tau, resamples, seed, has_replacement=False).p if p is None else p
    distances = resampled_distances(a, b, tau, resamples, seed)
    counts = [episodes_of(cell) for cell in cells]
    # The bridges stand for many episodes: a few show neither a distance nor its noise.
    episodes = model.episodes(power) * effect.value if min(counts) >= FEWEST else math.inf
    scale = _Scale(model.distance, episodes)
    largest = float(np.quantile(distances, 1.0 - alpha / 2.0))
    least = 2.0 * scale.distance - largest
    at_observed, low = scale.size(scale.distance), scale.size(max(largest, scale.distance))
    corrected = scale.size(2.0 * scale.distance - float(distances.mean()))
    further = at_observed and sum(max(at_observed - count, 0) for count in counts)
    observed = (
        f'a macro-averaged KS distance of {scale.distance:.3f} with '
        f'{counted(min(counts), "episode")} of each policy and object, p {p:.3g}'
    )
    unit, is_resolved = 'episodes of each policy and object', p <= alpha
    words = _words(observed, unit, is_resolved, (at_observed, low), further)
    if at_observed is not None and not is_resolved:
        words += _of_noise(corrected)
    return RolloutsNeeded(
        MACRO_KS, scale.distance, p, is_resolved, min(counts), at_observed, corrected, low,
        scale.size(least) if is_resolved else None, at_observed, further, words,
    )  # fmt: skip


def _of_noise(corrected: int | None) -> str:
    if corrected is None:
        return (
            ' Noise alone could make such a distance: the number at the observed distance is too '
            'small.'
        )
    return f' Less what noise adds to the distance: {corrected}.'


class _Scale(NamedTuple):
    """The number of episodes that a distance needs; of another it goes with its square."""

    distance: float
    episodes: float

    def size(self, distance: float) -> int | None:
        """Returns the number for a distance; None without one, or beyond a million."""
        if not (distance > 0.0 and self.distance > 0.0):
            return None
        needed = self.episodes * (self.distance / distance) ** 2
        return max(2, math.ceil(needed)) if needed <= MOST else None


def resampled_distances(
    a: Mapping[str, Any], b: Mapping[str, Any], tau: float, resamples: int, seed: int
) -> Any:
    """Returns (resamples,) macro-averaged KS distances of resampled episodes of each policy."""
    random = np.random.default_rng(seed)
    sums = np.zeros(resamples)
    pairs = shared_cells(a, b)
    for first, second in pairs.values():
        pool = pool_of(first, second)
        draws = [draw_episodes(random, count, count, resamples) for count in pool.counts]
        sums += arm_statistics(pool, draws[0], pool.counts[0] + draws[1], tau).ks
    return sums / len(pairs)


def _words(
    observed: str,
    unit: str,
    is_resolved: bool,
    numbers: tuple[int | None, int | None],
    further: int | None,
) -> str:
    at_observed, low = numbers
    if is_resolved:
        return f'resolved: {observed}; no further rollouts are needed.'
    least = f'at least {low} are needed, and ' if low else ''
    unbounded = (
        f'The data do not exclude that there is no difference: {least}no number can be promised to '
        'be enough.'
    )
    if at_observed is None:
        why = 'Of such an effect, or of so few episodes, no number can be computed.'
        return f'unresolved: {observed}. {why} {unbounded}'
    if not further:
        return (
            f'unresolved: {observed}. Were that effect the true one, most studies of '
            f'{at_observed} {unit} would find it: this one had bad luck, or the effect is smaller. '
            f'{unbounded}'
        )
    return (
        f'unresolved: {observed}. If that effect is the true one, {at_observed} {unit} are '
        f'needed: {counted(further, "further rollout")} of both policies together. {unbounded}'
    )
