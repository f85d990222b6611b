# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The smallest perturbations that broke a policy, found by the names of scenes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from frame_ros.evaluation.scene_trials.robustness.campaign_data import PERTURBED, CampaignData
from frame_ros.scenes.description.scene import Scene

NAN = float('nan')


@dataclass(frozen=True)
class BreakingPoint:
    """Perturbations of one operator, over several scenes.

    Attributes:
        operator: that was perturbed alone.
        scenes: number of scenes perturbed; broken: of these, in which the policy failed.
        smallest, median: scale, 0 to 1 of the way to the end of the perturbation, of the smallest
            at which it failed, over the broken scenes; NaN: none.
        example: of the smallest, the scene and what was changed.
    """

    policy: str
    operator: str
    scenes: int
    broken: int
    smallest: float
    median: float
    example: str


def breaking_points(data: CampaignData, rule: str = 'paper') -> list[BreakingPoint]:
    """Returns the smallest breaking perturbations per policy and operator; none if no scene of the
    campaigns is a perturbed one, by its name '<scene>.<change>_<scale>'.

    At a scale with several runs the majority counts.
    """
    runs: dict[tuple[str, str, str, str], dict[float, list[bool]]] = {}
    names: dict[tuple[str, str, str, float], str] = {}
    for trial in data.trials:
        match = PERTURBED.fullmatch(trial.scene)
        if not match or match['base'] not in data.scenes:
            continue
        changed = _changed(data.scenes[match['base']], data.scenes[trial.scene])
        if len(changed) != 1:
            continue
        ((operator, _),) = changed.items()
        scale = float(match['scale'])
        key = trial.policy, operator, match['base'], match['change']
        runs.setdefault(key, {}).setdefault(scale, []).append(trial.is_success(rule))
        names[trial.policy, operator, match['base'], scale] = changed[operator]
    least: dict[tuple[str, str], dict[str, float]] = {}
    for (policy, operator, base, _), by_scale in runs.items():
        failed = [scale for scale, own in by_scale.items() if sum(own) * 2 < len(own)]
        scales = least.setdefault((policy, operator), {})
        scales[base] = min([scales.get(base, NAN), *failed], key=lambda each: (each != each, each))
    found = []
    for (policy, operator), scales in sorted(least.items()):
        known = {base: scale for base, scale in scales.items() if np.isfinite(scale)}
        first = min(known, key=lambda base: known[base], default='')
        example = f'{first}: {names[policy, operator, first, known[first]]}' if first else ''
        values = list(known.values())
        found.append(
            BreakingPoint(
                policy, operator, len(scales), len(known), min(values, default=NAN),
                float(np.median(values)) if values else NAN, example,
            )
        )  # fmt: skip
    return found


def _changed(base: Scene, scene: Scene) -> dict[str, str]:
    """Operator -> its changed values in words."""
    before, after = ({} if s.origin is None else s.origin.values for s in (base, scene))
    found = {}
    for operator, values in after.items():
        own: Mapping[str, Any] = before.get(operator, {})
        texts = [
            f'{name} from {_text(own.get(name))} to {_text(value)}'
            for name, value in values.items()
            if own.get(name) != value
        ]
        if texts:
            found[operator] = ', '.join(texts)
    return found


def _text(value: Any) -> str:
    if value is None:
        return 'unchanged'
    return f'{value:.3g}' if isinstance(value, float) else re.sub(r'\s+', ' ', str(value))
