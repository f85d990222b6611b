# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What the contact node publishes on `diagnostics`: one status per source of contact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from rclpy.time import Time


class SourceReport(NamedTuple):
    """name: of the source. problem: why contact is not known by it; '' if it is. is_contact: what
    it says. values: more of it, name -> text.
    """

    name: str
    problem: str
    is_contact: bool
    values: Mapping[str, str]


def diagnostics_message(node: str, reports: Sequence[SourceReport], now: Time) -> DiagnosticArray:
    """The message. node: its name."""
    message = DiagnosticArray()
    message.header.stamp = now.to_msg()
    for report in reports:
        text = report.problem or ('in contact' if report.is_contact else 'free')
        message.status.append(
            DiagnosticStatus(
                level=DiagnosticStatus.WARN if report.problem else DiagnosticStatus.OK,
                name=f'{node}: {report.name}',
                message=text,
                hardware_id=report.name,
                values=[KeyValue(key=key, value=value) for key, value in report.values.items()],
            )
        )
    return message
