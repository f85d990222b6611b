# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policy node's third thread, only for policies that want the observations between two
inferences (Diffusion and VQ-BeT take several, at the rate of their data)."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from rclpy.clock import Clock

from frame_ros.core.errors import FrameRosError
from frame_ros.nodes.runtime.ticks import Ticks
from frame_ros.policies.base import Policy
from frame_ros.policies.execution.observation_buffer import ObservationBuffer

logger = logging.getLogger(__name__)


class HistoryLoop:
    """A thread that shows the policy an observation at its period.

    is_on: whether it is to be shown any now: while it acts in an episode, after its reset.
    report: gets errors in words.
    """

    def __init__(
        self,
        policy: Policy,
        buffer: ObservationBuffer,
        clock: Clock,
        is_simulated: bool,
        is_on: Callable[[], bool],
        report: Callable[[str], object],
    ) -> None:
        self._policy, self._buffer, self._clock = policy, buffer, clock
        self._is_on, self._report = is_on, report
        self._stop = threading.Event()
        self._ticks = Ticks(policy.history_period, clock, is_simulated, self._stop)
        self._thread = threading.Thread(target=self._run, name='history', daemon=True)

    def start(self) -> None:
        """Begins to observe."""
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while self._ticks.wait():
            if self._is_on():
                self._observe()

    def _observe(self) -> None:
        try:
            observation = self._buffer.build(self._clock.now().nanoseconds)
        except FrameRosError as error:  # the inference thread reports what is missing
            logger.debug('no observation for the history: %s', error)
            return
        try:
            self._policy.observe(observation)
        except Exception as error:  # whatever a policy raises, the node goes on
            self._report(f'the policy cannot keep an observation: {error}')
