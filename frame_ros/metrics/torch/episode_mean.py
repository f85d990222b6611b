# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The TorchMetrics classes that follow from a batch form and the metric's record."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import partial
from inspect import Parameter, Signature
from textwrap import fill
from typing import Any, ClassVar

import torch
from torch import Tensor

from frame_ros.metrics.record import Metric, TorchForm
from frame_ros.metrics.registry import REGISTRY
from frame_ros.metrics.torch.base import MeanMetric
from frame_ros.metrics.torch.padding import by_episode

_KWARGS = Parameter('kwargs', Parameter.VAR_KEYWORD)
_SELF = Parameter('self', Parameter.POSITIONAL_OR_KEYWORD)
_OF_MASK = '(..., T) booleans or (...,) lengths of padded episodes. None: nothing is padding.'


class EpisodeMean(MeanMetric):
    """Mean over episodes (inferences) of a batch form, whose options it keeps in `options`."""

    is_differentiable = True
    entry: ClassVar[Metric]
    form: ClassVar[TorchForm]
    options: dict[str, Any]

    def _take(self, *arrays: Any, mask: Any) -> None:
        entry, form = type(self).entry, type(self).form
        minimum = form.minimum(self.options) if form.minimum else entry.minimum_samples
        formula = partial(_of_episodes, entry.batch, form.first, self.options)
        self._add(by_episode(formula, minimum, mask, *arrays))


def _of_episodes(batch: Any, first: int | None, options: dict[str, Any], *arrays: Any) -> Tensor:
    values = batch(*arrays, **options)
    return values if first is None else torch.mean(values[..., first:], dim=-1)


def derived_class(entry: Metric) -> type[EpisodeMean]:
    """Returns the class of a metric whose record has a TorchForm.

    Its constructor takes the options of the batch form and what torchmetrics.Metric takes, `update`
    the arrays and the mask; both are documented as the batch form is.
    """
    form, batch = entry.torch_form, entry.batch
    assert form is not None and batch is not None
    given = list(inspect.signature(batch).parameters.values())
    own = [p for p in given if p.name in form.options]
    arrays = [p.replace(name=name) for p, name in zip(given, form.arrays)]
    mask = Parameter(form.mask, Parameter.POSITIONAL_OR_KEYWORD, default=None)
    of_init, of_update = Signature([_SELF, *own, _KWARGS]), Signature([_SELF, *arrays, mask])

    def __init__(self: EpisodeMean, *values: Any, **named: Any) -> None:
        bound = of_init.bind(self, *values, **named)
        bound.apply_defaults()
        MeanMetric.__init__(self, **bound.arguments['kwargs'])
        self.options = {name: bound.arguments[name] for name in form.options}
        if form.unit is not None:
            self.unit = form.unit(self.options)

    def update(self: EpisodeMean, *values: Any, **named: Any) -> None:
        bound = of_update.bind(self, *values, **named)
        bound.apply_defaults()
        _, *samples, padding = bound.args
        self._take(*samples, mask=padding)

    about, errors = _documented(batch)
    of_arrays = {name: about.get(p.name, '') for p, name in zip(given, form.arrays)}
    update.__doc__ = (
        'Adds one episode or a batch of them.\n\n'
        + _section('Args', of_arrays | {form.mask: _OF_MASK})
        + '\n'
        + _section('Raises', errors)
    )
    update.__signature__ = of_update  # type: ignore[attr-defined]
    __init__.__signature__ = of_init  # type: ignore[attr-defined]
    of_options = {name: about.get(name, '') for name in form.options}
    low, high = form.plot_bounds
    contents = {
        '__doc__': f'Mean over episodes of `{entry.function}`: {entry.name}, '
        f'{"dimensionless" if entry.unit == "1" else entry.unit}. '
        f'{entry.source}.\n\n'
        + _section('Args', of_options | {'kwargs': 'of torchmetrics.Metric.'}),
        '__module__': 'frame_ros.metrics.torch',
        '__init__': __init__,
        'entry': entry,
        'form': form,
        'update': update,
        'plot_lower_bound': low,
        'plot_upper_bound': high,
    }
    return type(entry.torch, (EpisodeMean,), contents, id=entry.id)


def _documented(batch: Callable[..., Any]) -> tuple[dict[str, str], dict[str, str]]:
    """Returns what a batch form's docstring says of its arguments and errors, by name.

    One that says only 'see `other`' is documented as that function of its module.
    """
    text = inspect.getdoc(batch) or ''
    other = re.search(r'see `(\w+)`', text)
    if other and '\nArgs:\n' not in text:
        return _documented(batch.__globals__[other[1]])
    found: dict[str, dict[str, str]] = {'Args': {}, 'Raises': {}}
    for head, body in re.findall(r'^(Args|Raises):\n((?:    .*\n?)+)', text, re.MULTILINE):
        entries = re.findall(r'^    (\w+): ((?:.*\n?)(?:     .*\n?)*)', body, re.MULTILINE)
        found[head] = {name: ' '.join(words.split()) for name, words in entries}
    return found['Args'], found['Raises']


def _section(head: str, entries: dict[str, str]) -> str:
    lines = [
        fill(f'{name}: {words}', 96, initial_indent=' ' * 4, subsequent_indent=' ' * 8)
        for name, words in entries.items()
    ]
    return '\n'.join([f'{head}:', *lines, ''])


# Name -> class, of every metric whose record says how it follows.
DERIVED = {m.torch: derived_class(m) for m in REGISTRY.values() if m.torch_form is not None}
