# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Human labels of quality against metrics: VLA-UQ, RQ1 to RQ4."""
