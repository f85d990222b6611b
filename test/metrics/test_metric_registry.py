# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The registry covers every metric field of the messages, with the unit their comments state, and
every metric is explained and computed by what it names.
"""

import inspect
import re
from pathlib import Path

import pytest

from frame_ros import metrics
from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import REGISTRY, metric, metric_of_field

MSG = Path(__file__).resolve().parents[2] / 'msg'
KINDS = ('quality', 'safety', 'efficiency', 'confidence')
# Fields that state a fact beside the metrics.
FACTS = ('time', 'low_pass_cutoff')


def float_fields(kind):
    """(name, comment) of each float64 field of a metric message that is a metric's."""
    text = (MSG / f'{kind.capitalize()}Metrics.msg').read_text()
    found = re.findall(r'^float64 (\w+)[ \t]*(?:#[ \t]*(.*))?$', text, flags=re.MULTILINE)
    return [(name, comment) for name, comment in found if name not in FACTS]


@pytest.mark.parametrize('kind', KINDS)
def test_every_metric_field_is_registered_with_its_unit(kind):
    fields = float_fields(kind)
    assert fields
    for name, comment in fields:
        entry = metric_of_field(kind, name)
        assert entry is not None, f'{kind}.{name} is not in the registry'
        assert says_unit(comment, entry.unit), f'{kind}.{name}: {entry.unit!r} not in {comment!r}'


def says_unit(comment, unit):
    if not comment:
        return True
    if unit in ('1', 'action'):
        words = {'1': ('dimensionless', '[0, 1]', 'per control step', 'actions left')}
        words['action'] = ('unit of the action',)
        units = (', m', ', s', ', N', ', Hz', ', bytes', ', nats')
        stated = any(word in comment for word in words[unit])
        return stated or not any(comment.endswith(u) for u in units)
    return re.search(rf'(^|[ ,]){re.escape(unit)}($|[ ,;(])', comment) is not None


@pytest.mark.parametrize('kind', KINDS)
def test_every_registered_field_exists(kind):
    names = {name for name, _ in float_fields(kind)}
    for entry in REGISTRY.values():
        if kind in entry.messages:
            assert set(entry.fields_of(kind)) <= names, entry.id


def test_entries_are_complete():
    categories = {'task', 'trajectory', 'safety', 'efficiency', 'uncertainty', 'confidence'}
    for key, entry in REGISTRY.items():
        assert key == entry.id and entry.id == entry.id.lower()
        assert entry.category in categories
        assert all((entry.name, entry.unit, entry.source, entry.unavailable))
        assert entry.minimum_samples >= 1
        assert (entry.message == '') == (not entry.fields)


def test_the_papers_metrics_are_all_there():
    frame = 'sr tcr mse amse namse pl ps cc ate rte cr op rf il ct mu'
    uncertainty = 'a_pi a_vi a_ai tb_tp tb_pcs tb_d tb_e ev tcp_pi tcp_vi tcp_ai ti ot'
    assert set((frame + ' ' + uncertainty).split()) <= set(REGISTRY)
    assert REGISTRY['tcp_ai'].source == 'VLA-UQ eq. 21'
    assert REGISTRY['a_vi'].source == 'VLA-UQ eq. 4'
    assert REGISTRY['op'].higher_is_better and not REGISTRY['rf'].higher_is_better


def test_unknown_ids_are_refused_and_other_fields_are_no_metric():
    assert metric('pl').unit == 'm'
    with pytest.raises(ValueRangeError, match="'plx'"):
        metric('plx')
    assert metric_of_field('quality', 'step') is None


def test_every_metric_is_explained():
    for key, words in REGISTRY.items():
        assert len(words.formula) > 5 and len(words.shows) > 20 and len(words.misleads) > 40, key
        assert words.shows.strip().endswith('.') and words.misleads.strip().endswith('.'), key
        assert not words.variants or words.variants.strip().endswith('.'), key
        assert '  ' not in words.shows + words.misleads + words.variants, key


def test_functions_and_streaming_classes_exist():
    named = [entry for entry in REGISTRY.values() if entry.function or entry.streaming]
    assert len(named) > 30
    for entry in named:
        for name in filter(None, (entry.function, entry.streaming_name)):
            assert callable(getattr(metrics, name, None)), f'{entry.id}: frame_ros.metrics.{name}'
        if entry.streaming:
            assert hasattr(entry.streaming, 'update'), entry.id


def test_every_papers_metric_has_a_function_and_a_torch_class():
    of_papers = [m for m in REGISTRY.values() if ' eq. ' in m.source and m.id != 'tcp_jerk']
    assert len(of_papers) == 28
    for entry in of_papers:
        assert (entry.function or entry.id == 'mu') and entry.streaming and entry.torch, entry.id


def test_torch_classes_exist_and_agree_on_the_direction():
    torch_metrics = pytest.importorskip('frame_ros.metrics.torch')
    for entry in REGISTRY.values():
        if entry.torch:
            found = getattr(torch_metrics, entry.torch)
            assert found.higher_is_better == entry.higher_is_better, entry.id


def test_variants_are_those_of_the_functions():
    for name, accepted in (
        ('ps', 'mean_second_difference'), ('ti', 'authors'), ('rf', 'authors'),
        ('tb_e', 'normalised'), ('ot', 'tcp_to_goal'), ('rte', 'evo'),
    ):  # fmt: skip
        assert accepted in REGISTRY[name].variants
        source = inspect.getsource(getattr(metrics, REGISTRY[name].function))
        assert accepted in source, name
