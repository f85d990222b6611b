# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The inputs and outputs of a node as it publishes them itself, for tests that wait for them."""

import time

from patience import PATIENCE

from frame_ros.msg import NodeReadiness
from frame_ros.nodes.runtime.node_readiness import state_of
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.nodes.runtime.qos import STATE
from frame_ros.sensing.stream_health.readiness import READINESS_TOPIC, InputState


class InputWatch:
    """Knows the state of each input of the one node that publishes in the namespace of `node`."""

    def __init__(self, node):
        self._node = node
        self._subscription = PolledSubscription(node, NodeReadiness, READINESS_TOPIC, STATE)
        self._states, self._listeners = {}, {}

    def __getitem__(self, topic) -> InputState:
        """The newest state of an input; before anything is known of it, one of nothing."""
        name = self._node.resolve_topic_name(topic)
        return self._states.get(name, InputState(name))

    def wait(self, condition):
        """Waits until a condition on the states holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, self._states
            self._subscription.wait(0.05)
            for message, _ in self._subscription.take(10):
                state = state_of(message)
                self._states = {each.topic: each for each in state.inputs}
                self._listeners = {each.topic: each.matched for each in state.outputs}

    def wait_until_matched(self, *topics):
        """Waits until every publisher of these topics reaches the node."""
        self.wait(lambda: all(self[t].offered == self[t].matched > 0 for t in topics))

    def wait_until_heard(self, *topics):
        """Waits until what the node publishes on these topics reaches somebody. That the subscriber
        knows of the publisher is not enough: what is published before the publisher knows of the
        subscriber never comes.
        """
        names = [self._node.resolve_topic_name(topic) for topic in topics]
        self.wait(lambda: all(self._listeners.get(name) for name in names))

    def wait_until_received(self, *topics):
        """Waits until a message of each of these topics has come."""
        self.wait(lambda: all(self[topic].received for topic in topics))

    def wait_until_taken(self, topic, stamp):
        """Waits until the message with this stamp, ns, was the last to come on a topic."""
        self.wait(lambda: self[topic].last_stamp == stamp)

    def destroy(self):
        self._subscription.destroy()
