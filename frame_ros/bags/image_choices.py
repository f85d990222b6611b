# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Forms in which camera images are recorded."""

from __future__ import annotations

CAMERA_IMAGES = ('raw', 'jpeg')
