# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The robot's own surface, drawn from its meshes as a depth camera sees it, and taken out of
images.
"""
