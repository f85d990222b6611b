# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Publishers and services from their declarations."""

from __future__ import annotations

import importlib
from typing import Any

from rclpy.qos import QoSProfile

from frame_ros.core.topics import Service, Topic
from frame_ros.nodes.runtime import qos


def interface(type_name: str) -> Any:
    """The class of a message or service, of 'package/msg/Name'.

    Raises:
        ImportError, AttributeError: it is not installed.
    """
    package, kind, name = type_name.split('/')
    return getattr(importlib.import_module(f'{package}.{kind}'), name)


def endpoint(declared: Service) -> tuple[Any, str]:
    """Class and name, as rclpy takes them for services, clients and subscriptions.

    Raises:
        ImportError, AttributeError: its package is not installed.
    """
    return interface(declared.type), declared.name


def published(topic: Topic, depth: int = 0) -> tuple[Any, str, QoSProfile]:
    """Class, name and quality of service, as rclpy takes them for publishers.

    Raises:
        ImportError, AttributeError: its package is not installed.
    """
    return *endpoint(topic), quality_of(topic, depth)


def quality_of(topic: Topic, depth: int = 0) -> QoSProfile:
    """The quality of service with which a topic is published. depth: instead of the declared."""
    declared: QoSProfile = getattr(qos, topic.qos)
    return QoSProfile(
        depth=depth or topic.depth or declared.depth,
        reliability=declared.reliability,
        durability=declared.durability,
    )
