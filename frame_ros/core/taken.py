# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A message taken from a subscription, with the middleware's information about it."""

from __future__ import annotations

from typing import Any

Taken = tuple[Any, dict[str, Any]]
