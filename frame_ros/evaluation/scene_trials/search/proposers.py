# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Values of scenes to try next: at random, into empty cells, or where a policy is about to break.

Each proposes from what was tried so far and a seed alone, so that a search that was interrupted
goes on as it would have.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from frame_ros.core.errors import MissingExtraError, install_hint
from frame_ros.evaluation.scene_trials.search.objective import TriedScene, scores
from frame_ros.evaluation.scene_trials.search.search_options import QUALITY
from frame_ros.scenes.search.coverage import CoverageCounter
from frame_ros.scenes.search.space import Axis, Cell, SceneSpace, Values, has_effect, share_of

STARTUP = 16  # scenes drawn at random before the guided mode is guided
EXPLORE = 4  # of so many scenes of the guided mode one is drawn at random
GOOD = 10  # scenes of the highest scores near which the guided mode looks
ASKS = 8  # for a scene in a cell that was not tried yet
CANDIDATES = 40  # draws of which the coverage mode takes the one most of whose cells are empty


class Proposer(Protocol):
    """A way to choose scenes."""

    def __call__(
        self, tried: Sequence[TriedScene], count: int, seed: tuple[int, ...]
    ) -> list[Values | None]:
        """Returns `count` values of scenes; None: drawn as the generator does.

        Args:
            tried: all scenes before.
            seed: of this batch.
        """


def propose_random(
    tried: Sequence[TriedScene], count: int, seed: tuple[int, ...]
) -> list[Values | None]:
    """Nothing: the scenes are those of the generator."""
    return [None] * count


class CoverageProposer:
    """Scenes that lie in many cells, and pairs of cells, in which none was yet. Of `CANDIDATES`
    draws it takes the best, as the greedy construction of pairwise tests does (AETG; Cohen et al.,
    1997).
    """

    def __init__(self, space: SceneSpace) -> None:
        self._space = space

    def __call__(
        self, tried: Sequence[TriedScene], count: int, seed: tuple[int, ...]
    ) -> list[Values | None]:
        """As `Proposer`."""
        rng = np.random.default_rng(seed)
        counter = CoverageCounter(self._space)
        for each in tried:
            assert each.scene.origin is not None
            counter.add(each.scene.origin.values)
        found: list[Values | None] = []
        for _ in range(count):
            drawn = [self._space.draw(rng) for _ in range(CANDIDATES)]
            best = max(drawn, key=counter.gain)
            counter.add(best)
            found.append(best)
        return found


class GuidedProposer:
    """Scenes near those that broke the policy most, by a tree-structured Parzen estimator (Optuna).

    The scores of all scenes are computed again for each batch, as ranks and novelty change with
    every result.

    Args:
        space: of the scenes.
        metrics: by which successes are ranked.
        rule: of success.

    Raises:
        MissingExtraError: optuna is not installed.
    """

    def __init__(
        self, space: SceneSpace, metrics: Sequence[str] = QUALITY, rule: str = 'paper'
    ) -> None:
        self._space, self._metrics, self._rule = space, metrics, rule
        self._optuna = load_optuna()
        self._distributions = {axis.name: self._distribution(axis) for axis in space.axes}

    def __call__(
        self, tried: Sequence[TriedScene], count: int, seed: tuple[int, ...]
    ) -> list[Values | None]:
        """As `Proposer`."""
        if len(tried) < STARTUP:
            return [None] * count
        with _quiet():
            study = self._study(tried, seed)
            known = {each.cell for each in tried}
            found: list[Values | None] = []
            for index in range(count):
                if (len(tried) + index) % EXPLORE == 0:
                    found.append(None)
                    continue
                values = self._ask_new(study, np.random.default_rng((*seed, index)), known)
                known.add(self._space.cell_of(values))
                found.append(values)
            return found

    def _ask_new(self, study: Any, rng: np.random.Generator, known: Container[Cell]) -> Values:
        """Values in a cell that was not tried yet, if a few questions give them."""
        for _ in range(ASKS):
            trial = study.ask()
            values = self._values(trial, rng)
            if self._space.cell_of(values) not in known:
                break
            study.tell(trial, state=self._optuna.trial.TrialState.FAIL)
        return values

    def _study(self, tried: Sequence[TriedScene], seed: tuple[int, ...]) -> Any:
        values = scores(tried, self._metrics, self._rule)
        sampler = self._sampler(int(np.random.default_rng(seed).integers(2**31)))
        study = self._optuna.create_study(direction='maximize', sampler=sampler)
        state = self._optuna.trial.TrialState
        for each, value in zip(tried, values, strict=True):
            is_valid = bool(np.isfinite(value))
            params = self._params(each)
            study.add_trial(
                self._optuna.trial.create_trial(
                    params=params,
                    distributions={name: self._distributions[name] for name in params},
                    value=float(value) if is_valid else None,
                    state=state.COMPLETE if is_valid else state.FAIL,
                )
            )
        return study

    def _sampler(self, seed: int) -> Any:
        return self._optuna.samplers.TPESampler(
            seed=seed,
            n_startup_trials=0,
            constant_liar=True,
            multivariate=True,
            group=True,
            gamma=lambda count: GOOD,
        )

    def _values(self, trial: Any, rng: np.random.Generator) -> Values:
        """Values of all operators: of dimensions without an effect at random."""
        values = self._space.draw(rng)
        # Those first on which it depends whether others have an effect.
        for axis in sorted(self._space.axes, key=lambda each: not each.is_deciding):
            if has_effect(axis, values):
                values[axis.operator][axis.dimension.name] = self._suggest(trial, axis)
        return values

    def _suggest(self, trial: Any, axis: Axis) -> Any:
        dimension = axis.dimension
        if not dimension.choices:
            return dimension.at(trial.suggest_float(axis.name, 0.0, 1.0))
        last = len(dimension.choices) - 1
        if axis.is_ordered:
            return dimension.choices[trial.suggest_int(axis.name, 0, last)]
        return dimension.choices[trial.suggest_categorical(axis.name, list(range(last + 1)))]

    def _params(self, tried: TriedScene) -> dict[str, Any]:
        """Optuna's parameters of a scene that was tried."""
        assert tried.scene.origin is not None
        values = tried.scene.origin.values
        found: dict[str, Any] = {}
        for axis in self._space.axes:
            if has_effect(axis, values):
                value = values[axis.operator][axis.dimension.name]
                choices = axis.dimension.choices
                found[axis.name] = (
                    choices.index(value) if choices else share_of(axis.dimension, value)
                )
        return found

    def _distribution(self, axis: Axis) -> Any:
        distributions, choices = self._optuna.distributions, axis.dimension.choices
        if not choices:
            return distributions.FloatDistribution(0.0, 1.0)
        if axis.is_ordered:
            return distributions.IntDistribution(0, len(choices) - 1)
        return distributions.CategoricalDistribution(list(range(len(choices))))


def load_optuna() -> Any:
    """Returns the module optuna.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import optuna
    except ImportError as error:
        raise MissingExtraError(
            f'the guided search needs optuna ({error}): {install_hint("search")}'
        ) from error
    return optuna


@contextmanager
def _quiet() -> Iterator[None]:
    """Without Optuna's lines about each trial."""
    logger = logging.getLogger('optuna')
    former = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            yield
    finally:
        logger.setLevel(former)
