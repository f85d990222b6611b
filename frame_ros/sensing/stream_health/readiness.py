# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Connection and delivery of every node's inputs, and what a run still waits for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

READINESS_TYPE = 'frame_ros/msg/NodeReadiness'
READINESS_TOPIC = 'node_readiness'
READINESS_PERIOD = 2.0  # s between two messages while only counts change
SILENT = 4.0 * READINESS_PERIOD  # s without one, from which on a node stands still, or was killed


@dataclass(frozen=True)
class InputState:
    """One subscription of a node; the fields are those of NodeInput.msg, times in ns."""

    topic: str
    is_required: bool = False
    is_steady: bool = False
    offered: int = 0
    matched: int = 0
    is_reliable: bool = True
    is_latched: bool = False
    received: int = 0
    lost: int = 0
    first_stamp: int = 0
    last_stamp: int = 0
    first_received: int = 0
    last_received: int = 0

    @property
    def problem(self) -> str:
        """The reason why the input is not ready, in words; '' if it is."""
        if not self.offered:
            return f'nobody publishes {self.topic}' if self.is_required else ''
        if self.matched < self.offered:
            asked = f' ({self.service} was asked for)'
            if self.offered == 1:
                return f'{self.topic}: not connected to its publisher{asked}'
            return f'{self.topic}: connected to {self.matched} of {self.offered} publishers{asked}'
        if self.is_steady and not self.received:
            return f'{self.topic}: connected, but no message has come'
        return ''

    @property
    def service(self) -> str:
        """The quality of service, in words."""
        reliability = 'reliable' if self.is_reliable else 'best effort'
        return f'{reliability}, {"latched" if self.is_latched else "volatile"}'


@dataclass(frozen=True)
class OutputState:
    """One publisher of a node. matched: subscriptions that its messages reach."""

    topic: str
    matched: int = 0


@dataclass(frozen=True)
class NodeState:
    """A node at a moment."""

    node: str  # absolute name
    stamp: int = 0  # ns
    hardware_id: str = ''  # of its device
    problem: str = ''  # why it is not ready, apart from its inputs; '' if it is
    inputs: tuple[InputState, ...] = ()
    outputs: tuple[OutputState, ...] = ()

    @property
    def reason(self) -> str:
        """The reason why the node is not ready, in words; '' if it is."""
        problems = [self.problem, *(each.problem for each in self.inputs)]
        return '; '.join(dict.fromkeys(filter(None, problems)))

    @property
    def is_ready(self) -> bool:
        """True if the node can do its work."""
        return not self.reason

    @property
    def key(self) -> tuple[object, ...]:
        """A change of this is published at once; counts may wait."""
        inputs = tuple(
            (i.topic, i.offered, i.matched, i.is_reliable, i.is_latched, i.received > 0)
            for i in self.inputs
        )
        return self.problem, inputs, self.outputs


class ReadinessBoard:
    """The last state of every node. expected: absolute names of the nodes that must be there;
    others are waited for once they are.
    """

    def __init__(self, expected: Iterable[str] = ()) -> None:
        self._expected = tuple(dict.fromkeys(expected))
        self._states: dict[str, NodeState] = {}
        self._heard: dict[str, float] = {}  # s
        self._present: tuple[str, ...] = ()

    @property
    def states(self) -> dict[str, NodeState]:
        """Absolute name of a node -> its last state."""
        return self._states

    def take(self, state: NodeState, received: float = math.inf) -> None:
        """Takes a node's state. received: s, on the clock of `missing`; infinite: is never old."""
        self._states[state.node], self._heard[state.node] = state, received

    def set_present(self, nodes: Iterable[str]) -> None:
        """Sets the nodes that are present; others are forgotten."""
        self._present = tuple(dict.fromkeys(nodes))
        self._states = {n: s for n, s in self._states.items() if n in self._present}

    def missing(self, now: float = 0.0) -> list[str]:
        """Returns what is missing, each with node and topic; empty: everything is ready. now: s."""
        names = dict.fromkeys((*self._expected, *self._present))
        missing = (self._missing_of(name, now) for name in names)
        return [text for text in missing if text] or self._unreached()

    def _missing_of(self, name: str, now: float) -> str:
        state = self._states.get(name)
        if state is not None:
            silent = now - self._heard[name]
            if silent > SILENT:
                return f'{name}: it stands still or was killed, nothing for {silent:.0f} s'
            return f'{name}: {state.reason}' if state.reason else ''
        if name in self._present:
            return f'{name}: it has not reported yet whether it is ready'
        return f'{name}: it is not running'

    def _unreached(self) -> list[str]:
        """Returns publishers that do not reach each listening node: a subscription may know its
        publisher before that knows the subscription.
        """
        listeners = Counter(
            topic for s in self._states.values() for topic in {i.topic for i in s.inputs}
        )
        return [
            f'{name}: its {output.topic} reaches {output.matched} of the '
            f'{listeners[output.topic]} nodes that listen'
            for name, state in self._states.items()
            for output in state.outputs
            if output.matched < listeners[output.topic]
        ]
