# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Runs many seeded trials in several processes, and stores each result at once."""

from __future__ import annotations

import importlib
import json
import math
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from frame_ros.core.errors import FrameRosError, SetupError, ValueRangeError
from frame_ros.core.input_files import UNPACKED_PART, load_json, read_text
from frame_ros.core.output_files import appending

FORMAT = 'frame_ros campaign 1'
RESULTS = 'results.jsonl'
Result = dict[str, Any]


@dataclass(frozen=True)
class Trial:
    """A run that its fields determine: the same trial gives the same result.

    Attributes:
        kind: of trial, a key of the campaign's functions.
        robot: name.
        seed: 0 or more.
        settings: everything else that the run depends on, plain JSON values.
    """

    kind: str
    robot: str
    seed: int
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """A text that distinguishes this trial from all others."""
        settings = json.dumps(dict(self.settings), sort_keys=True, allow_nan=False)
        return f'{self.kind}/{self.robot}/{self.seed}/{settings}'


@dataclass(frozen=True)
class Outcome:
    """A trial and its `result`, plain JSON values with None for unavailable ones; or, if it could
    not be run, `problem`, and an empty result.
    """

    trial: Trial
    result: Result
    problem: str = ''


class Campaign:
    """Trials of several kinds, their results in a folder.

    Args:
        functions: kind -> 'module:function', a function that takes a Trial and returns a mapping of
            plain JSON values (NaN becomes None). By name, so that another process finds it.
        folder: of results.jsonl, to which every trial is written at once; an interrupted campaign
            continues with the missing ones. None: results are only returned.
        versions: kind -> the version of what its trials judge. A result carries it, and those of
            another version are not taken; '' for kinds that are not among them.
    """

    def __init__(
        self,
        functions: Mapping[str, str],
        folder: Path | None = None,
        versions: Mapping[str, str] | None = None,
    ) -> None:
        """Raises SetupError for a function that cannot be found."""
        for name in functions.values():
            _function(name)
        self._functions = dict(functions)
        self._versions = dict(versions or {})
        self._path = None if folder is None else Path(folder) / RESULTS

    def run(
        self,
        trials: Iterable[Trial],
        workers: int = 1,
        progress: Callable[[Iterable[Outcome]], Iterable[Outcome]] = iter,
    ) -> list[Outcome]:
        """Returns the outcome of every trial, in their order.

        A trial that raises is an outcome with a problem, so that one impossible scene does not end
        a night's work. It is not stored, so it is tried again next time.

        Args:
            trials: all different.
            workers: processes; 1 runs them in this one.
            progress: wraps the loop over outcomes as they come.

        Raises:
            ValueRangeError: two trials are equal, a kind is unknown, or workers is below 1.
            SetupError: results.jsonl is not of a campaign, or cannot be written.
        """
        wanted = self._checked(trials, workers)
        found = {outcome.trial.key: outcome for outcome in self.kept()}
        waiting = [trial for trial in wanted if trial.key not in found]
        for outcome in progress(self._outcomes(waiting, workers)):
            found[outcome.trial.key] = outcome
            if not outcome.problem:
                self._keep(outcome)
        return [found[trial.key] for trial in wanted]

    def kept(self) -> list[Outcome]:
        """The outcomes of the present version that are in the folder.

        Raises:
            SetupError: the file is not of a campaign. A last line that was cut is left out.
        """
        return [
            outcome for outcome, version in self._stored() if self._is_present(outcome, version)
        ]

    def of_other_versions(self) -> int:
        """Returns how many results in the folder are of another version; they are not taken.

        Raises:
            SetupError: the file is not of a campaign.
        """
        return sum(not self._is_present(*stored) for stored in self._stored())

    def _is_present(self, outcome: Outcome, version: str) -> bool:
        return version == self._versions.get(outcome.trial.kind, '')

    def _stored(self) -> list[tuple[Outcome, str]]:
        """Outcomes in the folder, with the version that they are of."""
        if self._path is None or not self._path.is_file():
            return []
        lines = read_text(self._path, UNPACKED_PART).split('\n')
        outcomes = []
        for number, line in enumerate(lines, 1):
            if not line:
                continue
            try:
                outcomes.append(_parse(line))
            except (ValueError, KeyError, TypeError) as error:
                if number == len(lines):
                    break  # cut while it was written
                raise SetupError(
                    f'{self._path}, line {number} is not a result of a campaign ({error}); give '
                    'another folder, or remove the file'
                ) from error
        return outcomes

    def _checked(self, trials: Iterable[Trial], workers: int) -> list[Trial]:
        wanted = list(trials)
        if workers < 1:
            raise ValueRangeError(f'{workers} workers; 1 or more are expected')
        if len({trial.key for trial in wanted}) < len(wanted):
            raise ValueRangeError('two trials of the campaign are alike: give them other seeds')
        unknown = sorted({trial.kind for trial in wanted} - set(self._functions))
        if unknown:
            known = ', '.join(self._functions)
            raise ValueRangeError(f'no trials of the kind {unknown[0]!r}; there are {known}')
        return wanted

    def _outcomes(self, trials: Sequence[Trial], workers: int) -> Iterator[Outcome]:
        if workers == 1:
            for trial in trials:
                yield run_trial(trial, self._functions[trial.kind])
            return
        # Spawned, not forked: a process that draws pictures or runs threads cannot be copied.
        context = multiprocessing.get_context('spawn')
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            rest = iter(trials)
            running: set[Future[Outcome]] = set()
            while True:
                for new in islice(rest, 2 * workers - len(running)):
                    running.add(pool.submit(run_trial, new, self._functions[new.kind]))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()

    def _keep(self, outcome: Outcome) -> None:
        if self._path is None:
            return
        trial = outcome.trial
        line = {
            'format': FORMAT, 'kind': trial.kind, 'robot': trial.robot, 'seed': trial.seed,
            'settings': dict(trial.settings), 'result': outcome.result,
            'version': self._versions.get(trial.kind, ''),
        }  # fmt: skip
        text = json.dumps(line, allow_nan=False) + '\n'
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with appending(self._path) as file:
                _end_last_line(file)
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise SetupError(f'{self._path} cannot be written: {error.strerror}') from error


