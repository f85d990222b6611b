# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The declared topics and services of all nodes, without ROS."""

import re
from pathlib import Path

from attrs import astuple

import frame_ros
from frame_ros.bags.streams.table import STREAMS
from frame_ros.bringup.declared_nodes import topics_of

NODES = Path(frame_ros.__file__).parent / 'nodes'


def declared_endpoints():
    nodes = {path.parent.name for path in NODES.glob('*/__main__.py')}
    return [
        each
        for name in nodes
        for group in astuple(topics_of(name), recurse=False)
        for each in group
    ]


def test_topics_and_services_are_made_from_their_declarations():
    made = re.compile(
        r'create_(?:lifecycle_)?(?:publisher|subscription|service|client)\(\s*(.{11})'
    )
    wrong = [
        f'{path}: {found[0]}'
        for path in NODES.rglob('*.py')
        if path.parent.name != 'runtime'
        for found in made.finditer(path.read_text())
        if not found[1].startswith(('*published(', '*endpoint('))
    ]
    assert not wrong


def test_a_topic_is_declared_once_and_relative():
    found = {}
    for topic in declared_endpoints():
        assert found.setdefault(topic.name, topic.type) == topic.type or '{' in topic.name, topic
        assert re.match(r'~?/(?!/)|[a-z{]', topic.name), topic
    absolute = {name for name in found if name.startswith('/')}
    assert absolute <= {'/tf', '/tf_static', '/clock', '/diagnostics'}


def test_the_stream_table_and_the_nodes_name_the_same_types():
    types = {topic.name: topic.type for topic in declared_endpoints()}
    ours = {role: row for role, row in STREAMS.items() if row.topics[0] in types}
    assert {'pose', 'action', 'contact', 'quality'} <= set(ours)  # others' nodes send the rest
    for role, row in ours.items():
        assert types[row.topics[0]] == row.message_type, role
