# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Streaming forms of the metrics: a sample in, what the batch form gives for all samples so far out."""
