# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The TorchMetrics classes that follow from a batch form and the metric's record."""

from __future__ import annotations

from functools import partial
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar

import torch
from torch import Tensor

from frame_ros.metrics.record import Metric, TorchForm
from frame_ros.metrics.registry import REGISTRY
from frame_ros.metrics.torch.base import MeanMetric
from frame_ros.metrics.torch.padding import by_episode


class EpisodeMean(MeanMetric):
    """Mean over episodes (inferences) of a batch form.

    The constructor takes the options of the record's TorchForm, by position or name; `update` its
    arrays, one episode or a batch of them, and the mask: (..., T) booleans or (...,) lengths of
    padded episodes. Shapes, units and errors are those of the batch form.
    """

    is_differentiable = True
    entry: ClassVar[Metric]
    arguments: ClassVar[Signature]

    def __init__(self, *values: Any, **options: Any) -> None:
        form, defaults = self._form, signature(self._batch).parameters
        given = dict(zip(form.options, values, strict=False))
        self.options = {
            name: given.get(name, options.pop(name, defaults[name].default))
            for name in form.options
        }
        super().__init__(**options)
        if form.unit is not None:
            self.unit = form.unit(self.options)

    @property
    def _form(self) -> TorchForm:
        form = type(self).entry.torch_form
        assert form is not None
        return form

    @property
    def _batch(self) -> Any:
        return type(self).entry.batch

    def _take(self, *arrays: Any, **named: Any) -> None:
        form = self._form
        bound = self.arguments.bind(*arrays, **named)
        bound.apply_defaults()
        *samples, mask = (bound.arguments[name] for name in (*form.arrays, form.mask))
        minimum = type(self).entry.minimum_samples
        if form.minimum is not None:
            minimum = form.minimum(self.options)
        formula = partial(_of_episodes, self._batch, form.first, self.options)
        self._add(by_episode(formula, minimum, mask, *samples))


def _of_episodes(batch: Any, first: int | None, options: dict[str, Any], *arrays: Any) -> Tensor:
    values = batch(*arrays, **options)
    return values if first is None else torch.mean(values[..., first:], dim=-1)


def derived_class(entry: Metric) -> type[EpisodeMean]:
    """Returns the class of a metric whose record has a TorchForm."""
    form = entry.torch_form
    assert form is not None and entry.batch is not None

    def update(self: EpisodeMean, *arrays: Any, **named: Any) -> None:
        """Adds one episode or a batch of them; arrays and errors as of the batch form."""
        self._take(*arrays, **named)

    parameters = list(signature(entry.batch).parameters.values())[: len(form.arrays)]
    named = [p.replace(name=name) for p, name in zip(parameters, form.arrays, strict=True)]
    mask = Parameter(form.mask, Parameter.POSITIONAL_OR_KEYWORD, default=None)
    own = Parameter('self', Parameter.POSITIONAL_OR_KEYWORD)
    update.__signature__ = Signature([own, *named, mask])  # type: ignore[attr-defined]
    low, high = form.plot_bounds
    contents = {
        '__doc__': f'Mean over episodes of `{entry.function}`: {entry.name}. {entry.source}.',
        '__module__': 'frame_ros.metrics.torch',
        'entry': entry,
        'arguments': Signature([*named, mask]),
        'update': update,
        'plot_lower_bound': low,
        'plot_upper_bound': high,
    }
    return type(entry.torch, (EpisodeMean,), contents, id=entry.id)


# Name -> class, of every metric whose record says how it follows.
DERIVED = {m.torch: derived_class(m) for m in REGISTRY.values() if m.torch_form is not None}
