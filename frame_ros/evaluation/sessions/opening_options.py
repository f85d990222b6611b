# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of the opening of a session's labels."""

from __future__ import annotations

from frame_ros.core.options import option, options

MARKS, BAGS = 'marks', 'bags'


@options
class OpeningOptions:
    """The opening of the labels."""

    early: bool = option(False, 'open before all trials are done; every result says so')
    decided_by: str = option(
        '',
        "what holds where the operator's mark and the bag contradict each other; '': such a "
        'session stays closed',
        choices=('', MARKS, BAGS),
    )
