# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""What managed (lifecycle) nodes have in common: transitions that never leave threads behind, and
say why they failed.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from typing import Any

from rclpy.lifecycle import LifecycleNode, State, TransitionCallbackReturn

from frame_ros.episodes.node_health import Status
from frame_ros.errors import FrameRosError, SetupError
from frame_ros.nodes.node_readiness import Readiness


class ManagedNode(LifecycleNode):
    """Base of the nodes that load something or touch the robot.

    A subclass writes `_configure`, `_start`, `_stop` and `_release`; the last two are called in any
    state, also twice, and after a failure of the first two. Whatever these raise as FrameRosError
    is logged in one line and fails the transition.
    """

    def __init__(self, name: str, **options: Any) -> None:
        super().__init__(name, **options)
        self._error: FrameRosError | None = None
        self._problem = ''
        self._why_idle = 'it is not configured'
        self.readiness = Readiness(self, problem=lambda: self._why_idle, parts=self.health)

    def health(self) -> Iterable[Status]:
        """Statuses for diagnostics, beside that of the node itself."""
        return ()

    def _configure(self) -> None:
        """Loads and makes what needs no running robot."""
        raise NotImplementedError

    def _start(self) -> None:
        """Subscribes and starts threads."""
        raise NotImplementedError

    def _stop(self) -> None:
        """Ends threads and subscriptions."""
        raise NotImplementedError

    def _release(self) -> None:
        """Lets go of what `_configure` made."""
        raise NotImplementedError

    def start_up(self) -> None:
        """Configures and activates, as the parameter `autostart` wants it.

        Raises:
            FrameRosError: one of the two failed.
        """
        for trigger in (self.trigger_configure, self.trigger_activate):
            if trigger() != TransitionCallbackReturn.SUCCESS:
                error = self._error or SetupError('it could not start; see the message above')
                self.destroy_node()
                raise error

    def destroy_node(self) -> None:
        """Ends the threads first: they publish."""
        self._stop()
        self._release()
        super().destroy_node()

    def on_configure(self, state: State) -> TransitionCallbackReturn:
        """Loads what is needed."""
        result = self._attempt(self._configure)
        self._why_idle = 'it is configured, but not active'
        if result != TransitionCallbackReturn.SUCCESS:
            self._release()
            self._why_idle = f'it could not be configured: {self._problem}'
        return result

    def on_activate(self, state: State) -> TransitionCallbackReturn:
        """Begins to work."""
        super().on_activate(state)
        result = self._attempt(self._start)
        self._why_idle = ''
        if result != TransitionCallbackReturn.SUCCESS:
            self._stop()
            super().on_deactivate(state)
            self._why_idle = f'it could not be activated: {self._problem}'
        return result

    def on_deactivate(self, state: State) -> TransitionCallbackReturn:
        """Ends the work; what was loaded stays."""
        self._stop()
        self._why_idle = 'it is configured, but not active'
        return super().on_deactivate(state)

    def on_cleanup(self, state: State) -> TransitionCallbackReturn:
        """Lets go of what was loaded."""
        self._release()
        self._why_idle = 'it is not configured'
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: State) -> TransitionCallbackReturn:
        """As deactivating and cleaning up."""
        self._stop()
        self._release()
        self._why_idle = 'it was shut down'
        return TransitionCallbackReturn.SUCCESS

    def on_error(self, state: State) -> TransitionCallbackReturn:
        """Back to unconfigured after a transition that raised."""
        self._stop()
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def _attempt(self, transition: Callable[[], None]) -> TransitionCallbackReturn:
        """Runs a transition; rclpy says nothing about an exception in one, so it is logged here."""
        try:
            transition()
        except FrameRosError as error:
            self._error, self._problem = error, str(error)
            self.get_logger().error(self._problem)
            return TransitionCallbackReturn.FAILURE
        except Exception as error:
            self._problem = f'{type(error).__name__}: {error}'
            self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS
