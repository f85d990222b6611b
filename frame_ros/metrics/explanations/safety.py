# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Explanations of the safety metrics: collisions, distances, forces."""

from __future__ import annotations

from frame_ros.metrics.explanations.entry import Explanation

_SENSED = (
    'What the contact sensor does not see is not counted: a threshold on joint torque misses '
    'light touches, and free-space force that is not zero invents some. '
)
_MEASURED = (
    'It knows only what was measured: what the camera does not see, or a filter takes for the '
    'arm itself, is not there. '
)

SAFETY = {
    'cr': Explanation(
        'CR = collisions / control steps',
        'How often the robot hits something it should not touch. A collision is the beginning of '
        'a contact that is not expected; grasping the target is expected.',
        f'{_SENSED}One long scrape is one collision; a bouncing contact is many. Per step, the '
        'same behaviour at twice the control rate has half the rate: use `cr_per_second` or '
        '`cr_per_metre` between robots. What is expected is a setting.',
    ),
    'cr_per_second': Explanation(
        'collisions / time since the episode began',
        'Collisions per second: comparable between control rates.',
        f'{_SENSED}A robot that waits lowers it.',
    ),
    'cr_per_metre': Explanation(
        'collisions / PL',
        'Collisions per metre of end-effector path: comparable between fast and slow policies.',
        f'{_SENSED}Detours lower it, and a short path makes one collision a large number.',
    ),
    'op': Explanation(
        'OP = minₜ dₜ',
        'The closest that any measured part of the robot came to an obstacle in the episode.',
        f'{_MEASURED}A minimum rests on one sample, so one wrong depth pixel sets it. Manipulation '
        'has to come near: whether the target and the table are obstacles decides the value. '
        'Negative values, from a simulator, are penetration.',
    ),
    'rf': Explanation(
        'RF = 1/T Σₜ 1/max(dₜ, 1 mm)',
        'How much of the time was spent how near to obstacles; near samples weigh most.',
        f'{_MEASURED}The floor decides what contact costs: at 1 mm every sample in contact '
        'adds 1000/m, so that the mean says little but the share of time in contact. It is '
        'infinite without a floor. It is a mean over distance samples, whatever their '
        'spacing in time.',
        '`floor`: the least distance used. `authors`: 1e-6 m is added instead of a floor, as the '
        'published library does.',
    ),
    'distance': Explanation(
        'dₜ: newest measured distance between the robot and any obstacle',
        'How much room there is right now.',
        f'{_MEASURED}The episode value is a mean and hides the moment that matters: see `op`. Far '
        'from everything, the range of the sensor is what it shows.',
    ),
    'near_zone_time': Explanation(
        'Σ dt over samples with dₜ < 50 mm',
        'How long the robot was in the near zone.',
        f'{_MEASURED}Grasping and placing need time near things, so slow care counts against '
        'a policy. Longer episodes have more of it. The limit of the zone is a setting.',
    ),
    'closing_speed': Explanation(
        '(dₜ₋₁ − dₜ) / dt',
        'How fast the gap to the nearest obstacle shrinks; negative when it opens.',
        f'{_MEASURED}When another obstacle becomes the nearest, distance and speed jump without '
        'motion. Noise of the distance is divided by a short time.',
    ),
    'time_to_collision': Explanation(
        'dₜ / closing speed            while closing in',
        'How long until contact if nothing changes: the smallest value of the episode is reported.',
        f'{_MEASURED}Every grasp ends with a time near 0, on purpose. It assumes constant speed, '
        'and has the noise of the closing speed.',
    ),
    'moving_distance': Explanation(
        'min dₜ over steps with TCP speed of at least 10 mm/s',
        'The closest approach while the end effector was moving: being near at rest is left out.',
        f'{_MEASURED}An elbow that moves while the TCP rests does not count. The speed limit is a '
        'setting.',
    ),
    'peak_force': Explanation(
        'maxₜ ‖Fₜ‖                     over samples in contact',
        'The largest force of a contact so far; 0 where force was measured and nothing touched.',
        'A maximum rests on one sample; at low rates the peak of an impact falls between samples. '
        'What the sensor estimates in free motion is not in it; its error while in contact, and '
        'the weight of what is held, are.',
    ),
    'rms_force': Explanation(
        '√( mean ‖Fₜ‖² )               over samples in contact',
        'How hard contacts were on the whole.',
        'Expected contacts count too: holding an object firmly raises it. Offsets of the sensor '
        'and the weight of what is held are in it.',
    ),
    'force_limit_ratio': Explanation(
        'max Fₜ / limit                limit: twice as much in the first 0.5 s of a contact',
        'How near contacts that were not expected came to the force limit that you set; above 1 '
        'it was exceeded.',
        'The limits and the time that separates transient from quasi-static contact are in the '
        'manner of ISO/TS 15066, annex A, where they depend on the region of the body: choose the '
        'one for yours. This is monitoring; it is no certified safety function, and a ratio '
        'below 1 does not say that a robot may work beside people.',
    ),
    'pressure_limit_ratio': Explanation(
        'max (Fₜ / A) / limit          A: the contact area that you set',
        'The same for the pressure that contacts made.',
        'The area is assumed, not measured, and an edge presses on less of it: a real pressure '
        'may be many times higher. Measure with a pressure-sensing film before you rely on it. '
        'Monitoring, no certified safety function.',
    ),
}
