# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Explanations of the trajectory metrics: path, smoothness, instability."""

from __future__ import annotations

from frame_ros.metrics.explanations.entry import RATE, Explanation

_RATES = (
    'Raw differences are divided by the time between stamps, so noise of the pose is amplified '
    'more the higher the rate: 0.1 mm of noise at 30 Hz is '
)
_STATIC = 'A robot that does not move scores best: static episodes are marked and left out.'
_GAPS = 'A gap in the stamps resets the differences and is counted.'
_AUTHORS = (
    "`authors`: mean over axes of absolute differences, averaged over the newest 5, as the paper's "
    'code does'
)

PATH = {
    'pl': Explanation(
        'PL = Σᵢ ‖pᵢ₊₁ − pᵢ‖',
        'How far the end effector travelled. Of two episodes that succeed at one task, the shorter '
        'path wasted less motion.',
        'An episode that fails early, or never moves, has a short path: compare among successes. '
        'Noise of the pose adds to every segment, so the length grows with the sampling rate; '
        'slow sampling cuts corners and shortens it. Scenes with farther objects need longer '
        'paths.',
    ),
    'ps': Explanation(
        'PS = 1/PL Σᵢ ‖(pᵢ₊₂ − pᵢ₊₁) − (pᵢ₊₁ − pᵢ)‖',
        'How much the motion changes from step to step, relative to how far it went. Lower is '
        'smoother; hesitation and oscillation raise it.',
        f'{RATE}For one smooth motion, sampling twice as often halves the sum; with noise in the '
        'pose it grows with the rate instead. Pauses cost little path, so many short moves look '
        'rough. A low-pass filter lowers it: reports state the cut-off. Comparing values of '
        'PS between publications needs rate and variant.',
        '`paper`: as above. `mean_second_difference` (also `authors`), as the published library '
        'robometric-frame 0.3.0 has it: the mean norm of the second differences, in m.',
    ),
    'cc': Explanation(
        'CC = 1/(n−1) Σᵢ |κᵢ₊₁ − κᵢ|\nκᵢ = turn from θᵢ to θᵢ₊₁ / ‖pᵢ₊₁ − pᵢ‖',
        'How abruptly the motion turns. Made for vehicles with a heading; for an arm, the live '
        'value takes the turn of the end effector’s orientation per metre.',
        f'{RATE}It divides by the length of a segment, so an end effector that turns (almost) in '
        'place, or creeps, gives huge values: segments below 1e-6 m are left out and counted, '
        'those just above still dominate the mean. Turning the gripper on purpose counts.',
        '`cc_orientation` (with orientations; the live form): geodesic angle between orientations. '
        '`cc_path` (neither): angle between displacements. Headings in 2D: signed; `wrap=False` '
        'leaves them unwrapped, as the published library does.',
    ),
    'ti': Explanation(
        'TI = √( 1/(T−3) Σₜ ‖jₜ‖² )\n'
        'jₜ = (aₜ − aₜ₋₁) / ⅓(tₜ − tₜ₋₃)     aₜ = (vₜ − vₜ₋₁) / ½(tₜ − tₜ₋₂)\n'
        'vₜ = (pₜ − pₜ₋₁) / (tₜ − tₜ₋₁)\n'
        'at a constant dt: jₜ is the third difference of p over dt³',
        'RMS jerk: how shaky the motion of the end effector was over the episode. People take '
        'low jerk for skill, and gears wear less.',
        f'{_RATES}up to about 20 m/s³ of jerk. {RATE}One jolt dominates a mean of squares. A '
        f'low-pass filter lowers it: reports state the cut-off. Slow motion has little jerk. '
        f'{_STATIC} {_GAPS}',
        "`paper`: dt from the stamps, differences without smoothing. `authors`: the paper's code: "
        'three central-difference gradients with dt = 1, mean of the norms.',
    ),
    'tcp_speed': Explanation(
        'v = ‖pₜ − pₜ₋₁‖ / (tₜ − tₜ₋₁)',
        'How fast the end effector moves at this step. Neither high nor low is better.',
        f'{_RATES}up to 6 mm/s of speed. The mean over an episode includes pauses.',
    ),
    'tcp_acceleration': Explanation(
        'a = ‖vₜ − vₜ₋₁‖ / ½(tₜ − tₜ₋₂)     v: velocity vectors',
        'How hard the end effector speeds up, slows down or turns at this step.',
        f'{_RATES}up to 0.4 m/s² of acceleration. {RATE}',
    ),
    'tcp_jerk': Explanation(
        'j = ‖aₜ − aₜ₋₁‖ / ⅓(tₜ − tₜ₋₃)     a: acceleration vectors',
        'How abruptly the acceleration changes at this step: the spikes that TI averages. The 3D '
        'path of the report is coloured by it.',
        f'{_RATES}up to about 20 m/s³ of jerk. {RATE}{_GAPS}',
    ),
    'pose_age': Explanation(
        'age = stamp of the step − stamp of the pose taken for it',
        'How old the pose is that a step was judged by. About half the period of the pose topic '
        'is normal.',
        'It knows stamps only: poses that were stamped on arrival look young however late they '
        'are, and clocks of two machines that differ shift it.',
    ),
}

