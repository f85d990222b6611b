# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact from the efforts of the joints alone; `fitting` identifies the motors for it."""
