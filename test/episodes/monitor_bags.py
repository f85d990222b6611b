# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of an episode that a halt monitor watched, with verdicts of the monitor itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import attrs
from bag_making import T0, message, stamp
from robot_bags import robot_bag

from frame_ros.confidence.monitor import Level, MonitorOptions, MonitorSample, MonitorVerdict
from frame_ros.core.time import SECOND
from frame_ros.episodes.monitoring.settings import INPUTS, MonitorSettings

TOPICS = dict(zip(INPUTS, ('/confidence_metrics', '/proximity', '/contact')))
RULE = MonitorOptions(
    threshold_from='fixed', thresholds=(0.5,), aggregation='window', window=2,
    minimum_duration=0.15,
)  # fmt: skip
START = T0 - 1000  # of the episode of robot_messages
# s, confidence, distance (m), contact: unsure from 0.3 s on, near from 0.4 s on.
MOMENTS = [(0.1 * k, 0.9 if k < 3 else 0.2, 0.5 if k < 4 else 0.05, k == 8) for k in range(10)]


def at(seconds: float) -> int:
    """ns."""
    return T0 + round(seconds * SECOND)


def watched_messages(
    settings: MonitorSettings | None = None, begun: int = 0
) -> list[tuple[str, int, Any]]:
    """Inputs, verdicts and settings of a monitor: topic, receive time, message. begun: ns, when it
    began again; 0: it did not.
    """
    settings = settings or MonitorSettings(RULE, None, TOPICS, START - 1)
    monitor = settings.make()
    monitor.start(START)
    text = message('std_msgs/msg/String', data=settings.to_json())
    sent: list[tuple[str, int, Any]] = [('/monitor_config', START - 2000, text)]
    for seconds, confidence, distance, contact in MOMENTS:
        moment = at(seconds)
        if 0 < begun < moment:
            again = attrs.evolve(settings, since=begun, begun=begun)
            text = message('std_msgs/msg/String', data=again.to_json())
            sent.append(('/monitor_config', begun, text))
            monitor, begun = again.make(), 0
            monitor.start(START)
        stamps = {name: stamp(moment) for name in ('score', 'distance', 'contact')}
        header = {'header__stamp': stamp(moment)}
        verdict = monitor.update(
            MonitorSample(
                moment + 2_000_000,
                {'confidence': confidence},
                moment,
                distance,
                moment,
                contact,
                moment,
            )  # fmt: skip
        )
        sent += [
            (
                TOPICS['confidence'],
                moment,
                message('frame_ros/msg/ConfidenceMetrics', confidence=confidence, **header),
            ),
            (
                TOPICS['proximity'],
                moment,
                message('frame_ros/msg/Proximity', distance=distance, **header),
            ),
            (
                TOPICS['contact'],
                moment,
                message('frame_ros/msg/ContactState', in_contact=contact, **header),
            ),
            ('/monitor_state', moment + 2_000_000, state_message(verdict, stamps)),
        ]
    return sent


def state_message(verdict: MonitorVerdict, stamps: dict[str, Any]) -> Any:
    """A MonitorState."""
    return message(
        'frame_ros/msg/MonitorState',
        header__stamp=stamp(verdict.stamp),
        episode_id='e1',
        level=int(verdict.level),
        is_halt_recommended=verdict.level == Level.HALT,
        reasons=[reason.text for reason in verdict.reasons],
        causes=[str(reason.cause.value) for reason in verdict.reasons],
        score=verdict.score,
        confidence=verdict.value,
        threshold=verdict.threshold,
        completion=verdict.completion,
        distance=verdict.distance,
        in_contact=bool(verdict.in_contact),
        progress=float('nan'),
        expected_duration=float('nan'),
        **{f'{name}_stamp': value for name, value in stamps.items()},
    )


def watched_bag(folder: Path, sent: list[tuple[str, int, Any]], outcome: int = 2) -> Path:
    """Writes the bag of a robot with them: an episode of 1.2 s, which failed."""
    return robot_bag(folder, sent, count=36, outcome=outcome)
