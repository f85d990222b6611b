# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Explanations of uncertainty and confidence: tokens, samples, chunks, rephrasings."""

from __future__ import annotations

from frame_ros.metrics.explanations.entry import Explanation

_TOKENS = (
    'A softmax is not a probability of success: models are often sure of wrong actions, so '
    'calibrate before thresholding. Decoding without sampling changes the actions, not these '
    'values; decoding at another temperature than 1 changes both, if it is applied before. '
)
_CLASSES = (
    'Its maximum depends on the number V of classes, and a large vocabulary of which few tokens '
    'are actions lowers the values: compare within one model, or normalised. '
)
_MEAN = 'The mean over tokens hides one uncertain joint among several sure ones. '
_MULTIMODAL = 'Two equally good ways to act look like doubt. '
_NORMALISED = '`normalised` (also `authors`): divided by the maximum for V classes, '

TOKENS = {
    'tb_tp': Explanation(
        'uₜ = 1 − 1/TN Σ_tn maxᵢ pᵢ     over TN tokens of an action',
        'How little probability the most likely tokens have: 0 is sure.',
        f'{_TOKENS}{_CLASSES}{_MULTIMODAL}{_MEAN}',
        f'{_NORMALISED}1 − 1/V.',
    ),
    'tb_pcs': Explanation(
        'uₜ = 1 − 1/TN Σ_tn (largest p − second largest p)',
        'How close the runner-up is to the most likely token: 1 is a tie.',
        f'{_TOKENS}Neighbouring bins of a discretised action mean almost the same motion: a tie '
        f'between them is no doubt. {_MULTIMODAL}{_MEAN}',
        'Its maximum is 1 for any V: normalising changes nothing.',
    ),
    'tb_d': Explanation(
        'uₜ = 1/TN Σ_tn (1 − Σᵢ pᵢ²)',
        'DeepGini: the chance that two draws from the token distribution differ.',
        f'{_TOKENS}{_CLASSES}Neighbouring bins count as different actions. {_MULTIMODAL}{_MEAN}',
        f'{_NORMALISED}1 − 1/V.',
    ),
    'tb_e': Explanation(
        'uₜ = −1/TN Σ_tn Σᵢ pᵢ ln pᵢ',
        'Entropy of the token distribution in nats: how many tokens are in play, e^u of them.',
        f'{_TOKENS}{_CLASSES}A long tail of unlikely tokens raises it although none is ever '
        f'chosen. {_MULTIMODAL}{_MEAN}',
        f'{_NORMALISED}ln V; then it is a share, no longer nats.',
    ),
}

SAMPLES = {
    'ev': Explanation(
        'uₜ = 1/D Σ_d √( 1/N Σₙ (aₜ,d,n − āₜ,d)² )      N samples from one observation',
        'How much the policy disagrees with itself when asked again.',
        'It is 0 for any policy that decodes without randomness, which says nothing of its '
        'certainty. Dimensions of different units (rad, m, gripper) are averaged as numbers: '
        'compare within one action space. Few samples give a noisy, too small value: on '
        'average 0.72 of the true spread with N = 3, 0.90 with N = 8. Two good ways to act look '
        'like doubt. It costs N inferences, and the spread depends on the sampling temperature.',
    ),
    'chunk_overlap': Explanation(
        'mean |new chunk − last chunk|  over steps and dimensions that both predict',
        'Whether the policy sticks to its plan: how much a new chunk differs from the last one '
        'about the same moments.',
        'It depends on how much later the new chunk was made: a policy that replans rarely '
        'differs more. Reacting to something that moved is a good reason to differ. Chunks that '
        'do not overlap have none. Units of dimensions are mixed.',
    ),
}

CONFIDENCE = {
    'confidence': Explanation(
        'cₜ = mean over tokens of the probability of the chosen token',
        'How likely the policy thought its own action.',
        f'{_TOKENS}{_MULTIMODAL}{_MEAN}',
        'Arithmetic mean (default), geometric mean, smallest or largest over tokens; or the mean '
        'over action dimensions of the mean over their tokens. All classes V count, unless the '
        'policy restricts them to its action tokens.',
    ),
    'confidence_calibrated': Explanation(
        'g(cₜ)                          g: recalibrator fitted on earlier episodes',
        'Confidence on the scale of success: of episodes at 0.8, about 80 % should succeed.',
        'It holds for the task, robot and scenes that g was fitted on; elsewhere it is again a '
        'guess. Fitted on few episodes, its own interval is wide.',
    ),
    'confidence_episode': Explanation(
        'h(c₁ … cₜ)                     first step, mean, smallest, largest, or a window',
        'The confidence in the episode so far, as one number.',
        'The first step knows the scene and nothing of what happens; a mean over a long episode '
        'dilutes the moment of doubt. Values of different h are not comparable.',
    ),
    'ensemble_mean': Explanation(
        '1/r Σᵢ cᵢ                      over r rephrasings of the instruction',
        'Confidence that does not hang on one wording.',
        'Rephrasings that change the meaning lower it for no reason, and it costs r inferences.',
    ),
    'ensemble_spread': Explanation(
        '√( 1/r Σᵢ (cᵢ − c̄)² )          population standard deviation over rephrasings',
        'How much the confidence hangs on the wording: large values show a fragile understanding.',
        'With two or three rephrasings it is mostly chance. A policy that ignores the '
        'instruction has a spread of 0.',
    ),
}

UNCERTAINTY = {**TOKENS, **SAMPLES, **CONFIDENCE}
