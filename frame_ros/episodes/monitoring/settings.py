# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Rule and calibration of a halt monitor, recorded with every run, so that a bag gives the same
verdicts again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import attrs

from frame_ros.confidence.calibration_file import CalibrationFile
from frame_ros.confidence.monitor import HaltMonitor, MonitorOptions
from frame_ros.core.errors import FrameRosError, ValueRangeError
from frame_ros.core.input_files import load_json
from frame_ros.core.options import flatten, from_values, walk

FORMAT = 'frame_ros monitor 1'
INPUTS = ('confidence', 'proximity', 'contact')


@attrs.frozen
class MonitorSettings:
    """Rule and calibration of a monitor.

    Attributes:
        options: the rule.
        calibration: thresholds and expected duration; None: those of the options.
        topics: role, one of INPUTS -> absolute topic.
        since: ns, from when on they hold.
        begun: ns, when the monitor began that has them: one that began later knows nothing of what
            was before.
    """

    options: MonitorOptions
    calibration: CalibrationFile | None = None
    topics: Mapping[str, str] = attrs.field(factory=dict)
    since: int = 0
    begun: int = 0

    def make(self) -> HaltMonitor:
        """Returns a monitor with them.

        Raises:
            CalibrationError: they have no threshold.
        """
        return HaltMonitor(self.options, self.calibration)

    def to_json(self) -> str:
        """Returns them as JSON text; numbers are exact.

        Of the calibration what a monitor uses: the embeddings are left out.
        """
        content: dict[str, Any] = {
            'format': FORMAT,
            'options': flatten(self.options),
            'topics': dict(self.topics),
            'since': self.since,
            'begun': self.begun,
        }
        if self.calibration is not None:
            content['calibration'] = attrs.evolve(self.calibration, features=None).to_dict()
        return json.dumps(content, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> MonitorSettings:
        """Reads what `to_json` wrote; options that this version does not know are ignored.

        Raises:
            FrameRosError: it is no such text, or a value cannot be.
        """
        content = _content(text)
        known = {declared.name for declared in walk(MonitorOptions)}
        calibration = content.get('calibration')
        try:
            given = {name: v for name, v in content['options'].items() if name in known}
            topics = {str(role): str(name) for role, name in content['topics'].items()}
            return cls(
                from_values(MonitorOptions, given),
                None if calibration is None else CalibrationFile.from_dict(calibration),
                topics,
                int(content['since']),
                int(content.get('begun', 0)),
            )
        except FrameRosError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueRangeError(f'monitor settings cannot be read: {error!r}') from error


def _content(text: str) -> dict[str, Any]:
    try:
        content = load_json(text)
    except (ValueError, RecursionError) as error:
        raise ValueRangeError(f'monitor settings are not JSON: {error}') from error
    if not isinstance(content, dict) or content.get('format') != FORMAT:
        raise ValueRangeError(f'these are no monitor settings: {FORMAT!r} is expected as format')
    return content
