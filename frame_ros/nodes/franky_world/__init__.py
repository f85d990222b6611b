# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The node of a simulated FR3 that speaks the real arm's protocol."""
