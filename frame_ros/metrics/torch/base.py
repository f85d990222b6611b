# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Base of all TorchMetrics classes: names from the registry, states that may be distributed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torchmetrics import Metric

from frame_ros.metrics.registry import REGISTRY

# id -> the class of the metric; of several the one that was defined first.
CLASSES: dict[str, type[FrameMetric]] = {}
SINGLE_DEVICES = ('mps',)  # types of devices without float64


class FrameMetric(Metric):
    """Base of the classes: id, unit and direction of its metric, states of double precision.

    All states are float64 scalars (or lists of float64) that add up, or reduce to an extreme,
    over processes. On devices of `SINGLE_DEVICES` they are float32; for other devices without
    float64, call `set_dtype(torch.float32)` before `to`.

    id, unit: as in `frame_ros.metrics.REGISTRY`, the unit as the options make it.
    count: what the mean is over. unavailable: episodes (calls, ...) without a value, left out.
    """

    id: str = ''
    unit: str = ''
    is_differentiable = False
    full_state_update = False
    plot_lower_bound: float | None = 0.0

    count: Tensor
    unavailable: Tensor

    def __init_subclass__(cls, id: str = '', **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if id:
            CLASSES.setdefault(id, cls)
            cls.id, cls.unit = id, REGISTRY[id].unit
            cls.higher_is_better = REGISTRY[id].higher_is_better

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._add_scalar('count')
        self._add_scalar('unavailable')
        # A MetricCollection gives two metrics one state when all their states are equal after
        # the first update, which a straight first episode makes them. NaN equals nothing.
        self._add_scalar('group_guard', torch.nan)

    @property
    def dtype(self) -> torch.dtype:
        """Type of the states; of what a process without data sends, too."""
        return self.count.dtype

    def _add_scalar(self, name: str, default: float = 0.0, reduce: str = 'sum') -> None:
        self.add_state(name, torch.tensor(default, dtype=torch.float64), dist_reduce_fx=reduce)

    def _apply(
        self, fn: Callable[[Tensor], Tensor], exclude_state: Sequence[str] = ''
    ) -> torch.nn.Module:
        """Moves the states as `fn` does, and leaves their type to `set_dtype`: `to(torch.bfloat16)`
        of a model that holds the metric would let its counts stand still at 256. They become
        float32 where the device has no float64.
        """
        if self._dtype_convert:
            return super()._apply(fn, exclude_state)

        def moved(state: Tensor) -> Tensor:
            target = fn(torch.zeros((), dtype=torch.float32, device=state.device)).device
            if target.type in SINGLE_DEVICES and state.dtype == torch.float64:
                state = state.to(torch.float32)
            found = fn(state)
            return found if found.dtype == state.dtype else state.to(found.device)

        return super()._apply(moved, exclude_state)

    def _rename(self, id: str) -> None:
        """Makes this object another metric of its class: that of another order."""
        self.id, self.unit = id, REGISTRY[id].unit

    def _accept(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """The values that are available, (N,) like the states, and which of all these are."""
        flat = values.reshape(-1).to(self.count)
        known = ~torch.isnan(flat)
        self.unavailable = self.unavailable + (~known).sum()
        return flat[known], known


class MeanMetric(FrameMetric):
    """The mean of what was added, NaN if that is nothing."""

    total: Tensor

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._add_scalar('total')

    def _add(self, values: Tensor, weights: Tensor | None = None) -> None:
        """Adds values (...,), NaN where unavailable, that weigh the same or as `weights` (...,)."""
        kept, known = self._accept(values)
        weight = torch.ones_like(kept)
        if weights is not None:
            weight = weights.reshape(-1).to(kept)[known]
        self.total = self.total + (weight * kept).sum()
        self.count = self.count + weight.sum()

    def compute(self) -> Tensor:
        """The mean, a scalar."""
        return torch.where(self.count > 0, self.total, torch.nan) / self.count.clamp(min=1.0)
