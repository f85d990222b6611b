# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The verdicts of a halt monitor in a recording, and the same computed again."""
