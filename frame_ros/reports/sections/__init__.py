# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The sections of a report: each is a module with its part of the model, and a fragment of HTML."""
