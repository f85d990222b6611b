# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials that are written as bags: a policy that gives all there is to record, and its campaign."""

from copy import deepcopy

import numpy as np

from frame_ros.evaluation.scene_trials.campaign import run_campaign
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.recording import RecordOptions
from frame_ros.metrics.token_statistics import token_statistics
from frame_ros.policies.base import Policy
from frame_ros.policies.protocol import Inference, TokenStatistics
from frame_ros.scenes.generation.setting import nominal_scene, setting
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.simulation.scene_robot import scene_robot

ALL = RecordOptions(record='all')
POLICY = TrialPolicyOptions(label='all of it', policy_options={'quality': 0.3})
TALKING = TrialPolicyOptions(policy=f'{__file__}:Talking')


class Talking(Policy):
    """Moves at random, over arrays of its own, with tokens, samples, features and rephrasings."""

    name = 'talking'
    n_action_steps = 3

    def reset(self, seed=None):
        self.rng = np.random.default_rng(seed)
        self.chunk = np.zeros((5, 6))
        self.tokens, self.words, self.features = None, np.zeros(2), np.zeros(20)

    def infer(self, observation):
        self.chunk[:] = observation.joint_positions
        self.chunk[:, 0] += self.rng.uniform(0.0, 0.1, 5)
        logits, places = self.rng.normal(size=(10, 7)), np.arange(10)
        reduced = vars(token_statistics(logits, logits.argmax(axis=1), (0.5, 1.0, 2.0)))
        self.tokens = self.tokens or TokenStatistics(
            **deepcopy(reduced), step=places // 2, dimension=places % 2
        )
        for name, value in reduced.items():
            if isinstance(value, np.ndarray):
                getattr(self.tokens, name)[...] = value
        self.words[:] = self.rng.random(2)
        self.features[:] = self.rng.normal(size=20)
        return Inference(
            self.chunk, 1 / 30, observation.joint_names, ('rad',) * 6, tokens=self.tokens,
            samples=self.chunk + self.rng.normal(size=(4, 5, 6)),
            rephrasings=('lift it', 'take it'), rephrasing_confidences=self.words,
            features=self.features, feature_source='test',
            unavailable={'nothing': 'for a test'},
        )  # fmt: skip


def nominal(task, robot='so101'):
    """The scene in which an operator varies nothing."""
    return nominal_scene(setting(scene_robot(robot), task))


def recorded(folder, scenes, timeout=8.0, policy=POLICY, record=ALL, **options):
    """Runs a campaign with bags; returns its results."""
    run = SceneRunOptions(timeout=timeout)
    options = {'processes': 0} | options
    return run_campaign(folder, scenes, policy, run, record=record, **options)
