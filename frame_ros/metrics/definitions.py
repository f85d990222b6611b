# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fixed numbers of the definitions: what the batch and the streaming forms must agree on."""

NAN = float('nan')

# Samples in the window of a live value. Of the n-th differences, WINDOW - n lie wholly inside it.
WINDOW = 8

# Segments shorter than this have no curvature: they are skipped, and counted. m.
SHORT_SEGMENT = 1e-6

# A TCP that stays within this distance of where it began is static. m.
STATIC_THRESHOLD = 5e-3

# Distances are raised to this before they are inverted for the risk factor. m.
RISK_FLOOR = 1e-3

NANOSECOND = 1e-9
