# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of failure prediction: one episode each, kept as the scores of its inferences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from frame_ros.confidence.score_episode import ScoreEpisode
from frame_ros.core.errors import SetupError
from frame_ros.evaluation.failure_prediction.faulty_rollouts import FaultyRollouts
from frame_ros.evaluation.score_episodes import score_episode
from frame_ros.evaluation.trials.campaign import Outcome, Result, Trial
from frame_ros.policies.base import Policy
from frame_ros.policies.registry import make_policy
from frame_ros.robots import load_robot

FUNCTIONS = {'episode': 'frame_ros.evaluation.failure_prediction.trial:run'}
RATE, TIMEOUT = 30.0, 16.0  # Hz of control steps; s, over twice a success of the scripted policy
DIGITS = 7  # significant ones of what is kept


def episode_trial(
    group: str, policy: str, fault: str, seed: int, robot: str = 'so101', **options: Any
) -> Trial:
    """A trial of one episode.

    Args:
        group: the policy's name in tables.
        policy: as `make_policy` takes it.
        fault: one of FAULTS.
        options: of the policy, and `n_action_steps`.
    """
    settings = {'group': group, 'policy': policy, 'fault': fault, 'options': options}
    return Trial('episode', robot, seed, settings)


def run(trial: Trial) -> Result:
    """Runs the episode; result: a ScoreEpisode as plain values, see `kept_episode`."""
    settings = trial.settings
    rollouts = _rollouts(trial.robot)
    policy = _policy(trial.robot, str(settings['policy']), _frozen(settings['options']))
    found = score_episode(rollouts.run_faulty(policy, trial.seed, str(settings['fault'])))
    scores = {name: _short(v) for name, v in found.scores.items() if np.isfinite(v).any()}
    return {
        'outcome': found.outcome,
        'duration': found.duration,
        'times': _short(found.times),
        'scores': scores,
        'distance': _short(found.distance),
        'contact': found.contact,
        'features': None if found.features is None else _short(found.features),
    }


def kept_episode(outcome: Outcome) -> ScoreEpisode:
    """Returns the episode of a trial's result; its name is the trial's key.

    Raises:
        SetupError: the result is of another version of this package.
    """
    result = outcome.result
    try:
        times = _array(result['times'])
        features = result['features']
        return ScoreEpisode(
            name=outcome.trial.key,
            outcome=result['outcome'],
            duration=float(result['duration']),
            times=times,
            scores={name: _array(values) for name, values in result['scores'].items()},
            distance=_array(result['distance']),
            contact=np.array(result['contact'], bool),
            features=None if features is None else _array(features),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SetupError(
            f'the kept result of {outcome.trial.key} cannot be read ({error!r}); remove the '
            'folder of the campaign, and run it again'
        ) from error


@lru_cache(maxsize=1)
def _rollouts(robot: str) -> FaultyRollouts:
    return FaultyRollouts(rate=RATE, timeout=TIMEOUT, robot=robot)


@lru_cache(maxsize=2)
def _policy(robot: str, spec: str, options: tuple[tuple[str, Any], ...]) -> Policy:
    known = load_robot(robot)
    offered = {
        'robot': robot,
        'robot_joint_names': list(known.joint_limits),
        'gripper_limits': known.grippers,
        'action_rate': RATE,
    }
    values = dict(options)
    executed = int(values.pop('n_action_steps', 0))
    policy = make_policy(spec, offered, **values)
    if executed:
        policy.n_action_steps = executed
    return policy


def _frozen(options: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(options.items()))


def _array(values: Any) -> np.ndarray:
    """None, which stands for what is not finite in JSON, becomes NaN."""
    return np.array(values, dtype=np.float64)


def _short(values: np.ndarray) -> list[Any]:
    """Returns a list, its numbers with DIGITS significant digits."""
    if values.ndim > 1:
        return [_short(row) for row in values]
    return [float(f'{v:.{DIGITS}g}') if math.isfinite(v) else None for v in values.tolist()]
