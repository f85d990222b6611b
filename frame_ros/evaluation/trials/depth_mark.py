# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rules for the mark of a partial distance: how many right frames each marks, and how many wrong
ones it leaves unmarked, when its threshold keeps a share of the wrong ones marked.

A frame is wrong if its distance is more than MARGIN too far, or nothing was found though something
is near. A rule marks frames whose value is at or above a threshold; the threshold is chosen on some
trials and taken to others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from frame_ros.evaluation.trials.depth_world_scores import MARGIN, NEAR, Share, column, share
from frame_ros.sensing.proximity.depth.detector import NOTHING_NEAR

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Results = Sequence[Mapping[str, Any]]
NUMBER = 'number of unseen places nearer than the distance'
PART = 'their share of the nearer places'
AHEAD = 'how much nearer the nearest unseen place is'
RULES = (NUMBER, PART, AHEAD)
REACH = 0.3  # m, that stands for a distance where nothing was found


@dataclass(frozen=True)
class MarkedFrames:
    """values: rule -> (F,) of each frame; wrong: (F,) whether it is too far, or nothing was
    found.
    """

    values: Mapping[str, Array]
    wrong: Bools


@dataclass(frozen=True)
class TradeOff:
    """A threshold of a rule.

    Attributes:
        threshold: from which value on a frame is marked.
        right_chosen: right frames that are marked, of the trials it was chosen on.
        right: the same of the other trials.
        unmarked: wrong frames of the other trials that are not marked, of their wrong ones.
        silent: the same, of all their frames.
    """

    threshold: float
    right_chosen: Share
    right: Share
    unmarked: Share
    silent: Share


def marked_frames(results: Results) -> MarkedFrames:
    """Returns the frames of trials that are judged: with an obstacle within NEAR, and a distance or
    the answer that nothing is near. See `depth_worlds.run` for results.
    """
    truth, measured = column(results, 'truth'), column(results, 'measured')
    reasons = [reason for result in results for reason in result['unavailable']]
    is_called_free = np.array([NOTHING_NEAR in reason for reason in reasons], bool)
    is_judged = (truth <= NEAR) & (np.isfinite(measured) | is_called_free)
    unseen, every = column(results, 'unseen_nearer'), column(results, 'places_nearer')
    unobserved = column(results, 'unobserved')
    limit = np.where(np.isfinite(measured), measured, REACH)
    ahead = np.where(np.isfinite(unobserved), limit - unobserved, -np.inf)
    values = {NUMBER: unseen, PART: unseen / np.maximum(every, 1.0), AHEAD: ahead}
    wrong = (measured - truth > MARGIN) | is_called_free
    return MarkedFrames({name: v[is_judged] for name, v in values.items()}, wrong[is_judged])


def trade_off(rule: str, kept: float, chosen_on: MarkedFrames, others: MarkedFrames) -> TradeOff:
    """Returns the highest threshold of a rule that keeps at least a share of the wrong frames of
    `chosen_on` marked, and what it does there and with others; marks all if none are wrong.
    """
    values = np.sort(chosen_on.values[rule][chosen_on.wrong])
    left = int(np.floor((1.0 - kept) * len(values) + 1e-9))
    threshold = float(values[left]) if len(values) else -np.inf
    first = chosen_on.values[rule] >= threshold
    marked = others.values[rule] >= threshold
    return TradeOff(
        threshold, share(first[~chosen_on.wrong]), share(marked[~others.wrong]),
        share(~marked[others.wrong]), share(~marked & others.wrong),
    )  # fmt: skip
