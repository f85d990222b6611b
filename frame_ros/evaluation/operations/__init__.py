# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Operations of recorded episodes: from events, from the telemetry of the gripper, and reviewed."""
