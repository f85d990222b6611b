# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Base of the managed (lifecycle) nodes: transitions that never leave threads behind, and say why
they failed.
"""

from __future__ import annotations

import itertools
import threading
import time
import traceback
from collections.abc import Callable, Collection, Generator, Iterable
from typing import Any

from lifecycle_msgs.msg import State, Transition
from rcl_interfaces.msg import SetParametersResult
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.parameter import Parameter

from frame_ros.core.errors import AbsentError, FrameRosError, SetupError, UnsetError
from frame_ros.core.health import Status
from frame_ros.nodes.runtime.node_readiness import Readiness
from frame_ros.nodes.runtime.spinning import run_node, spin_until_stopped

RCLError = rclpy_implementation.RCLError


SLOW = (Transition.TRANSITION_CONFIGURE, Transition.TRANSITION_ACTIVATE, 'configure', 'activate')
TURN = 0.02  # s that a transition keeps the executor from serving others
LAST_WAIT = 5.0  # s for a transition that is under way when the node is to end
RETRIES = (1.0, 2.0, 5.0, 10.0)  # s before the next attempt to start; the last holds from then on


class _Turn:
    """Awaited, lets the executor run what else is ready, once."""

    def __await__(self) -> Generator[None, None, None]:
        yield


def run_managed(factory: Callable[..., ManagedNode]) -> int:
    """Runs a managed node, as `run_node` does; it starts up while it already answers."""

    def make() -> ManagedNode:
        return factory(is_deferred=True)

    make.__name__ = factory.__name__
    return run_node(make, spin=_spin)


def _spin(node: ManagedNode, stop: threading.Event) -> None:
    starter = threading.Thread(
        target=node.start_when_spinning, args=(stop,), name='autostart', daemon=True
    )
    starter.start()
    spin_until_stopped(node, stop)
    stop.set()
    for thread in (starter, *node.transitions):
        thread.join(LAST_WAIT)


class ManagedNode(LifecycleNode):
    """Base of the nodes that load something or touch the robot.

    A subclass writes `_configure`, `_start`, `_stop` and `_release`; the last two are called in any
    state, also twice, and after a failure of the first two. Whatever these raise as FrameRosError
    is logged in one line and fails the transition.
    """

    def __init__(self, name: str, **options: Any) -> None:
        self._is_deferred = bool(options.pop('is_deferred', False))
        super().__init__(name, **options)
        self.exit_code: int | None = None
        self._is_wanted = False
        self.transitions: list[threading.Thread] = []  # under way, as somebody asked for them
        self._serve_while_changing()
        self._error: Exception | None = None  # of the last transition; None: it succeeded
        self._problem = ''
        self._quiet_until = 0.0  # s, monotonic: absence is no error of a node that starts before
        self._why_idle = 'it is not configured'
        self.readiness = Readiness(self, problem=self.problem, parts=self.health)

    def problem(self) -> str:
        """Returns why the node is not at work, apart from its inputs; else ''."""
        return self._why_idle

    def fix_while_configured(self, names: Collection[str]) -> None:
        """Refuses to set these parameters, which `_configure` reads, unless it is to come."""

        def check(parameters: list[Parameter]) -> SetParametersResult:
            state = self._state_machine.current_state[0]
            fixed = [parameter.name for parameter in parameters if parameter.name in names]
            if not fixed or state == State.PRIMARY_STATE_UNCONFIGURED:
                return SetParametersResult(successful=True)
            reason = f'{fixed[0]} is read when the node is configured; clean it up first'
            return SetParametersResult(successful=False, reason=reason)

        self.add_on_set_parameters_callback(check)

    def patience(self) -> float:
        """Returns for how long, s, from its start on what it needs may be absent without an error
        in the log.
        """
        return 0.0

    def health(self) -> Iterable[Status]:
        """Statuses for diagnostics, in addition to that of the node itself."""
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

    def autostart(self, is_wanted: bool) -> None:
        """Configures and activates now, or where that is deferred once the node spins.

        Raises:
            FrameRosError: one of the two failed.
        """
        self._is_wanted = is_wanted
        if is_wanted and not self._is_deferred:
            self.start_up()

    def start_when_spinning(self, stop: threading.Event) -> None:
        """Configures and activates, in a thread next to the executor's. What does not answer is
        tried again, ever more seldom; for what the user has not set yet it waits unconfigured;
        whatever else is wrong ends the node.
        """
        self._quiet_until = time.monotonic() + self.patience()
        for attempt in itertools.count():
            if not self._is_wanted or stop.is_set():
                return
            if self._is_started():
                return
            pause = RETRIES[min(attempt, len(RETRIES) - 1)]
            if isinstance(self._error, AbsentError):
                if self._is_early():
                    self.get_logger().info(f'tried again in {pause:g} s')
                else:
                    self.get_logger().warning(f'tried again in {pause:g} s')
            elif isinstance(self._error, UnsetError):
                self.get_logger().warning('it waits unconfigured; set it, then configure')
                return
            elif self._error is not None:
                self.exit_code = 1
                return
            elif self._state_machine.current_state[0] == State.PRIMARY_STATE_FINALIZED:
                return
            stop.wait(pause)  # without an error: somebody else is changing its state

    def _is_started(self) -> bool:
        """Goes as far as it can from the state in which it is; somebody else may change it too."""
        try:
            for state, trigger in (
                (State.PRIMARY_STATE_UNCONFIGURED, self.trigger_configure),
                (State.PRIMARY_STATE_INACTIVE, self.trigger_activate),
            ):
                if self._state_machine.current_state[0] == state:
                    trigger()
        except RCLError as error:
            self.get_logger().debug(str(error))
        return self._state_machine.current_state[0] == State.PRIMARY_STATE_ACTIVE

    def _serve_while_changing(self) -> None:
        """Lets the executor serve others, get_state first of all, while configure or activate wait
        for something outside.
        """
        service = getattr(self, '_service_change_state', None)
        if service is None:
            return
        change = service.callback
        service.callback_group = ReentrantCallbackGroup()
        service.callback_group.add_entity(service)

        def change_quietly(request: Any, response: Any) -> None:
            try:
                change(request, response)
            except RCLError as error:  # there is no such transition from where it is
                response.success = False
                self.get_logger().warning(str(error).splitlines()[0])

        async def change_state(request: Any, response: Any) -> Any:
            transition = request.transition
            if transition.id not in SLOW and transition.label not in SLOW:
                change_quietly(request, response)
                return response
            thread = threading.Thread(
                target=change_quietly, args=(request, response), name='transition', daemon=True
            )
            under_way = [each for each in self.transitions if each.is_alive()]
            self.transitions = [*under_way, thread]
            thread.start()
            while thread.is_alive():
                thread.join(TURN)
                await _Turn()
            return response

        service.callback = change_state

    def start_up(self) -> None:
        """Configures and activates, as the parameter `autostart` wants it.

        Raises:
            FrameRosError: one of the two failed.
        """
        for trigger in (self.trigger_configure, self.trigger_activate):
            if trigger() != TransitionCallbackReturn.SUCCESS:
                error = self._error
                self.destroy_node()
                if isinstance(error, FrameRosError):
                    raise error
                raise SetupError('it could not start; see the message above')

    def destroy_node(self) -> None:
        """Ends the threads first: they publish."""
        self._stop()
        self._release()
        super().destroy_node()

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Loads what is needed."""
        result = self._attempt(self._configure)
        self._why_idle = 'it is configured, but not active'
        if result != TransitionCallbackReturn.SUCCESS:
            self._release()
            self._why_idle = f'it could not be configured: {self._problem}'
        return result

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Begins to work."""
        super().on_activate(state)
        result = self._attempt(self._start)
        self._why_idle = ''
        if result != TransitionCallbackReturn.SUCCESS:
            self._stop()
            super().on_deactivate(state)
            self._why_idle = f'it could not be activated: {self._problem}'
        return result

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Ends the work; what was loaded stays."""
        self._stop()
        self._why_idle = 'it is configured, but not active'
        return super().on_deactivate(state)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Lets go of what was loaded."""
        self._release()
        self._why_idle = 'it is not configured'
        return TransitionCallbackReturn.SUCCESS

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """As deactivating and cleaning up."""
        self._stop()
        self._release()
        self._why_idle = 'it was shut down'
        return TransitionCallbackReturn.SUCCESS

    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Back to unconfigured after a transition that raised."""
        self._stop()
        self._release()
        return TransitionCallbackReturn.SUCCESS

    def _attempt(self, transition: Callable[[], None]) -> TransitionCallbackReturn:
        """Runs a transition, and logs an exception in it: rclpy does not."""
        self._error = None
        try:
            transition()
        except FrameRosError as error:
            self._error, self._problem = error, str(error)
            if self._is_early():
                self.get_logger().info(self._problem)
            else:
                self.get_logger().error(self._problem)
            return TransitionCallbackReturn.FAILURE
        except Exception as error:
            self._error = error
            self._problem = f'{type(error).__name__}: {error}'
            self.get_logger().error(traceback.format_exc())
            return TransitionCallbackReturn.ERROR
        return TransitionCallbackReturn.SUCCESS

    def _is_early(self) -> bool:
        return isinstance(self._error, AbsentError) and time.monotonic() < self._quiet_until
