# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""All metrics by id, from the records of the families."""

from __future__ import annotations

from inspect import ismodule
from types import MappingProxyType

from frame_ros.core.errors import ValueRangeError
from frame_ros.metrics import families
from frame_ros.metrics.record import CATEGORIES, Metric

# id -> metric, in the order of tables: by category, then as the families come.
REGISTRY: MappingProxyType[str, Metric] = MappingProxyType(
    {
        each.id: each
        for category in CATEGORIES
        for family in vars(families).values()
        if ismodule(family)
        for each in vars(family).values()
        if isinstance(each, Metric) and each.category == category
    }
)

_BY_FIELD = {
    (kind, field): each
    for each in REGISTRY.values()
    for kind in each.messages
    for field in each.fields_of(kind)
}


def metric(id: str) -> Metric:
    """Returns the metric of this id.

    Raises:
        ValueRangeError: there is none.
    """
    if id not in REGISTRY:
        raise ValueRangeError(f'no metric has the id {id!r}; there are {", ".join(REGISTRY)}')
    return REGISTRY[id]


def metric_of_field(message: str, field: str) -> Metric | None:
    """Returns the metric behind a field of a metric message; None for one that is no metric.

    Args:
        message: 'quality', 'safety', 'efficiency' or 'confidence'.
        field: the field's name, `tcp_pi_mean` for example.
    """
    return _BY_FIELD.get((message, field))


def changed_since(version: int) -> frozenset[str]:
    """Returns the live fields that mean something else since a version of the definitions."""
    changed = (each for each in REGISTRY.values() if each.changed_in > version)
    return frozenset(field for each in changed for field in each.fields)
