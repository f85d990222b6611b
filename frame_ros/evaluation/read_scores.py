# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The score episodes of many bags, read by several processes."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.errors import BagError
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.reading import read_episodes
from frame_ros.evaluation.score_episodes import score_episode

# Starting a process takes as long as reading this many bags.
FEW_BAGS = 20


def read_score_episodes(
    bags: Sequence[Path], processes: int = 2, **choice: Any
) -> Iterator[list[ScoreEpisode]]:
    """Yields the episodes of each bag, in order; one that cannot be read gives an episode without
    outcome, whose note says why.

    Args:
        bags: bags, each on its own.
        processes: number of processes; few bags are read in this one.
        choice: further arguments of `read_episodes`.
    """
    read = partial(_of_bag, choice=choice)
    if processes < 2 or len(bags) < FEW_BAGS:
        yield from map(read, bags)
        return
    # A process of its own for each: threads of this one, if there are any, are not copied.
    context = multiprocessing.get_context('spawn')
    with ProcessPoolExecutor(processes, context) as pool:
        yield from pool.map(read, bags, chunksize=4)


def _of_bag(path: Path, choice: dict[str, Any]) -> list[ScoreEpisode]:
    try:
        return [score_episode(episode) for episode in read_episodes(path, **choice)]
    except BagError as error:
        return [score_episode(Episode(path, path.name, {}, [], {}, {}, problems=[str(error)]))]
