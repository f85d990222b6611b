# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reports over episodes: a self-contained HTML page, JSON, and the comparison of live with
recomputed metrics.
"""

from frame_ros.reports.html.page import build_report, write_report
from frame_ros.reports.model.options import ReportOptions
from frame_ros.reports.parity.comparison import EpisodeParity, ParityRow, compare_live
from frame_ros.reports.parity.verdict import ParityVerdict, parity_verdict
from frame_ros.reports.report import report_data, report_json

__all__ = [
    'EpisodeParity',
    'ParityRow',
    'ParityVerdict',
    'ReportOptions',
    'build_report',
    'compare_live',
    'parity_verdict',
    'report_data',
    'report_json',
    'write_report',
]
