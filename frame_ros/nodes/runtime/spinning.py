# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Running a node: one node, one single-threaded executor, a clean end on SIGTERM or SIGINT."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

import rclpy
from rclpy.exceptions import NameValidationException, ParameterException
from rclpy.executors import (
    Executor,
    ExternalShutdownException,
    SingleThreadedExecutor,
    TimeoutException,
)
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.nodes.runtime.clock_watch import clock_watched

NodeType = TypeVar('NodeType', bound=Node)
STOP_SIGNALS = (signal.SIGTERM, signal.SIGINT)
# What a user can cause and mend: our own errors, and rclpy's about names and parameters.
USER_ERRORS = (FrameRosError, NameValidationException, ParameterException)
SERVICE_PERIOD = 0.1  # s between two looks of a polling node at its services
PACKAGE = __name__.partition('.')[0]
MOST_CALLBACKS = 100  # at one look: a flood of requests must not keep the node from its polling


def run_node(
    factory: Callable[[], NodeType],
    arguments: Sequence[str] | None = None,
    spin: Callable[[NodeType, threading.Event], None] | None = None,
) -> int:
    """Runs one node until it is stopped: `sys.exit(run_node(MyNode))`, in the main thread.

    The order, which nodes may rely on:

    1. SIGTERM and SIGINT are taken over; `rclpy.init` runs without handlers of its own, so that the
       context is still valid, and the node can still publish and answer, while it closes.
    2. `factory()` makes the node.
    3. The node spins in a SingleThreadedExecutor until a signal comes, or until it finishes by
       itself: a node with an attribute `exit_code` (int or None) ends the run by setting it in any
       of its callbacks. With `use_sim_time` it warns if no time comes on /clock (`clock_watched`).
    4. `node.destroy_node()`: override it to close what must be closed (bags, threads, windows).
    5. The context is shut down.

    Further signals during 4 and 5 are ignored: a second one does not tear a bag apart (SIGKILL
    still ends it). A thread of the node that ends by an exception ends the node, too: who started
    it notices that, and not a node of which a part stands still.

    arguments: the command line, `sys.argv` by default (`--ros-args ...`).
    spin: the node's own loop instead of the executor, for nodes that poll: `spin(node, stop)` must
    return soon after the event `stop` is set.

    Returns the exit code: 0 after a signal, the node's `exit_code` if it set one, 1 after a thread
    has failed, or an error that the user can mend (USER_ERRORS, or a command line that ROS cannot
    read), whose message goes to standard error without a traceback. Other exceptions are errors of
    ours and pass through.
    """
    with stop_on_signals() as stop, failed_threads(stop.event) as failed:
        node = None
        try:
            _initialise(arguments)
            node = factory()
            with clock_watched(node):
                (spin or spin_until_stopped)(node, stop.event)
            return int(getattr(node, 'exit_code', None) or bool(failed))
        except USER_ERRORS as error:
            name = qualified_name(node, factory, arguments)
            print(f'[FATAL] [{time.time():.9f}] [{name}]: {error}', file=sys.stderr, flush=True)
            return 1
        finally:
            if node is not None:
                node.destroy_node()
            rclpy.try_shutdown()


@contextlib.contextmanager
def failed_threads(stop: threading.Event) -> Iterator[list[str]]:
    """Within a `with` block a thread of this package that ends by an exception sets `stop`.

    Yields the names of these threads. After `stop` is set none counts: what closes may be torn from
    under it. Threads of others, as those of a policy, are their own business.
    """
    failed: list[str] = []
    show = threading.excepthook

    def note(args: threading.ExceptHookArgs) -> None:
        is_counted = is_own(args.exc_traceback) and not stop.is_set()
        if args.exc_type is SystemExit or not is_counted:
            show(args)
            return
        failed.append(args.thread.name if args.thread else '')
        text = f'the thread {failed[-1]} has failed ({args.exc_type.__name__}): the node ends'
        try:
            show(args)
            print(f'[FATAL] [{time.time():.9f}]: {text}', file=sys.stderr, flush=True)
        finally:  # also where nobody reads standard error any more
            stop.set()

    threading.excepthook = note
    try:
        yield failed
    finally:
        threading.excepthook = show


def is_own(trace: TracebackType | None) -> bool:
    """Returns whether it is code of this package that a thread ran, by its traceback."""
    while trace is not None and trace.tb_frame.f_globals.get('__name__') == threading.__name__:
        trace = trace.tb_next
    name = trace.tb_frame.f_globals.get('__name__', '') if trace is not None else ''
    return str(name).partition('.')[0] == PACKAGE


