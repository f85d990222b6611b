# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Comparison of the run with what the calibration holds for."""

from __future__ import annotations

from frame_ros.confidence.applied_calibration import AppliedCalibration
from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.fingerprint import Fingerprint
from frame_ros.core.health import Level, Status
from frame_ros.msg import PolicyInference


class SetupCheck:
    """Compares the robot, then each inference, with the calibration's fingerprint.

    Attributes:
        problem: what differs, in words; '': nothing that is known.
    """

    def __init__(self, calibration: CalibrationFile | None = None, robot: str = '') -> None:
        """robot: name of its profile; empty: not known."""
        self.problem = ''
        self._applied: AppliedCalibration | None = None
        if calibration is not None:
            self._applied = AppliedCalibration(calibration)
            wrong = calibration.fingerprint.mismatches(Fingerprint(robot=robot))
            self.problem = '; '.join(wrong)

    def on_inference(self, message: PolicyInference) -> None:
        """Takes what an inference says of the policy and its task."""
        if self._applied is not None:
            values = {
                'policy_fingerprint': message.policy_fingerprint,
                'instruction': message.instruction,
                'action_names': tuple(message.action_names),
            }
            self.problem = self._applied.check(values)

    def status(self) -> Status:
        """Returns what is known, for diagnostics."""
        if self._applied is None:
            return Status('calibration', Level.OK, 'none: thresholds are those of the options')
        if self.problem:
            return Status('calibration', Level.ERROR, self.problem)
        if unverified := self._applied.unverified:
            return Status('calibration', Level.WARN, f'not verified: {"; ".join(unverified)}')
        return Status('calibration', Level.OK, 'holds for what is known of this run')
