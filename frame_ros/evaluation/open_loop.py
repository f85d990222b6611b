# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Open-loop evaluation: a policy's predictions from recorded observations against the executed
actions.

It measures how well a policy imitates the recording at the recorded states, not its success where
its own actions lead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, PolicyError, ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among, nearest_turn, unwrapped
from frame_ros.episodes.observations import RecordedObservations
from frame_ros.episodes.recorded.actions import RecordedActions
from frame_ros.metrics import mse
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.action_check import ACTION_SPACE, UNITS
from frame_ros.policies.execution.inference_check import check_own_chunk
from frame_ros.policies.own_policy import raised_text
from frame_ros.policies.protocol import Inference, Observation, for_policy
from frame_ros.policies.replay import MAX_GAP, SNAP, action_times, actions_at

Convert = Callable[[Inference, Observation], Inference]
# Most observations shown between two predictions to a policy that wants a history.
MOST_HISTORY = 64
BEHIND = 'step behind the last recorded action'
PAUSE = f'step behind a pause of more than {MAX_GAP:g} s'


@dataclass(frozen=True)
class Prediction:
    """One chunk: its first step belongs to the first action executed at or after `start` (ns)."""

    start: int
    actions: NDArray[np.float64]  # (H, D)
    dt: float  # s between two steps
    names: tuple[str, ...]
    units: tuple[str, ...]
    action_space: str = ACTION_SPACE


@dataclass(frozen=True)
class EpisodeErrors:
    """The predictions of one episode, and the executed actions; N rows, each a step of a chunk.

    A moment that several chunks predict counts once for each.

    Attributes:
        truth, predicted: (N, D), rad or m.
        step: (N,), its step in the chunk.
        dt: s between steps.
        chunks: chunks that have a row.
        left_out: reason -> chunks or steps that were not compared.
        unmatched: joints that only the prediction or only the recording has.
    """

    episode_id: str
    path: Path
    names: tuple[str, ...]
    dt: float
    chunks: int
    truth: NDArray[np.float64] = field(repr=False)
    predicted: NDArray[np.float64] = field(repr=False)
    step: NDArray[np.intp] = field(repr=False)
    left_out: Mapping[str, int] = field(default_factory=dict)
    unmatched: tuple[str, ...] = ()

    @property
    def mse(self) -> float:
        """Mean over the rows of the squared error summed over joints; FRAME eq. 3."""
        return float(mse(self.truth, self.predicted))


def predict(
    policy: Policy,
    actions: RecordedActions,
    observations: RecordedObservations,
    every: int = 10,
    seed: int = 0,
    convert: Convert | None = None,
) -> tuple[list[Prediction], dict[str, int]]:
    """Returns a policy's predictions at every `every`-th action, and reason -> missing ones.

    A policy that `needs_history` also gets the observations in between, at its period. `convert`
    makes joint positions, in rad or m, of chunks that are none.

    Raises:
        PolicyError: it predicted nothing at all.
        ValueRangeError: `every` is below 1.
    """
    if every < 1:
        raise ValueRangeError(f'every is {every}; it must be 1 or more actions')
    times, _ = action_times(actions.stamps)
    policy.reset(seed)
    predictions: list[Prediction] = []
    left_out: Counter[str] = Counter()
    shown = int(actions.stamps[0])
    for index in range(0, len(actions), every):
        stamp = int(actions.stamps[index])
        _show_history(policy, observations, shown, stamp)
        shown = stamp
        if problem := observations.lack(stamp):
            left_out[f'chunk without observation ({problem})'] += 1
            continue
        try:
            seen = observations.at(stamp, float(times[index]))
            found = policy.infer(for_policy(seen))
            check_own_chunk(found)
            if convert is not None:
                found = convert(found, seen)
        except PolicyError as error:
            left_out[f'chunk that the policy refused ({error})'] += 1
            continue
        except FrameRosError:
            raise
        except (Exception, SystemExit) as error:  # whatever a policy raises
            left_out[f'chunk at which the policy {raised_text(error)}'] += 1
            continue
        predictions.append(
            Prediction(
                stamp,
                np.asarray(found.actions, np.float64),
                found.dt,
                tuple(found.action_names),
                tuple(found.action_units),
                found.action_space,
            )
        )
    if not predictions:
        raise PolicyError(f'{actions.path}: nothing was predicted: {"; ".join(left_out)}')
    return predictions, dict(left_out)