def qualified_name(
    node: Node | None, factory: Callable[[], Node], arguments: Sequence[str] | None
) -> str:
    """The name under which a node logs, namespace and all: left.kinematics. Of one that could not
    be made, by the command line, or else its module.
    """
    if node is not None:
        return node.get_logger().name
    given = dict(
        word.split(':=', 1)
        for word in (sys.argv if arguments is None else arguments)
        if word.startswith(('__node:=', '__name:=', '__ns:='))
    )
    module = getattr(sys.modules.get(factory.__module__), '__file__', None)
    path = Path(module or factory.__name__)
    own = path.parent.name if path.stem == 'node' else path.stem
    name = given.get('__node') or given.get('__name') or own
    return '.'.join(filter(None, [*given.get('__ns', '').split('/'), name]))


def _initialise(arguments: Sequence[str] | None) -> None:
    try:
        rclpy.init(
            args=None if arguments is None else list(arguments),
            signal_handler_options=SignalHandlerOptions.NO,
        )
    except RuntimeError as error:  # rclpy's own class for it is not public
        raise SetupError(f'ROS cannot read the command line: {error}') from error


def spin_until_stopped(node: Node, stop: threading.Event) -> None:
    """Spins in a SingleThreadedExecutor until `stop` is set or the node's `exit_code` is no longer
    None.

    A guard condition wakes the executor, so an idle node stops at once and nothing is polled.
    """
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    guard = node.create_guard_condition(lambda: None)
    waker = threading.Thread(
        target=lambda: (stop.wait(), guard.trigger()), daemon=True, name='stop'
    )
    waker.start()
    try:
        while not stop.is_set() and getattr(node, 'exit_code', None) is None:
            executor.spin_once()
    except ExternalShutdownException:
        return
    finally:
        stop.set()
        waker.join()
        executor.shutdown()


def poll_with_services(
    node: Node,
    stop: threading.Event,
    poll: Callable[[], object],
    wait: Callable[[], object],
    look: Callable[[], object] = lambda: None,
) -> None:
    """The loop of a node that polls its inputs: `poll`, then `wait`, until `stop` is set.

    An executor serves the node's parameters now and then, and `look` is called as often (every
    SERVICE_PERIOD). With simulated time it takes /clock before each poll: the clock advances by it.
    """
    executor = SingleThreadedExecutor(context=node.context)
    executor.add_node(node)
    clock: Any = node.get_clock()  # the types of rclpy's wheels leave out what only ROS's has
    next_look = 0.0
    try:
        while not stop.is_set():
            now = time.monotonic()
            is_due = now >= next_look
            if is_due or clock.ros_time_is_active:
                run_ready_callbacks(executor)
            poll()
            if is_due:
                next_look = now + SERVICE_PERIOD
                look()
            wait()
    except ExternalShutdownException:
        return
    finally:
        executor.shutdown()


def run_ready_callbacks(executor: Executor) -> None:
    """Runs the callbacks that are ready now, at most MOST_CALLBACKS of them, and waits for none."""
    for _ in range(MOST_CALLBACKS):
        try:
            callback, _, _ = executor.wait_for_ready_callbacks(timeout_sec=0.0)
        except TimeoutException:
            return
        callback()
        callback.result()  # raises what the callback raised


class StopSignal:
    """Notice of SIGTERM or SIGINT: `event` is set, from a plain thread, as soon as the signal
    arrives.

    A Python signal handler runs only between two bytecodes of the main thread, which may be waiting
    inside the middleware. The interpreter's wakeup descriptor is written at once; the thread reads
    it.
    """

    def __init__(self) -> None:
        self.event = threading.Event()
        self._has_come = False
        self._read, self._write = os.pipe()
        os.set_blocking(self._write, False)
        self._handlers = {number: signal.signal(number, lambda *_: None) for number in STOP_SIGNALS}
        self._descriptor = signal.set_wakeup_fd(self._write, warn_on_full_buffer=False)
        self._thread = threading.Thread(target=self._watch, daemon=True, name='signals')
        self._thread.start()

    def release(self) -> None:
        """Gives the signals back to whoever had them. After a stop another SIGINT, as a terminal
        sends it in addition to that of a launch, must not tear what runs at exit: it stays ignored.
        """
        signal.set_wakeup_fd(self._descriptor)
        for number, handler in self._handlers.items():
            is_torn = self._has_come and handler is signal.default_int_handler
            signal.signal(number, signal.SIG_IGN if is_torn else handler)
        os.close(self._write)
        self._thread.join()
        os.close(self._read)

    def _watch(self) -> None:
        while data := os.read(self._read, 1):
            if data[0] in STOP_SIGNALS:
                self._has_come = True
                self.event.set()


@contextlib.contextmanager
def stop_on_signals() -> Iterator[StopSignal]:
    """The signals taken over for the length of a `with` block, in the main thread only."""
    stop = StopSignal()
    try:
        yield stop
    finally:
        stop.release()
