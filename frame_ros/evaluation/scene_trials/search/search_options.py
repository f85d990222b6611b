# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Options of a search for scenes that break a policy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from frame_ros.core.options import option, options, rule
from frame_ros.metrics.registry import REGISTRY
from frame_ros.robots.profiles import DEFAULT_ROBOT
from frame_ros.scenes.tasks.kinds import TASKS

# By which successes are ranked: how smooth, how direct and how safe they are.
QUALITY = ('ps', 'tcp_jerk', 'tcp_pi', 'a_pi', 'ot', 'cr', 'rf')
MODES = {
    'guided': 'near what broke the policy most so far, and unlike it (needs optuna)',
    'coverage': 'cells of the operators, and pairs of cells, that were not tried first',
    'random': 'as frame-ros scenes generate draws',
}
# Modes find the same scenes whatever the number of processes; so batches do not depend on it.
BATCH = 8


@options
class SearchOptions:
    """A search for scenes that break a policy."""

    robot: str = option(DEFAULT_ROBOT, 'simulated robot, or the YAML file of its profile')
    task: str = option('pick_up', 'task', choices=tuple(TASKS))
    mode: str = option('guided', 'how scenes are chosen', choices=tuple(MODES))
    budget: int = option(200, 'scenes to try', at_least=1)
    repeats: int = option(1, 'runs of each scene, each with another policy seed', at_least=1)
    seed: int = option(0, 'seed of the search', at_least=0)
    batch: int = option(BATCH, 'scenes that are chosen, and run, at a time', at_least=1)
    operators: tuple[str, ...] = option(
        ('paper',), "names of what varies; paper: VLATest's ten, all: every one"
    )
    fixed: Mapping[str, Any] = option(
        {}, 'a dimension of an operator that is the same in every scene: confounder_count.count=2'
    )
    meshes: str = option('', 'folder with a folder of meshes for each unseen object')
    success_rule: str = option('paper', 'rule of success', choices=('paper', 'code'))
    metrics: tuple[str, ...] = option(
        QUALITY,
        'ids of the metrics by which a search ranks successes, the worst first; report shows those '
        'that are given, else all that vary',
    )

    @rule('metrics', 'ids of metrics by which higher or lower is better')
    def _have_directions(self) -> bool:
        known = (REGISTRY.get(name) for name in self.metrics)
        return all(each is not None and each.higher_is_better is not None for each in known)
