# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The plan of a sequential study, which is made before the first pair and kept."""

from __future__ import annotations

from typing import Any

from frame_ros.core.options import option, options, rule

# Tables of decisions grow with its cube.
MOST_OF_TABLE = 300
SETTINGS = ('alpha', 'most', 'method', 'side')


@options
class SequentialPlan:
    """The sequential test."""

    alpha: float = option(
        0.05,
        'largest probability of claiming a difference where there is none',
        above=0.0,
        at_most=0.5,
    )
    most: int = option(
        200,
        'planned maximum of pairs, those with equal outcomes included; 0, with betting only: none',
        at_least=0,
        at_most=1_000_000,
    )
    method: str = option(
        'lai',
        'lai and barnard: exact boundaries for the planned maximum; betting: valid whenever the '
        'study is stopped',
        choices=('lai', 'barnard', 'betting'),
    )
    side: str = option(
        'both',
        'differences that can be claimed: both; or only that the first policy is better, or '
        'worse, which needs fewer pairs',
        choices=('both', 'better', 'worse'),
    )

    def settings(self) -> dict[str, Any]:
        """Returns option -> value of the plan alone, without the options of a class made of it."""
        return {name: getattr(self, name) for name in SETTINGS}

    @rule('most', f'from 1 to {MOST_OF_TABLE} unless the method is betting')
    def _has_table(self) -> bool:
        return self.method == 'betting' or 1 <= self.most <= MOST_OF_TABLE
