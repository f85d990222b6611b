# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The nodes and the options that each declares, without importing ROS."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import attrs

import frame_ros
from frame_ros.core.options import Option, walk
from frame_ros.core.topics import NodeTopics

# Parameters that every node has.
EVERY_NODE = re.compile(r'use_sim_time|start_type_description_service|qos_overrides\..*')


@cache
def node_names() -> tuple[str, ...]:
    """The nodes that can be started: the folders of frame_ros/nodes that declare options."""
    folders = [Path(root) / 'nodes' for root in frame_ros.__path__]
    found = {path.parent.name for each in folders for path in each.glob('*/options.py')}
    return tuple(sorted(found - {'runtime'}))


@cache
def options_of(node: str) -> Any:
    """The class of a node's options, made by `options`."""
    name = ''.join(part.title() for part in node.split('_')) + 'Options'
    return getattr(import_module(f'frame_ros.nodes.{node}.options'), name)


@cache
def topics_of(node: str) -> NodeTopics:
    """Topics and services by which a node is connected to others, and those of every node."""
    own: NodeTopics = import_module(f'frame_ros.nodes.{node}.topics').TOPICS
    common = import_module('frame_ros.nodes.runtime.topics').OF_EVERY_NODE
    return attrs.evolve(own, publishes=(*own.publishes, *common))


@cache
def parameters_of(node: str) -> dict[str, Option]:
    """Dotted name -> option, of every parameter of a node."""
    return {option.name: option for option in walk(options_of(node))}


def as_parameter(value: Any) -> Any:
    """A value as ROS 2 has it, which knows no type of an empty list: it is [''], one empty text."""
    if isinstance(value, (list, tuple)):
        return list(value) or ['']
    return value


def from_parameter(value: Any) -> Any:
    """The value of an option from that of a parameter: of a list without empty texts, see
    `as_parameter`.
    """
    return [each for each in value if each != ''] if isinstance(value, list) else value
