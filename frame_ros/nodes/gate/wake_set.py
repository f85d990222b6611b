# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Waiting for any of several polled subscriptions and services at once."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Sequence
from typing import Any

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node

from frame_ros.core.time import SECOND
from frame_ros.nodes.runtime.polled_service import PolledService

SLEEP = 0.002  # s between two looks where nothing can be waited for


class WakeSet:
    """For one thread. The services given to `wait` have a `wait_handle`, None where they cannot be
    polled.

    subscriptions, services: the most of each that are waited for at once.
    """

    def __init__(self, node: Node, subscriptions: int, services: int) -> None:
        context: Any = node.context.handle
        kind: Any = rclpy_implementation.WaitSet
        with context:
            self._set = kind(subscriptions, 0, 0, 0, services, 0, context)
        self._context = context

    def wait(
        self, subscriptions: Sequence[Any], services: Sequence[PolledService], timeout: float
    ) -> list[Any]:
        """Blocks until one of them has something, or `timeout` s have passed; returns those that
        have, or may have where that cannot be known.

        Keep the timeout short: a shutdown of the context does not wake it.
        """
        inputs = [subscription.wait_handle for subscription in subscriptions]
        servers = [service.wait_handle for service in services]
        if None in servers:
            time.sleep(min(timeout, SLEEP))
            return [*subscriptions, *services]
        with contextlib.ExitStack() as stack:
            for handle in (self._context, *inputs, *servers):
                stack.enter_context(handle)
            self._set.clear_entities()
            places = [('subscription', self._set.add_subscription(handle)) for handle in inputs]
            places += [('service', self._set.add_service(handle)) for handle in servers]
            self._set.wait(int(timeout * SECOND))
            waited = zip((*subscriptions, *services), places, strict=True)
            return [each for each, place in waited if self._set.is_ready(*place)]

    def destroy(self) -> None:
        """Frees it."""
        self._set.destroy_when_not_in_use()
