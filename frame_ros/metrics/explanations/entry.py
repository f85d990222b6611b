# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What a metric's explanation holds."""

from __future__ import annotations

from dataclasses import dataclass

# What every difference of positions has in common.
RATE = (
    'It depends on how often the motion is sampled: compare only at one control rate, and state '
    'that rate. '
)


@dataclass(frozen=True)
class Explanation:
    """A metric in words.

    formula: plain text, one equation a line. tells: what a value says. misleads: when it says
    something else. variants: the named variants, and how they differ; '' if there is one form.
    """

    formula: str
    tells: str
    misleads: str
    variants: str = ''
