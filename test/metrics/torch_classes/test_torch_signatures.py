# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The classes that follow from records take, and document, what their batch forms take."""

import inspect
import pydoc

import pytest

from frame_ros.metrics import REGISTRY

torch_metrics = pytest.importorskip('frame_ros.metrics.torch')

DERIVED = [entry for entry in REGISTRY.values() if entry.torch_form]


@pytest.mark.parametrize('entry', DERIVED, ids=lambda entry: entry.id)
def test_the_signatures_are_the_true_ones(entry):
    form, made = entry.torch_form, getattr(torch_metrics, entry.torch)
    taken = inspect.signature(made).parameters
    assert list(taken) == [*form.options, 'kwargs']
    of_batch = inspect.signature(entry.batch).parameters
    defaults = {name: of_batch[name].default for name in form.options}
    assert {name: taken[name].default for name in form.options} == defaults == made().options
    of_update = inspect.signature(made.update).parameters
    assert list(of_update) == ['self', *form.arrays, form.mask]
    with pytest.raises(TypeError, match='positional'):
        made(*defaults.values(), 1)


@pytest.mark.parametrize('entry', DERIVED, ids=lambda entry: entry.id)
def test_help_shows_shapes_units_errors_and_source(entry):
    form, made = entry.torch_form, getattr(torch_metrics, entry.torch)
    text = pydoc.plain(pydoc.render_doc(made))
    assert f'class {entry.torch}(' in text and f'{entry.source}.' in text
    assert ('dimensionless' if entry.unit == '1' else entry.unit) in text
    for name in (*form.options, *form.arrays, form.mask):
        assert f'    {name}: ' in text, name
    update = inspect.getdoc(made.update)
    assert '(..., ' in update or '(T, 3)' in update
    assert '    ShapeError: ' in update and '    ValueRangeError: ' in update
