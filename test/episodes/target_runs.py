# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Made-up pick and place runs, with object, goal and grasp, for the tests of the pipeline."""

import math

import numpy as np
from pipeline_runs import NAMES, make_events

from frame_ros.core.time import SECOND
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline

MS = SECOND // 1000
BEGIN, STEPS, STEP = 10 * SECOND, 60, 33 * MS
NAN = math.nan
PUT = PipelineOptions(ot_task='put_in', pose_frame='base', max_goal_age=0.5)
REASON = {
    'object': 'no object pose was received',
    'goal': 'no goal pose was received',
    'grasp': 'the grasp was not received',
}


class Run:
    """A pick and place in numbers: poses, object, goal and grasp at every step, 1 ms before."""

    def __init__(self, seed=0):
        random = np.random.default_rng(seed)
        self.tcp = np.cumsum(random.normal(0, 0.01, (STEPS, 3)), axis=0)
        self.object = np.array([0.3, 0.1, 0.0]) + np.cumsum(
            random.normal(0, 0.002, (STEPS, 3)), axis=0
        )
        self.goal = np.array([-0.2, 0.2, 0.1]) + np.zeros((STEPS, 3))
        self.grasped = (np.arange(STEPS) > 20) & (np.arange(STEPS) < 45)
        self.stamps = BEGIN + STEP * np.arange(1, STEPS + 1)

    def samples(self, frame='base', without=()):
        found = []
        for i, stamp in enumerate(self.stamps.tolist()):
            pose = (*self.tcp[i].tolist(), 0.0, 0.0, 0.0, 1.0)
            found += [
                ('object', stamp - MS, (*self.object[i].tolist(), frame)),
                ('goal', stamp - MS, (*self.goal[i].tolist(), '')),
                ('grasp', stamp - MS, (bool(self.grasped[i]), '')),
                ('pose', stamp - MS, pose),
                ('action', stamp, (NAMES, [0.0] * 3)),
            ]
        return [sample for sample in found if sample[0] not in without]


def process(samples, config, lagging=None):
    pipeline = MetricPipeline(config, lagging)
    for stream, stamp, value in sorted(samples, key=lambda s: s[0] != 'event'):
        pipeline.feed(stream, stamp, value)
    return pipeline.finish(), pipeline


def column(out, name):
    return np.array([s.values[name] for s in out if s.kind == 'quality' and s.episode_id], float)


def reasons_of(out):
    (summary,) = [s for s in out if s.kind == 'summary']
    return dict(line.split(': ', 1) for line in summary.values['unavailable'])


def episode(samples, end=2.5):
    return make_events(0.0, end) + samples
