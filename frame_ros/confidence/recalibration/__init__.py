# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Maps from a raw confidence to the probability of success, fitted on episodes."""
