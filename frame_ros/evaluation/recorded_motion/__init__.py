# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motion that is given, of recordings and of policies, in the depth worlds that others made."""
