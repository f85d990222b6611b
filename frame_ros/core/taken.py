# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A message as taken from a subscription, with what the middleware knows of it."""

from __future__ import annotations

from typing import Any

Taken = tuple[Any, dict[str, Any]]
