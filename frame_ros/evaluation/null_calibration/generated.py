# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Generated outcomes: operations that are correlated within episodes, with hard failures and
censoring, of policies whose difference is known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.options import option, options
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome, LabelSource
from frame_ros.evaluation.outcomes.operation import Ending, Operation
from frame_ros.evaluation.survival.cell import Cell

Array = NDArray[np.float64]
# Mean times of the easiest and the hardest object, as multiples of the median; of one object the
# first.
EASIEST, HARDEST = 0.7, 1.6


@options
class GeneratedOptions:
    """Episodes of policies that do not exist."""

    objects: int = option(4, 'number of objects', at_least=1, at_most=100)
    episodes: int = option(40, 'of each policy on each object', at_least=2, at_most=10_000)
    operations: int = option(8, 'of each episode, if its time suffices', at_least=1, at_most=1000)
    correlation: float = option(
        0.3, 'of the logarithms of times within an episode', at_least=0.0, below=1.0
    )
    scene_share: float = option(
        0.5, 'of that correlation that comes from the scene, which paired episodes share',
        at_least=0.0, at_most=1.0,
    )  # fmt: skip
    median: float = option(12.0, 'time of an operation', unit='s', above=0.0)
    spread: float = option(0.6, "standard deviation of a time's logarithm", above=0.0)
    drop_rate: float = option(0.05, 'hard failures per operation', at_least=0.0, below=1.0)
    duration: float = option(150.0, 'of an episode: what is not done then is censored', unit='s',
                             above=0.0)  # fmt: skip


class Arm(NamedTuple):
    """Episodes of one policy on one object; operations that never began are NaN.

    Attributes:
        begins: (E, K) s since the episode's start.
        ends: (E, K) s.
        dropped: (E, K) hard failures.
        censored: (E, K) not done when the episode ended.
    """

    begins: Array
    ends: Array
    dropped: NDArray[np.bool_]
    censored: NDArray[np.bool_]

    @property
    def began(self) -> NDArray[np.bool_]:
        """(E, K) whether the operation began."""
        return ~np.isnan(self.begins)

    @property
    def successes(self) -> NDArray[np.bool_]:
        """(E,) whether all operations of the episode were done."""
        return np.asarray((self.began & ~self.dropped & ~self.censored).all(axis=1))

    @property
    def cell(self) -> Cell:
        """The operations as arrays."""
        began = self.began
        times = np.where(self.dropped, math.inf, self.ends - self.begins)[began]
        return Cell(times, ~self.censored[began], np.nonzero(began)[0])


def scenes(options: GeneratedOptions, random: np.random.Generator) -> Array:
    """Returns (objects, E) difficulties of scenes, standard normal; episodes of one are paired."""
    return random.standard_normal((options.objects, options.episodes))


def generated_arm(
    options: GeneratedOptions,
    place: int,
    scene: Array,
    random: np.random.Generator,
    slower: float = 1.0,
    drop_rate: float | None = None,
) -> Arm:
    """Generates the episodes of one policy on one object.

    Logarithms of times are normal, with a part of each episode, a part of each scene, and one of
    each operation; what is slow is also dropped more often. An operation begins when the one before
    it ended; the episode ends after its operations, or when its time has run out.

    Args:
        place: number of the object, from 0; later ones take longer.
        scene: (E,) difficulties, as of `scenes`.
        slower: factor of all times.
        drop_rate: of this policy, instead of that of the options.
    """
    shape = len(scene), options.operations
    own = random.standard_normal(shape[0])
    episode = math.sqrt(options.scene_share) * scene + math.sqrt(1.0 - options.scene_share) * own
    between, within = math.sqrt(options.correlation), math.sqrt(1.0 - options.correlation)
    noise = between * episode[:, None] + within * random.standard_normal(shape)
    hardness = float(np.geomspace(EASIEST, HARDEST, options.objects)[place])
    median = options.median * hardness * slower
    ends = np.cumsum(median * np.exp(options.spread * noise), axis=1)
    begins = np.concatenate([np.zeros((shape[0], 1)), ends[:, :-1]], axis=1)
    rate = options.drop_rate if drop_rate is None else drop_rate
    drops = (
        random.random(shape)
        < np.clip(rate * np.exp(between * episode - between**2 / 2), 0, 1)[:, None]
    )
    censored = ends > options.duration
    is_late = begins >= options.duration
    begins = np.where(is_late, np.nan, begins)
    ends = np.where(is_late, np.nan, np.minimum(ends, options.duration))
    return Arm(begins, ends, drops & ~censored & ~is_late, censored & ~is_late)


def generated_cells(
    options: GeneratedOptions,
    random: np.random.Generator,
    slower: float = 1.0,
    drop_rate: float | None = None,
) -> dict[str, Cell]:
    """Generates object -> the cell of one policy, in scenes of its own; arguments as of
    `generated_arm`.
    """
    return {
        object_name(place): generated_arm(options, place, scene, random, slower, drop_rate).cell
        for place, scene in enumerate(scenes(options, random))
    }


def generated_outcomes(
    options: GeneratedOptions, seed: int = 0, slower: dict[str, float] | None = None
) -> list[EpisodeOutcome]:
    """Generates outcomes of policies in the same scenes, paired.

    slower: policy -> factor of its times; by default two policies that do not differ.
    """
    random = np.random.default_rng(seed)
    difficulties = scenes(options, random)
    return [
        _outcome(arm, episode, policy, place)
        for policy, factor in (slower or {'a': 1.0, 'b': 1.0}).items()
        for place, scene in enumerate(difficulties)
        for arm in (generated_arm(options, place, scene, random, factor),)
        for episode in range(options.episodes)
    ]


def object_name(place: int) -> str:
    """Returns the name of an object."""
    return f'object {place + 1}'


def _outcome(arm: Arm, episode: int, policy: str, place: int) -> EpisodeOutcome:
    operations = tuple(
        Operation(float(begin), float(arm.ends[episode, k]), _ending(arm, episode, k))
        for k, begin in enumerate(arm.begins[episode])
        if not math.isnan(begin)
    )
    return EpisodeOutcome(
        name=f'{policy} {object_name(place)} {episode}',
        policy=policy,
        object=object_name(place),
        task='',
        duration=operations[-1].end,
        operations=operations,
        is_success=bool(arm.successes[episode]),
        pair=f'scene {episode}',
        label_source=LabelSource.FILE,
    )


def _ending(arm: Arm, episode: int, place: int) -> Ending:
    if arm.dropped[episode, place]:
        return Ending.DROP
    return Ending.TIMEOUT if arm.censored[episode, place] else Ending.SUCCESS
