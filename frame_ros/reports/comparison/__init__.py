# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A comparison of policies as sentences, tables and plain JSON values."""
