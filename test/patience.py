# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How long tests wait for what must come at all: only a failure takes so long."""

PATIENCE = 120.0  # s
