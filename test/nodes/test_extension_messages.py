# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The fields of docs/extend/message-field.md and metric.md, in messages that the build's generator
makes of the changed definitions.
"""

from pathlib import Path

import pytest
from extended_package import add_field, code_of, output_of, package_copy

for needed in ('rclpy', 'rosidl_adapter', 'rosidl_generator_py'):
    pytest.importorskip(needed)

FIELD = """
from array import array
from pathlib import Path

import numpy as np
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from frame_ros.bags.definitions import find_definition
from frame_ros.bags.writer import BagWriter
from frame_ros.nodes.proximity.messages import proximity_message
from frame_ros.sensing.proximity.link_distances import DistanceReading

NAME = 'frame_ros/msg/Proximity'
store = get_typestore(Stores.EMPTY)
store.register(get_types_from_msg(find_definition(NAME).text, NAME))


def stored(value):
    if isinstance(value, list):
        return [stored(item) for item in value]
    if isinstance(value, array):
        return np.array(value)
    if not hasattr(value, 'get_fields_and_field_types'):
        return value
    module = type(value).__module__.split('.')
    made = store.types[f'{module[0]}/{module[1]}/{type(value).__name__}']
    return made(*(stored(getattr(value, name)) for name in value.get_fields_and_field_types()))


writer = BagWriter('runs/bag')
channel = writer.add_topic('/proximity', NAME)
for nearest in (0.02, 0.2):
    distances = np.array([nearest, 0.04, 1.0])
    reading = DistanceReading(
        ('a', 'b', 'c'), distances, np.zeros((3, 3)), np.ones((3, 3)), ('',) * 3
    )
    message = stored(proximity_message(1, 'base', 2, reading))
    writer.write(channel, 1, store.serialize_cdr(message, NAME))
writer.finish()
"""
METRIC = """
from frame_ros.episodes.metric_pipeline.pipeline import MetricPipeline
from frame_ros.msg import QualityMetrics
from frame_ros.nodes.metrics.messages import fill

pipeline = MetricPipeline()
for step, height in enumerate((0.1, 0.3, 0.2), start=1):
    pipeline.feed('pose', step * 10**8, (0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0))
    pipeline.feed('action', step * 10**8, (('a',), [0.0]))
samples = [s for s in pipeline.finish() if s.kind == 'quality']
print([fill(QualityMetrics(), sample, 'base').top for sample in samples])
"""


def test_a_message_field_is_a_line_and_what_fills_it(tmp_path: Path):
    copy = package_copy(tmp_path)
    (line,) = code_of('message-field', 'text')
    filling, reading = code_of('message-field')
    module = copy / 'frame_ros' / 'nodes' / 'proximity' / 'messages.py'
    before, point, after = module.read_text().partition('    row = reading.nearest\n')
    module.write_text(before + filling + point + after)
    add_field(copy, 'Proximity', line)
    assert output_of(copy, FIELD + reading) == '[2 1]\n'


def test_a_published_metric_is_a_record_and_a_line(tmp_path: Path):
    copy = package_copy(tmp_path)
    (record,), (line,) = code_of('metric'), code_of('metric', 'text')
    with (copy / 'frame_ros' / 'metrics' / 'families' / 'path.py').open('a') as module:
        module.write(record)
    add_field(copy, 'QualityMetrics', line)
    assert output_of(copy, METRIC) == '[0.1, 0.3, 0.3]\n'
