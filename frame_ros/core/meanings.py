# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Enumerations of words that messages carry, each with its meaning."""

from __future__ import annotations

from enum import StrEnum
from typing import Self


class MeaningEnum(StrEnum):
    """Words with meanings: a member is declared as the pair of both.

    Attributes:
        meaning: in words.
    """

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Self:
        """Makes a member from its value and its meaning."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = meaning
        return member
