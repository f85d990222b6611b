# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Live quality, safety and confidence metrics for learned robot policies."""

from pkgutil import extend_path

# The interfaces built by colcon (frame_ros.msg, frame_ros.srv) lie in the overlay, the sources may
# lie in a checkout: both folders make up this package.
__path__ = extend_path(__path__, __name__)
