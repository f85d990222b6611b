# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m frame_ros.nodes.markers`."""

from frame_ros.nodes.markers.node import main

main()
