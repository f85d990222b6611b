# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of a search whose process died: they run once more before the next scenes are chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.scenes.description.scene import Scene

# Scenes -> the result of each, or several of each where it is run again; in any order. From an
# iterator each is on the disk before the next is asked for.
Evaluate = Callable[[Sequence[Scene]], Iterable[TrialResult]]


def once_more(evaluate: Evaluate) -> Evaluate:
    """Returns what runs scenes as `evaluate`, and those of trials whose process died again.

    A search chooses scenes by results, so a trial cannot run again later on. One that took too long
    would only do so again.
    """

    def run(scenes: Sequence[Scene]) -> Iterator[TrialResult]:
        died: dict[tuple[str, str, int, str], TrialResult] = {}
        for result in evaluate(scenes):
            if result.has_died:
                died[result.key] = result
            else:
                yield result
        names = {result.scene for result in died.values()}
        if again := [scene for scene in scenes if scene.name in names]:
            yield from (result for result in evaluate(again) if result.key in died)

    return run
