# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Processes that run trials side by side. One that dies costs its trial, not the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterable, Iterator
from multiprocessing.connection import Connection, wait
from typing import Any

from frame_ros.core.errors import FrameRosError, SetupError, ValueRangeError
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.recording import TrialRecording
from frame_ros.evaluation.scene_trials.result import ENDED, KILLED, TOO_LONG, TrialResult
from frame_ros.evaluation.scene_trials.trial import PlannedTrial, trial
from frame_ros.policies.base import Policy
from frame_ros.scenes.run_options import SceneRunOptions

_LOOKED = 1.0  # s, between two looks for trials that take too long
_BEGUN = 'begun'  # that a process sends before its first trial
GUARD = "in a script put the call under `if __name__ == '__main__':`, as each process reads it"


def refuse_child() -> None:
    """Raises SetupError in a process of trials that reads the script which started it."""
    if getattr(multiprocessing.current_process(), '_inheriting', False):
        raise SetupError(f'trials were asked for by a process of trials: {GUARD}')


class TrialRunner:
    """Runs trials in this process, with one policy per robot."""

    def __init__(
        self,
        policy: TrialPolicyOptions,
        run: SceneRunOptions | None = None,
        recording: TrialRecording | None = None,
    ) -> None:
        self._options, self._run = policy, run or SceneRunOptions()
        self._recording = recording
        self._made: dict[str, Policy] = {}

    def __call__(self, planned: PlannedTrial) -> TrialResult:
        """Runs a trial.

        Raises:
            SetupError: the policy cannot be made, as a server or a checkpoint is missing.
        """
        robot, called = planned.scene.robot, self._options.called
        if robot not in self._made:
            try:
                self._made[robot] = self._options.make(robot)
            except FrameRosError as error:
                raise SetupError(f'the policy cannot be made: {error}') from error
            except SystemExit as error:
                raise SetupError(f'the policy cannot be made: SystemExit: {error}') from error
        return trial(planned, self._made[robot], self._run, called, self._recording)

    def close(self) -> None:
        """Releases what the policies hold."""
        for policy in self._made.values():
            policy.close()
        self._made.clear()


class TrialPool:
    """Processes with a policy each, to be used for several rounds of trials, as a search does.

    Args:
        policy: to make in each.
        run: how trials are run.
        processes: their number; 0: trials run in this process.
        most_wall_time: s, after which a trial is ended, and its process with it.
        recording: writes bags of trials; None: there are none.
    """

    def __init__(
        self,
        policy: TrialPolicyOptions,
        run: SceneRunOptions | None = None,
        processes: int = 2,
        most_wall_time: float = 600.0,
        recording: TrialRecording | None = None,
    ) -> None:
        """Raises ValueRangeError: processes is negative, or most_wall_time not positive.
        SetupError: as of `refuse_child`.
        """
        refuse_child()
        if processes < 0 or not most_wall_time > 0:
            raise ValueRangeError(
                f'processes is {processes} and most_wall_time {most_wall_time} s; they must be 0 '
                'or more and above 0 s'
            )
        self._policy, self._run = policy, run or SceneRunOptions()
        self._most, self._recording = most_wall_time, recording
        self._here = TrialRunner(policy, self._run, recording) if processes == 0 else None
        self._workers: list[_Worker] = []
        self._count = processes

    def run(self, trials: Iterable[PlannedTrial]) -> Iterator[tuple[PlannedTrial, TrialResult]]:
        """Yields every trial with its result, as they finish; a trial whose process died or took
        too long is invalid with the reason.

        Raises:
            SetupError: the policy cannot be made, or a process ends before its first trial.
        """
        waiting = iter(trials)
        if self._here is not None:
            yield from ((planned, self._here(planned)) for planned in waiting)
            return
        while len(self._workers) < self._count:
            self._workers.append(self._start())
        while True:
            for index, worker in enumerate(self._workers):
                if worker.planned is None and (planned := next(waiting, None)) is not None:
                    if not worker.is_alive:
                        self._workers[index] = worker = self._start()
                    worker.give(planned)
            busy = [worker for worker in self._workers if worker.planned is not None]
            if not busy:
                return
            yield from self._finished(busy)

    def _finished(self, busy: list[_Worker]) -> Iterator[tuple[PlannedTrial, TrialResult]]:
        handles: list[Any] = [worker.connection for worker in busy]
        ready = wait(handles, _LOOKED)
        for worker in busy:
            planned = worker.planned
            assert planned is not None
            if worker.connection in ready:
                if (taken := worker.take()) is None:
                    continue
                result, problem = taken
            elif worker.age < self._most:
                continue
            else:
                worker.stop()
                result, problem = None, f'{TOO_LONG} {self._most:g} s and was ended'
            if result is None:
                result = planned.without_result(self._policy.called, problem, worker.age)
            worker.planned = None
            yield planned, result

    def _start(self) -> _Worker:
        return _Worker(self._policy, self._run, self._recording)

    def close(self) -> None:
        """Ends the processes; a trial in one of them has no result."""
        for worker in self._workers:
            worker.stop()
        self._workers.clear()
        if self._here is not None:
            self._here.close()

    def __enter__(self) -> TrialPool:
        """Returns itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Ends the processes."""
        self.close()


