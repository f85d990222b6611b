# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Made-up robot runs for the tests of the pipeline: stamped samples of every stream, in stamp
order.
"""

from __future__ import annotations

import numpy as np

from frame_ros.core.events import Event, EventType, Outcome
from frame_ros.core.time import SECOND

NAMES = ('a', 'b', 'c')
INFERENCE = {
    'latency': 0.05,
    'preprocess': 0.01,
    'forward': 0.03,
    'postprocess': 0.005,
    'transport': 0.0,
    'cpu_time': 0.04,
    'memory_rss': 1e8,
    'memory_device': 0.0,
    'queue_depth': 3.0,
    'stalls': 1.0,
    'chunk_overlap': 0.2,
    'observation_age': 0.02,
    'sequence': 0,
    'token_count': 0,
    'sample_count': 0,
}


def make_run(
    seed: int = 0, seconds: float = 2.0, pose_rate: int = 100, step_rate: int = 30
) -> list[tuple]:
    """(stream, stamp, value) of a run that starts at 10 s, in stamp order; events come first."""
    random = np.random.default_rng(seed)
    begin = 10 * SECOND

    def stamps(rate: float, jitter: float = 0.2) -> list[int]:
        count = int(seconds * rate)
        grid = np.arange(count) / rate + random.uniform(0, jitter / rate, count)
        return [begin + int(t * SECOND) for t in grid]

    samples: list[tuple] = []
    for stamp in stamps(pose_rate):
        q = random.normal(size=4)
        value = (*random.normal(size=3).tolist(), *(q / np.linalg.norm(q)).tolist())
        samples.append(('pose', stamp, value))
    for stamp in stamps(step_rate):
        samples.append(('action', stamp, (NAMES, random.uniform(-1, 1, 3).tolist())))
    for stamp in stamps(50):
        touching = bool(random.random() < 0.2)
        samples.append(
            ('contact', stamp, (touching, touching and bool(random.random() < 0.5), 2.0))
        )
    for stamp in stamps(40):
        samples.append(('proximity', stamp, (float(random.uniform(0.0, 0.3)),)))
    for sequence, stamp in enumerate(stamps(3)):
        value = INFERENCE | {'sequence': sequence, 'latency': float(random.uniform(0.01, 0.2))}
        samples.append(('inference', stamp, value))
    return sorted(samples, key=lambda sample: sample[1])


def make_events(start: float, end: float, success: float | None = None) -> list[tuple]:
    """START at `start` s after the run's begin, END at `end`, and SUCCESS if given."""
    begin = 10 * SECOND
    events = [
        Event(begin + int(start * SECOND), EventType.START, 'e1'),
        Event(begin + int(end * SECOND), EventType.END, 'e1', outcome=Outcome.SUCCESS),
    ]
    if success is not None:
        events.append(Event(begin + int(success * SECOND), EventType.SUCCESS, 'e1'))
    return [('event', event.stamp, event) for event in events]