def run_trial(trial: Trial, function: str) -> Outcome:
    """Runs one trial; any error becomes its problem, in words."""
    try:
        return Outcome(trial, json_values(dict(_function(function)(trial))))
    except FrameRosError as error:
        return Outcome(trial, {}, str(error))
    except Exception as error:
        return Outcome(trial, {}, f'{type(error).__name__}: {error}')


def json_values(value: Any) -> Any:
    """Nested values as JSON has them: numpy's as Python's, numbers that are not finite as None."""
    if isinstance(value, Mapping):
        return {str(name): json_values(item) for name, item in value.items()}
    if hasattr(value, 'tolist'):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [json_values(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _function(name: str) -> Callable[[Trial], Mapping[str, Any]]:
    module, _, attribute = name.partition(':')
    try:
        found: Callable[[Trial], Mapping[str, Any]] = getattr(
            importlib.import_module(module), attribute
        )
    except (ImportError, AttributeError, ValueError) as error:
        raise SetupError(
            f'{name!r} is not a function of trials, as module:function ({error})'
        ) from error
    return found


def _parse(line: str) -> tuple[Outcome, str]:
    content = load_json(line)
    if content['format'] != FORMAT:
        raise ValueError(f'its format is {content["format"]!r}, not {FORMAT!r}')
    trial = Trial(content['kind'], content['robot'], int(content['seed']), content['settings'])
    return Outcome(trial, dict(content['result'])), str(content.get('version', ''))


def _end_last_line(file: BinaryIO) -> None:
    """Removes an incomplete last line, so that the next one begins at its place."""
    end = file.seek(0, os.SEEK_END)
    file.seek(max(end - 1, 0))
    if file.read(1) in (b'', b'\n'):
        return
    file.seek(0)
    file.truncate(file.read().rfind(b'\n') + 1)
