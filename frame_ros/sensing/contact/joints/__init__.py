# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Contact from the joints' efforts, without further sensors, and identification of the motors."""
