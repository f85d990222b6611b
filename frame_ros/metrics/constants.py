# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fixed numbers of the definitions: what the batch and the streaming forms must agree on."""

NAN = float('nan')

# Of the meaning of the metrics; increased with every change of it, and recorded with live values.
VERSION = 2

# Samples in the window of a live value. Of the n-th differences, WINDOW - n lie wholly inside it.
WINDOW = 8

# Segments shorter than this have no curvature: they are skipped, and counted. m.
SHORT_SEGMENT = 1e-6

# A TCP that stays within this distance of where it began is static. m.
STATIC_THRESHOLD = 5e-3

# Distances are raised to this before they are inverted for the risk factor. m.
RISK_FLOOR = 1e-3

# What the published library of FRAME adds to every distance before it inverts it. m.
AUTHORS_OFFSET = 1e-6

# VLA-UQ's published code averages this many differences of each order, whatever the window.
AUTHORS_DIFFERENCES = 5
# By which probabilities of all classes may differ from 1 in sum: softmax outputs in half precision
# still add up to this.
SUM_TOLERANCE = 1e-2
