# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The monitor node's options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from frame_ros.bags.recording.snapshots import SnapshotOptions
from frame_ros.confidence.monitor import MonitorOptions as RuleOptions
from frame_ros.core.options import UNCONFIGURED, flatten, from_values, group, option, options, walk
from frame_ros.nodes.runtime.options import ManagedOptions
from frame_ros.robots.options import RobotOptions

if TYPE_CHECKING:
    from frame_ros.episodes.monitoring.settings import MonitorSettings


@options
class MonitorOptions(RuleOptions, RobotOptions, ManagedOptions):
    """Monitor (lifecycle node): recommends a halt where the policy is unsure and the robot near
    something or in contact.
    """

    calibration_file: str = option(
        '',
        'thresholds and expected duration, a file of `frame-ros calibrate`; empty: those of the '
        'options, and without any the monitor does not start',
        live=UNCONFIGURED,
    )
    rate: float = option(
        10.0,
        'least rate of monitor_state, which is also published with every input that counts',
        unit='Hz',
        above=0.0,
        at_most=100.0,
    )
    halts_gate: bool = option(
        False, 'a halt stops the arm by the command gate, until its reset', live=True
    )
    directory: str = option(
        'runs', 'folder of the run; snapshots of halts are written into its folder halt_snapshots'
    )
    snapshot: SnapshotOptions = group(SnapshotOptions)

    def settings(self) -> MonitorSettings:
        """The rule, and its calibration.

        Raises:
            CalibrationError: the calibration cannot be read.
        """
        # Here: a command that only lists the options need not wait for what reads it.
        from frame_ros.confidence.calibration_file import CalibrationFile
        from frame_ros.episodes.monitoring.settings import MonitorSettings

        file = self.calibration_file
        calibration = CalibrationFile.load(file) if file else None
        return MonitorSettings(self.rule_options, calibration)

    @property
    def rule_options(self) -> RuleOptions:
        """The rule alone."""
        values = flatten(self)
        names = [declared.name for declared in walk(RuleOptions)]
        return from_values(RuleOptions, {name: values[name] for name in names})