def _show_history(policy: Policy, observations: RecordedObservations, begin: int, end: int) -> None:
    """Shows the observations between two stamps (ns), without them, to a policy with a history."""
    if not policy.needs_history:
        return
    period = round(policy.history_period * SECOND)
    count = min(max(end - begin - 1, 0) // period, MOST_HISTORY)
    for stamp in range(end - count * period, end, period):
        if not observations.lack(stamp):
            policy.observe(observations.at(stamp))


def compare(
    predictions: Sequence[Prediction],
    actions: RecordedActions,
    left_out: Mapping[str, int] | None = None,
) -> EpisodeErrors:
    """Compares predictions with the executed actions.

    A chunk's steps follow each other at its own dt on the time line of executed actions
    (`action_times`); between two recorded actions the truth is interpolated linearly. Joints that
    turn without end (`actions.continuous`) are counted on over their turns, and what is predicted
    of them is taken as its turn nearest the truth.

    Args:
        left_out: earlier omissions, to be counted with the rest.

    Raises:
        PolicyError: no prediction, other than joint positions in rad or m, joints that the
            recording does not have, or nothing to compare.
    """
    names = _common_names(predictions, actions)
    dt = predictions[0].dt
    times, _ = action_times(actions.stamps, dt)
    columns = [actions.names.index(name) for name in names]
    is_continuous = continuous_among(names, actions.continuous)
    executed = unwrapped(actions.positions[:, columns], is_continuous)
    ends, is_last = _pieces(actions.stamps, times)
    counts: Counter[str] = Counter(left_out or {})
    truth, predicted, steps = [], [], []
    for chunk in predictions:
        first = int(np.searchsorted(actions.stamps, chunk.start))
        if chunk.names != predictions[0].names or chunk.dt != dt:
            counts['chunk of other joints or dt than the first'] += 1
            continue
        if first == len(times):
            counts['chunk behind the last recorded action'] += 1
            continue
        wanted = times[first] + dt * np.arange(len(chunk.actions))
        is_known = wanted <= ends[first] + SNAP * dt
        counts[BEHIND if is_last[first] else PAUSE] += int((~is_known).sum())
        own = [chunk.names.index(name) for name in names]
        truth.append(actions_at(times, executed, wanted[is_known]))
        chosen = chunk.actions[is_known][:, own]
        predicted.append(nearest_turn(chosen, truth[-1], is_continuous))
        steps.append(np.flatnonzero(is_known))
    if not truth:
        raise PolicyError(f'{actions.path}: no chunk lies on the recorded actions')
    return EpisodeErrors(
        actions.episode_id,
        actions.path,
        names,
        dt,
        len(truth),
        np.concatenate(truth),
        np.concatenate(predicted),
        np.concatenate(steps),
        {why: count for why, count in counts.items() if count},
        tuple(sorted(set(predictions[0].names) ^ set(actions.names))),
    )


def _common_names(predictions: Sequence[Prediction], actions: RecordedActions) -> tuple[str, ...]:
    if not predictions:
        raise PolicyError(f'{actions.path}: there is no prediction to compare')
    for chunk in predictions:
        if chunk.action_space != ACTION_SPACE:
            raise PolicyError(
                f'the chunks are {chunk.action_space}; only {ACTION_SPACE} can be compared with '
                'joint commands'
            )
        if wrong := [unit for unit in chunk.units if unit not in UNITS]:
            raise PolicyError(
                f'the chunks are {chunk.action_space} in {wrong[0]!r}; only those in '
                f'{" or ".join(UNITS)} can be compared with joint commands'
            )
        if not np.isfinite(chunk.actions).all():
            raise PolicyError(f'the chunk at {chunk.start} ns holds values that are not finite')
    names = tuple(name for name in predictions[0].names if name in actions.names)
    if not names:
        raise PolicyError(
            f'the chunks move {list(predictions[0].names)}, the recording {list(actions.names)}: '
            'no joint in common; the policy must use the names of the recorded joints'
        )
    return names


def _pieces(
    stamps: NDArray[np.int64], times: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Returns per action when the next pause begins, s, and whether the rest has no pause."""
    ends = np.append(np.flatnonzero(np.diff(stamps) > MAX_GAP * SECOND), len(stamps) - 1)
    piece = np.searchsorted(ends, np.arange(len(stamps)))
    return times[ends[piece]], piece == len(ends) - 1