INSTABILITY = {
    'tcp_pi': Explanation(
        'qₜ = ‖pₜ − pₜ₋₁‖',
        'How far the end effector moves per step. The paper takes large values for unsteady '
        'motion.',
        f'It is speed times the period: a fast, perfectly smooth motion scores badly. {RATE}'
        f'{_STATIC}',
        _AUTHORS + '.',
    ),
    'tcp_vi': Explanation(
        'qₜ = ‖pₜ − 2 pₜ₋₁ + pₜ₋₂‖',
        'How much the velocity changes from step to step.',
        f'Starting and stopping on purpose counts. {RATE}Twice the rate makes it a quarter of a '
        f'smooth motion, and hardly less of noise. {_STATIC}',
        _AUTHORS + ' and halved.',
    ),
    'tcp_ai': Explanation(
        'qₜ = ‖pₜ − 3 pₜ₋₁ + 3 pₜ₋₂ − pₜ₋₃‖',
        'How much the acceleration changes from step to step: trembling and jolts.',
        f'{RATE}Noise of the pose enters with a factor of up to 8: at high rates it is all that '
        f'is seen. {_STATIC}',
        _AUTHORS + ' and quartered.',
    ),
    'a_pi': Explanation(
        'uₜ = 1/D Σ_d |aₜ,d − aₜ₋₁,d|',
        'How much the commanded action changes per step, mean over dimensions. The paper takes '
        'it as uncertainty of the policy.',
        f'Fast motion scores badly, however smooth. {RATE}The bounds set the scale: other limits, '
        'other values. Joint targets and end-effector deltas are not comparable: a delta is a '
        'velocity already. In a mean over dimensions, a gripper that closes once shows little.',
        "`bounds`: actions are normalised to [0, 1] by the robot's limits; without, raw. "
        '`authors`: mean over the newest 5 differences, 0 in the first 7 steps.',
    ),
    'a_vi': Explanation(
        'uₜ = 1/D Σ_d |aₜ,d − 2 aₜ₋₁,d + aₜ₋₂,d|',
        'How much the change of the action changes: hesitation, and jumps where chunks meet.',
        f'{RATE}Policies that act in chunks are smooth inside and jump between: the mean hides the '
        'few jumps, look at the step values. Bounds set the scale.',
        'As A-PI; `authors` also halves it.',
    ),
    'a_ai': Explanation(
        'uₜ = 1/D Σ_d |aₜ,d − 3 aₜ₋₁,d + 3 aₜ₋₂,d − aₜ₋₃,d|',
        'How abruptly the actions accelerate: tremor in what the policy commands, before the '
        'controller smooths it.',
        f'{RATE}Actions that are quantised (tokens) tremble by one bin whatever the policy means. '
        'A jump between two chunks shows in three steps. Bounds set the scale.',
        'As A-PI; `authors` also quarters it.',
    ),
    'ot': Explanation(
        'qₜ = ½ (1 + Δdₜ)               dₜ: distance left over its initial value\n'
        'picking:  d ∝ ‖tcp − object‖\n'
        'placing:  d ∝ ‖tcp − object‖ + ‖object − goal‖, once grasped ‖tcp − goal‖',
        'Whether each step brings the task closer: below 0.5 it does, above 0.5 it moves away.',
        f'One step changes little, so good and bad episodes differ in the third digit: look at '
        f'the distance from 0.5. {RATE}Going round an obstacle counts as moving away. The mean '
        'telescopes: it says how much of the distance is left at the end over the number of steps, '
        'not how straight the way was. At the grasp d jumps by the offset between TCP and object, '
        'and a wrong grasp state changes what distance is measured. A robot that does not move has '
        'exactly 0.5.',
        '`object_to_goal` (default) and, as eq. 27 is printed, `tcp_to_goal` for the second term '
        'before the grasp.',
    ),
}

REFERENCE = {
    'ate': Explanation(
        'ATE = 1/L Σᵢ ‖pᵢ − pᵢ*‖         p*: the reference at the same time or after as much path',
        'How far the end effector is from where a demonstration was, on average.',
        'A demonstration is one way among several: of a task with more than one good solution a '
        'single demonstration calls the others wrong. Give several (the nearest counts) and do '
        'not take their mean where they split. Objects at other places than in the demonstration '
        'move the right path. Matched by time, a good path at another speed is an error: match by '
        'arc length to judge shape alone. It is a mean, not the root mean square that SLAM tools '
        'print.',
        'Without alignment (default: where the arm is matters), `se3` or `sim3` as SLAM tools '
        'align.',
    ),
    'rte': Explanation(
        'RTE = 1/(L−Δ) Σᵢ ‖(pᵢ₊Δ − pᵢ) − (p*ᵢ₊Δ − p*ᵢ)‖     Δ = 1 sample',
        'How far the motion from sample to sample differs from that of the reference, wherever '
        'the path lies.',
        f'{RATE}With Δ = 1 it measures mostly noise and speed: a robot that stands still has a '
        'small one. Drift that adds up slowly does not show: ATE sees that. Otherwise as ATE.',
        '`delta`: samples between the compared positions. Alignment as for ATE. `evo`: each '
        'displacement in the frame of the pose that it begins at, as evo compares relative poses; '
        'equal to the default where the orientations are those of the reference. Functions, '
        'classes and `frame-ros report --rte evo` offer it; live `rte` is the default.',
    ),
    'dtw': Explanation(
        'DTW = min over warpings w of Σ_(i,j)∈w ‖pᵢ − pⱼ*‖',
        'How far the shape of the path is from the reference when time may be stretched: pauses '
        'and other speeds cost little.',
        'It is a sum along the warping, so it grows with the number of samples: compare at one '
        'rate and length only. Warping forgives hesitation altogether. Otherwise as ATE.',
        '`normalised`: divided by the number of samples of the longer path. Other libraries take '
        'the root of the sum of squares.',
    ),
}

TRAJECTORY = {**PATH, **INSTABILITY, **REFERENCE}
