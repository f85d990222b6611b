# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: F403, I001  the order is that of tables, and each module names what it offers
"""The families of metrics, in the order of tables: formulas, streaming classes and records."""

from frame_ros.metrics.families.success import *
from frame_ros.metrics.families.action_error import *
from frame_ros.metrics.families.path import *
from frame_ros.metrics.families.curvature import *
from frame_ros.metrics.families.jerk import *
from frame_ros.metrics.families.tcp_motion import *
from frame_ros.metrics.families.reference_errors import *
from frame_ros.metrics.families.executed_actions import *
from frame_ros.metrics.families.hesitation import *
from frame_ros.metrics.families.progress import *
from frame_ros.metrics.families.collisions import *
from frame_ros.metrics.families.distances import *
from frame_ros.metrics.families.forces import *
from frame_ros.metrics.families.latency import *
from frame_ros.metrics.families.resources import *
from frame_ros.metrics.families.control_rates import *
from frame_ros.metrics.families.ages import *
from frame_ros.metrics.families.chunks import *
from frame_ros.metrics.families.token_uncertainty import *
from frame_ros.metrics.families.sampled_actions import *
from frame_ros.metrics.families.sampled_chunks import *
from frame_ros.metrics.families.feature_distances import *
from frame_ros.metrics.families.calibrated_scores import *
from frame_ros.metrics.families.confidence import *