class _Worker:
    """One process; `planned` is the trial that it runs, None: it waits for one."""

    def __init__(
        self, policy: TrialPolicyOptions, run: SceneRunOptions, recording: TrialRecording | None
    ) -> None:
        # Spawned, not forked: a process that draws pictures or runs threads cannot be copied.
        context = multiprocessing.get_context('spawn')
        self.connection, theirs = context.Pipe()
        self._process = context.Process(
            target=_work, args=(theirs, policy, run, recording), daemon=True
        )
        before = os.environ.get('OMP_NUM_THREADS')
        os.environ['OMP_NUM_THREADS'] = '1'  # the processes share the cores already
        try:
            self._process.start()
        finally:
            if before is None:
                del os.environ['OMP_NUM_THREADS']
            else:
                os.environ['OMP_NUM_THREADS'] = before
        theirs.close()
        self.planned: PlannedTrial | None = None
        self._given, self._has_begun = 0.0, False

    @property
    def is_alive(self) -> bool:
        return self._process.is_alive()

    @property
    def age(self) -> float:
        """s since the trial was given."""
        return time.monotonic() - self._given

    def give(self, planned: PlannedTrial) -> None:
        self.planned, self._given = planned, time.monotonic()
        try:
            self.connection.send(planned)
        except OSError:
            pass  # it died; the end of its connection says so

    def take(self) -> tuple[TrialResult | None, str] | None:
        """The result, or None and the reason why there is none; None: the process has just begun.

        Raises:
            SetupError: the policy cannot be made, or the process ended before it began.
        """
        try:
            found = self.connection.recv()
        except (EOFError, OSError) as error:
            self._process.join(5.0)
            code = self._process.exitcode
            self.stop()
            if code is not None and code < 0:
                name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
                return None, f'{KILLED} by {name}'
            if not self._has_begun:
                text = f'a process of trials ended with status {code} at once'
                raise SetupError(f'{text}; {GUARD}') from error
            return None, f'{ENDED} with status {code}'
        if found == _BEGUN:
            self._has_begun = True
            return None
        if isinstance(found, SetupError):
            raise found
        return found, ''

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


def _work(
    connection: Connection,
    policy: TrialPolicyOptions,
    run: SceneRunOptions,
    recording: TrialRecording | None,
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the campaign ends its processes itself
    runner = TrialRunner(policy, run, recording)
    connection.send(_BEGUN)
    while True:
        try:
            planned = connection.recv()
        except EOFError:
            runner.close()
            return
        try:
            connection.send(runner(planned))
        except SetupError as error:
            connection.send(SetupError(str(error)))  # without its cause, which may not be sent
