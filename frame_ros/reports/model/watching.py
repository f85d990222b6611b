# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Gate, monitor and cameras over all episodes: how often each stepped in, and what it left open."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from frame_ros.core.events import Outcome
from frame_ros.core.plain_text import counted
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.interventions import GateAction, GateRun
from frame_ros.episodes.monitoring.halts import EpisodeHalts
from frame_ros.episodes.unseen_shares import PartialDistances
from frame_ros.reports.model.numbers import readable

# From this share of partial distances on the least one is no bound.
PARTIAL = 0.1


@dataclass(frozen=True)
class Watching:
    """The gate, the monitor and the cameras in one episode.

    Attributes:
        runs: interventions of the gate; None: no gate was recorded.
        halts: verdicts of the monitor; None: no monitor was recorded.
        partial: share of the distances that are; None: not known.
    """

    runs: tuple[GateRun, ...] | None = None
    halts: EpisodeHalts | None = None
    partial: PartialDistances | None = None


def gate_sentence(watching: Sequence[Watching]) -> str:
    """'The command gate held the arm 1 time in 1 of 5 episodes, limited 14 commands in 3 of 5.'"""
    known = [each.runs for each in watching if each.runs is not None]
    if not known:
        return 'No command gate was recorded.'
    parts = list[str]()
    for action, words, noun in (
        (GateAction.STOPPED, 'stopped the arm', 'time'),
        (GateAction.HELD, 'held the arm', 'time'),
        (GateAction.REFUSED, 'refused', 'command'),
        (GateAction.LIMITED, 'limited', 'command'),
    ):
        own = [[run for run in runs if run.action is action] for runs in known]
        is_counted = noun == 'command'
        total = sum(run.count if is_counted else 1 for runs in own for run in runs)
        if total:
            of = '' if parts else ' episode' + 's' * (len(known) > 1)
            parts.append(
                f'{words} {counted(total, noun)} in {sum(map(bool, own))} of {len(known)}{of}'
            )
    missing = len(watching) - len(known)
    remark = f' None was recorded in {counted(missing, "episode")}.' if missing else ''
    if not parts:
        return f'The command gate changed nothing in {counted(len(known), "episode")}.{remark}'
    return f'The command gate {", ".join(parts)}.{remark}'


def partial_share(watching: Sequence[Watching]) -> float:
    """Share of all distances that are partial; NaN where that is not known."""
    known = [each.partial for each in watching if each.partial is not None]
    total = sum(each.distances for each in known)
    return sum(each.share * each.distances for each in known) / total if total else math.nan


def foresight_sentence(episodes: Sequence[Episode], watching: Sequence[Watching]) -> str:
    """'The monitor recommended a halt in 3 of 4 episodes that did not succeed ...', or what shows
    whether failures can be foreseen.
    """
    found = [(e, each.halts) for e, each in zip(episodes, watching) if each.halts is not None]
    failed = [halts for e, halts in found if _has_failed(e)]
    succeeded = [halts for e, halts in found if e.outcome is Outcome.SUCCESS]
    if not failed and not succeeded:
        failures = sum(map(_has_failed, episodes))
        successes = sum(e.outcome is Outcome.SUCCESS for e in episodes)
        return (
            f'{"No outcome is known of what the monitor watched" if found else "No monitor ran"}. '
            'frame-ros calibrate shows which scores of the policy separate failures from '
            f'successes, here {failures:,} and {successes:,}.'
        )
    halted = [halts for halts in failed if halts.halts]
    leads = [(halts.end - halts.halts[0].begin) / 1e9 for halts in halted]
    lead = f', in the median {readable(median(leads), 2)} s before their end' if leads else ''
    alarms = sum(bool(halts.halts) for halts in succeeded)
    return (
        f'The monitor recommended a halt in {len(halted)} of '
        f'{counted(len(failed), "episode")} that did not succeed{lead}, and in {alarms} of '
        f'{len(succeeded)} that did (false alarms).'
    )


def _has_failed(episode: Episode) -> bool:
    return episode.outcome not in (Outcome.SUCCESS, Outcome.UNKNOWN)
