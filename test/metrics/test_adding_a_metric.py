# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The metric of docs/extend/metric.md: all else follows from its record and the message's line."""

import json
import re

import pytest
from extended_package import code_of, output_of, package_copy
from markdown_blocks import ROOT

USE = """
import json
from pathlib import Path

import numpy as np

from frame_ros import metrics
from frame_ros.cli import main
from frame_ros.core.events import Event, EventType
from frame_ros.episodes.episode import Episode
from frame_ros.episodes.metric_pipeline.options import PipelineOptions
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.metrics.message_fields import FIELDS
from frame_ros.reports.model.metric_table import metric_rows

def run(poses):
    pipeline, begin = MetricPipeline(), 10**9
    pipeline.feed('event', begin, Event(begin, EventType.START, 'e'))
    for i, pose in enumerate(poses):
        stamp = begin + (i + 1) * 20_000_000
        if pose is not None:
            pipeline.feed('pose', stamp, (*pose, 0.0, 0.0, 0.0, 1.0))
        pipeline.feed('action', stamp, (('a',), [0.1 * i]))
    end = begin + 10**9
    pipeline.feed('event', end, Event(end, EventType.END, 'e'))
    samples = pipeline.finish()
    summary = next(s for s in samples if s.kind == 'summary').values
    return Episode(Path(), 'e', {}, [], {}, {}, summary=summary), summary

positions = np.random.default_rng(0).uniform(0, 1, (9, 3))
episode, summary = run(positions.tolist())
without, missing = run([None] * 3)
row = next(row for row in metric_rows([episode, without]) if row.id == 'top')
assert main(['metrics', 'top']) == 0
print('FOUND', json.dumps({
    'fields': FIELDS['quality'], 'exported': 'HighestPoint' in metrics.__all__,
    'batch': float(metrics.highest_point(positions)), 'live': summary['quality']['top'],
    'steps': summary['steps'], 'row': row.values, 'reasons': row.reasons,
}))
"""
TORCH = """
import torch
from frame_ros.metrics.torch import HighestPoint, torch_metric

metric = torch_metric('top')
assert type(metric) is HighestPoint and metric.unit == 'm' and metric.higher_is_better is None
metric.update(torch.tensor([[[0.0, 0.0, 1.0], [0.0, 0.0, 3.0]], [[0.0, 0.0, 2.0]] * 2]))
print('FOUND', float(metric.compute()))
"""


@pytest.fixture(scope='module')
def copy(tmp_path_factory):
    """The package with the metric of docs/extend/metric.md."""
    folder = package_copy(tmp_path_factory.mktemp('package'))
    with (folder / 'frame_ros' / 'metrics' / 'families' / 'path.py').open('a') as module:
        module.writelines(code_of('metric'))
    return folder


def test_registry_pipeline_summary_report_and_command_know_it(copy):
    text, _, data = output_of(copy, USE).partition('FOUND')
    found = json.loads(data)
    assert found['exported'] and found['steps'] == 9
    assert found['live'] == found['batch'] == found['row'][0] > 0.5
    assert found['row'][1] is None
    assert found['reasons'] == ['', 'no end-effector pose at the last step']
    assert 'top: highest point' in text and 'How high the end effector rose.' in text
    assert 'frame_ros.metrics.highest_point' in text and 'quality_metrics' in text
    # What is left to do: the line in the message.
    message = (ROOT / 'msg' / 'QualityMetrics.msg').read_text()
    defined = set(re.findall(r'^\w+ ([a-z]\w*)', message, flags=re.MULTILINE))
    assert set(found['fields']) - defined == {'top'}


def test_its_torch_class_follows_from_the_formula(copy):
    pytest.importorskip('frame_ros.metrics.torch')
    assert output_of(copy, TORCH) == 'FOUND 2.5\n'
