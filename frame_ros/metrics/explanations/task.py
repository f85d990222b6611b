# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Explanations of the task metrics: success, completion, action error."""

from __future__ import annotations

from frame_ros.metrics.explanations.entry import Explanation

TASK = {
    'sr': Explanation(
        'SR = successful episodes / episodes with a known outcome',
        'Whether the task gets done at all. It is the first number to look at, and it needs many '
        'episodes: reports always show the 95 % Wilson interval beside it.',
        'With few episodes the interval is wide: 4 of 5 is compatible with anything from 38 % to '
        '96 %. Success by luck, by force or after long wandering counts like a clean one, and what '
        'counts as success is decided by whoever ends the episode. Timeouts and stops count as '
        'trials that did not succeed; episodes without an outcome do not count.',
    ),
    'tcr': Explanation(
        'TCR = completed task chains / task chains',
        'How often a chain of several tasks is completed as a whole.',
        'A chain that fails at its last step counts like one that never began. Where an episode '
        'has one task it equals SR. As a rate it needs its Wilson interval.',
    ),
    'mse': Explanation(
        'MSE = 1/T Σₜ ‖aₜ − âₜ‖²        summed over action dimensions, mean over T steps',
        "How far predicted actions are from a demonstrator's, on recorded data, without running "
        'the robot.',
        'A low error does not mean success: small errors add up in closed loop, and where there '
        'are several good ways the mean of them has a low error and fits none. Dimensions of '
        'different units (rad, m, gripper) are added up, so the one with the largest numbers '
        'decides. It grows with the number of dimensions.',
    ),
    'amse': Explanation(
        'AMSE = 1/K Σₖ MSEₖ             over K trajectories',
        'The action error over a data set in which each trajectory weighs the same, long or short.',
        'As MSE. Short trajectories weigh as much as long ones, so failures cut short can dominate '
        'it. Not comparable between data sets whose actions have other scales: NAMSE is.',
    ),
    'namse': Explanation(
        'NAMSE = AMSE / σ²              σ²: population variance of all ground-truth entries',
        'The action error relative to how much the ground truth varies: comparable between data '
        'sets. Predicting the overall mean gives about the number of action dimensions.',
        'The variance is taken over all dimensions together, so it mixes units, and one dimension '
        'with a large offset makes the error look small. Data that hardly vary make it explode.',
    ),
}
