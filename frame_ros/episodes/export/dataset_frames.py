# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Selects the frames of a recorded episode at a steady rate, and their actions, for data sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import BagError, ValueRangeError
from frame_ros.core.time import SECOND
from frame_ros.episodes.interventions import Segment, is_intervened
from frame_ros.episodes.observations import RecordedObservations
from frame_ros.episodes.recorded.actions import RecordedActions

# A command belongs to the frame up to so many frames before its stamp: clocks jitter.
EARLY = 0.25
# A rate is reached by an input that comes at least at this share of it.
REACHED = 0.95
# Clocks differ: so much below a whole rate, Hz, is that rate.
CLOSE = 0.2


@dataclass(frozen=True)
class FrameRun:
    """Frames that follow each other without a gap."""

    stamps: NDArray[np.int64]  # (N,) ns, one frame apart
    observed: NDArray[np.int64]  # (N,) ns, up to which observations belong to the frame
    actions: NDArray[np.float64]  # (N, D), rad or m
    is_person: NDArray[np.bool_]  # (N,), whether an operator drove
    is_end: bool  # whether the recorded actions end with it

    def __len__(self) -> int:
        return len(self.stamps)


def input_rates(actions: RecordedActions, observations: RecordedObservations) -> dict[str, float]:
    """Input -> Hz, by the median interval of its stamps; NaN for a single message."""
    stamps = {'joint_commands': actions.stamps, 'joint_states': observations.joints.stamps}
    stamps.update((name, camera.stamps) for name, camera in observations.cameras.items())
    return {
        name: SECOND / float(np.median(np.diff(own))) if len(own) > 1 else float('nan')
        for name, own in stamps.items()
    }


def reachable_rate(rates: dict[str, float]) -> int:
    """The greatest whole rate, Hz, that every input reaches.

    Raises:
        BagError: an input has one message alone.
    """
    if single := [name for name, rate in rates.items() if not rate > 0]:
        raise BagError(
            f'{", ".join(single)}: one message alone has no rate; give one with --fps N --repeat'
        )
    return max(1, int(min(rates.values()) + CLOSE))


def check_rate(rates: dict[str, float], fps: int) -> None:
    """Raises BagError if an input comes less often than `fps` Hz."""
    if fps < 1:
        raise ValueRangeError(f'fps is {fps}; it must be 1 or more')
    slow = {name: rate for name, rate in rates.items() if not rate >= REACHED * fps}
    if slow:
        text = ', '.join(f'{name} at {rate:.1f} Hz' for name, rate in slow.items())
        most = reachable_rate(rates)
        raise BagError(
            f'{fps} frames per second are more than there is: {text}; at most '
            f'{most} are reached (--fps {most}), or --repeat lets frames repeat an input'
        )


def repeated_inputs(run: FrameRun, observations: RecordedObservations) -> dict[str, int]:
    """Returns input -> frames in which it repeats the frame before."""
    inputs = {'joint_states': observations.joints.stamps}
    inputs.update((name, camera.stamps) for name, camera in observations.cameras.items())
    return {
        name: int((np.diff(np.searchsorted(own, run.observed, side='right')) == 0).sum())
        for name, own in inputs.items()
    }


def frame_runs(
    actions: RecordedActions,
    observations: RecordedObservations,
    segments: Sequence[Segment],
    fps: int,
    keep: str = 'all',
    max_age: float = 0.5,
) -> tuple[list[FrameRun], dict[str, int]]:
    """Returns the runs of frames of an episode, and reason -> frames left out.

    Frames are `fps` a second, the first at the first action that has an observation. The action of
    a frame is the newest command at its stamp, or up to a quarter of a frame after it; observations
    are the newest at the later of both, so that what was measured right before a command stays with
    it. A run ends where an input is too old or missing, or where frames to be dropped begin: no run
    bridges a gap.

    Args:
        segments: in which an operator drove.
        keep: 'all'; 'policy': without these; 'operator': only these.
        max_age: s, largest age of a command.
    """
    left_out: Counter[str] = Counter()
    stamps = _grid(actions, observations, fps, left_out)
    early = int(EARLY * SECOND / fps)
    newest = np.searchsorted(actions.stamps, stamps + early, side='right') - 1
    observed = np.maximum(stamps, actions.stamps[newest])
    is_person = is_intervened(segments, stamps)
    is_kept = np.ones(len(stamps), bool)
    for i, stamp in enumerate(stamps.tolist()):
        why = observations.lack(int(observed[i]))
        if not why and stamp - actions.stamps[newest[i]] > max_age * SECOND:
            why = f'joint_commands: older than {max_age:g} s'
        if not why and keep != 'all' and (keep == 'operator') != is_person[i]:
            why = 'an operator drove' if is_person[i] else 'the policy drove'
        if why:
            left_out[why] += 1
            is_kept[i] = False
    kept = np.flatnonzero(is_kept)
    pieces = np.split(kept, np.flatnonzero(np.diff(kept) > 1) + 1) if len(kept) else []
    runs = [
        FrameRun(
            stamps[own],
            observed[own],
            actions.positions[newest[own]],
            is_person[own],
            own[-1] == len(stamps) - 1,
        )
        for own in pieces
    ]
    return runs, dict(left_out)


def _grid(
    actions: RecordedActions,
    observations: RecordedObservations,
    fps: int,
    left_out: Counter[str],
) -> NDArray[np.int64]:
    """Stamps of all frames (N,), from the first action with an observation to the last action."""
    for index, first in enumerate(actions.stamps.tolist()):
        why = observations.lack(first) or observations.damage(first)
        if not why:
            if index:
                left_out['before the first observation'] += index
            count = int((int(actions.stamps[-1]) - first) * fps / SECOND + EARLY) + 1
            return first + np.round(np.arange(count) * (SECOND / fps)).astype(np.int64)
    raise BagError(
        f'{actions.path}: no action has an observation: {why}; older inputs are allowed with '
        '--max-age S'
    )
