# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robustness of policies over scenes: what campaigns say of factors, mutations, regions."""
