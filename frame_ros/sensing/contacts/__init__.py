# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What every detector of contact yields; expected or not; contacts over time and their events."""
