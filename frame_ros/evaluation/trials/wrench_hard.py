# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Trials of contact by a wrist force-torque sensor on which something weighs, pulls or shakes, or
whose stream is late: through the stream health check and the sensor of the contact node, in default
settings.

The faults that do not change the arm's motion are added to one and the same motion, of which
physics and joint states serve all.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from frame_ros.core.time import SECOND
from frame_ros.evaluation.trials.arm_run import BEGIN, ArmRun
from frame_ros.evaluation.trials.campaign import Trial
from frame_ros.evaluation.trials.fault_streams import FaultStream, HardSensing
from frame_ros.evaluation.trials.pushes import Push
from frame_ros.evaluation.trials.worlds import wrench_faults as worlds
from frame_ros.evaluation.trials.wrench import QUIET, hand_pushes, wrench_result

# A push for a minute while the arm stands: N, and s at which it begins, rises and ends.
SLOW, SLOW_BEGIN, SLOW_SECONDS = 0.9, 20.0, 60.0
SLOW_PUSH = 'slow push'


def run(trial: Trial) -> dict[str, Any]:
    """settings: seconds; has_pushes; faults, of worlds.FAULTS, all added to the same motion; or
    one alone that changes it: of worlds.WEIGHTS, or 'slow push', in which the arm stands and is
    pushed by 0.9 N for a minute.

    Result: faults: of each by its name as of `wrench.run`, and: true_begins: s, by when the samples
    were measured, not by their stamps; warnings: [s, text] of each since
    it was first said; threshold: N, mean of the least force felt; threshold_95: its 95th
    percentile.
    """
    faults, seconds = [str(name) for name in trial.settings['faults']], trial.settings['seconds']
    seconds = float(seconds)
    sensing = HardSensing(trial, faults)
    if SLOW_PUSH in faults:
        pushes, rest = [_slow_push(sensing.robot.wrench_link)], seconds
    else:
        pushes, rest = [], QUIET
    if trial.settings['has_pushes']:
        pushes = hand_pushes(trial, seconds)
    arm = ArmRun(trial.robot, trial.seed, pushes, rest=rest)
    later = [t for name in faults if (t := worlds.fault_of(name).hung_after) is not None]
    if 0.0 in later:
        worlds.hang_weight(arm.simulation)
        later.remove(0.0)
    for block in arm.blocks(seconds):
        if later and block.stamps[-1] >= BEGIN + later[0] * SECOND:
            worlds.hang_weight(arm.simulation)
            later.clear()
        sensing.take(block)
    sensing.finish()
    return {
        'faults': {each.fault: _result(each, sensing, arm, seconds) for each in sensing.streams}
    }


def _result(
    stream: FaultStream, sensing: HardSensing, arm: ArmRun, seconds: float
) -> dict[str, Any]:
    detector = stream.sensor.detector
    known = np.array(stream.thresholds)
    known = known[np.isfinite(known)]
    delay = detector.delay if detector is not None else None
    return {
        **wrench_result(arm, stream.begins, seconds, delay, sensing.tool),
        'true_begins': stream.true_begins.begins,
        'warnings': [[since, text] for text, since in stream.warnings.items()],
        'threshold': float(known.mean()) if len(known) else None,
        'threshold_95': float(np.quantile(known, 0.95)) if len(known) else None,
    }


def _slow_push(link: str) -> Push:
    end = SLOW_BEGIN + SLOW_SECONDS
    return Push(SLOW_BEGIN, end, link, np.array([0.0, 0.0, 0.05]), np.array([SLOW, 0.0, 0.0]))
