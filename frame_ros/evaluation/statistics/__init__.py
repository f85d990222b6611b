# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Statistics over episodes: ranks, agreement of raters, several tests at once, verdicts."""
