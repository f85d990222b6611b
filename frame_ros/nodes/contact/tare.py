# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The services by which the force-torque sensor of the contact node is tared, and a weight on the
hand confirmed.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node
from std_srvs.srv import Trigger

from frame_ros.nodes.contact.topics import CONFIRM_WEIGHT, TARE
from frame_ros.nodes.runtime.endpoints import endpoint
from frame_ros.sensing.contact.wrench_sensor import WrenchSensor


class TareService:
    """~/tare: answers once the tare has ended, with what became of it. ~/confirm_weight: at once.

    The node goes on meanwhile, turn by turn. What is answered is final: a tare that does not end in
    time is cancelled, and the bias stays as it was.
    """

    def __init__(
        self,
        node: Node,
        sensor: WrenchSensor | None,
        timeout: float,
        silence: Callable[[], str],
        go_on: Callable[[], bool],
    ) -> None:
        """timeout: s. silence: why no wrench comes, '' if one does. go_on: lets the node do its
        work once; false if it is to end.
        """
        self._logger, self._sensor, self._timeout = node.get_logger(), sensor, timeout
        self._silence, self._go_on = silence, go_on
        node.create_service(*endpoint(TARE), self._on_tare)
        node.create_service(*endpoint(CONFIRM_WEIGHT), self._on_confirm)

    def _on_tare(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        response.success, response.message = self.tare()
        if response.success:
            self._logger.info(response.message)
        else:
            self._logger.warning(response.message)
        return response

    def _on_confirm(self, request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        if self._sensor is None:
            response.success, response.message = False, 'wrench is not among the sources'
        else:
            response.success, response.message = self._sensor.confirm_weight()
        return response

    def tare(self) -> tuple[bool, str]:
        """Returns whether it succeeded, and what it did or why not."""
        sensor = self._sensor
        if sensor is None:
            return False, 'tare refused: wrench is not among the sources'
        detector = sensor.detector
        if detector is None:
            return False, f'tare refused: {sensor.problem}'
        if silence := self._silence():
            return False, f'tare refused: {silence}'
        detector.tare()
        end = time.monotonic() + self._timeout
        while detector.tare_result is None:
            if not self._go_on():
                detector.cancel_tare('the node ends')
            elif sensor.detector is not detector:
                detector.cancel_tare(f'wrenches come in another frame; {sensor.problem}')
            elif detector.tare_result is None and time.monotonic() > end:
                why = self._silence() or 'too few wrenches'
                detector.cancel_tare(f'not done in {self._timeout} s: {why}')
        sensor.has_new_tare()  # which is reported here
        return sensor.outcome_of(detector)
