# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Metrics by id, and collections of them whose updates share their arguments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from torchmetrics import MetricCollection

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics.torch import (  # noqa: F401
    efficiency,
    episode_mean,
    safety,
    task,
    trajectory,
    uncertainty,
)
from frame_ros.metrics.torch.base import CLASSES, FrameMetric
from frame_ros.metrics.torch.instability import ActionInstability, TCPInstability

_ORDERS = {'pi': 1, 'vi': 2, 'ai': 3}

# id -> what makes the metric.
_FACTORIES: dict[str, Callable[..., FrameMetric]] = {
    **CLASSES,
    **{f'tcp_{short}': partial(TCPInstability, order) for short, order in _ORDERS.items()},
    **{f'a_{short}': partial(ActionInstability, order) for short, order in _ORDERS.items()},
}

TRAJECTORY_IDS = ('pl', 'ps', 'cc', 'tcp_pi', 'tcp_vi', 'tcp_ai', 'ti')
REFERENCE_IDS = ('ate', 'rte')


def known_ids() -> tuple[str, ...]:
    """The ids that have a class."""
    return tuple(_FACTORIES)


def torch_metric(id: str, **options: Any) -> FrameMetric:
    """The TorchMetrics object of a metric's id; options as of its class.

    Raises:
        ValueRangeError: no class has this id.
    """
    if id not in _FACTORIES:
        raise ValueRangeError(f'no class has the id {id!r}; there are {", ".join(_FACTORIES)}')
    return _FACTORIES[id](**options)


def frame_collection(
    *ids: str,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    prefix: str | None = None,
    postfix: str | None = None,
) -> MetricCollection:
    """A MetricCollection keyed by id. Update it with keyword arguments: each metric takes its own.

    Args:
        ids: ids of metrics.
        options: options of their classes, by id.
        prefix, postfix: put before and after the keys of the values, 'eval/' for example.

    Raises:
        ValueRangeError: no ids, an unknown one, or options of a metric that is not among them.
    """
    given = dict(options or {})
    strangers = sorted(set(given) - set(ids))
    if strangers or not ids:
        raise ValueRangeError(
            f'ids are {", ".join(ids) or "none"}, options for {", ".join(strangers) or "none"} '
            f'besides; ids, and options for these alone, are expected'
        )
    metrics = {id: torch_metric(id, **given.get(id, {})) for id in ids}
    return MetricCollection(metrics, prefix=prefix, postfix=postfix, compute_groups=False)  # type: ignore[arg-type, unused-ignore]


def trajectory_metrics(
    dt: float | None = None,
    with_reference: bool = False,
    prefix: str | None = None,
    postfix: str | None = None,
) -> MetricCollection:
    """The metrics of the TCP's path: pl, ps, cc, tcp_pi, tcp_vi, tcp_ai, ti, and ate, rte.

    Updates take `positions`, and where there are: `dt` (needed if not given here), `reference`
    (with_reference), `headings` or `orientations` (for cc), `mask`.

    Args:
        dt: s between samples.
        with_reference: also ate and rte.
        prefix, postfix: of the keys.
    """
    ids = (*TRAJECTORY_IDS, *(REFERENCE_IDS if with_reference else ()))
    return frame_collection(*ids, options={'ti': {'dt': dt}}, prefix=prefix, postfix=postfix)
