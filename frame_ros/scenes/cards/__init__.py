# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cards by which an operator sets up a scene: mat, texts, targets drawn into camera images."""
