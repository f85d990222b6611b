# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The file of a sequential study: its plan and the pairs seen, neither of which may change."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.input_files import load_json, read_text
from frame_ros.core.output_files import write_whole
from frame_ros.evaluation.sequential.pairing import Pair, PairStream
from frame_ros.evaluation.sequential.plan import SequentialPlan

FORMAT = 'frame_ros sequential study 1'


@dataclass(frozen=True)
class KeptStudy:
    """A study as its file holds it.

    Attributes:
        plan: option -> value, made before the first pair.
        first, second: the policies.
        pairs: those seen.
    """

    plan: dict[str, Any]
    first: str
    second: str
    pairs: tuple[Pair, ...]

    def check(self, plan: SequentialPlan, stream: PairStream, path: Path) -> None:
        """Checks that the study only went on.

        Raises:
            SetupError: the plan or a policy is another than at the start, or a pair that was seen
                is another, at another place or missing.
        """
        now = plan.settings()
        changed = [name for name in now if now[name] != self.plan.get(name)]
        if changed:
            was = ', '.join(f'--{name} {self.plan.get(name)}' for name in changed)
            wanted = ', '.join(f'--{name} {now[name]}' for name in changed)
            raise SetupError(
                f'the study of {path} was planned with {was}, not {wanted}; a plan that changes '
                'after outcomes were seen has no error rate: keep it, or begin another study with '
                'new pairs'
            )
        if (self.first, self.second) != (stream.first, stream.second):
            raise SetupError(
                f'the study of {path} compares {self.first} with {self.second}, not '
                f'{stream.first} with {stream.second}'
            )
        for place, seen in enumerate(self.pairs):
            if place >= len(stream.pairs) or stream.pairs[place] != seen:
                there = _words(stream.pairs[place]) if place < len(stream.pairs) else 'missing'
                raise SetupError(
                    f'pair {place + 1} of the study of {path} was {_words(seen)}, and is {there}; '
                    'outcomes that were judged cannot change: correct the file of outcomes, or '
                    'begin another study'
                )


def load_study(path: Path) -> KeptStudy | None:
    """Returns the study that a file holds; None if there is no file yet.

    Raises:
        SetupError: it cannot be read, or holds something else.
    """
    if not path.exists():
        return None
    try:
        content = load_json(read_text(path))
        if content['format'] != FORMAT:
            raise ValueRangeError(f'its format is {content["format"]!r}; {FORMAT!r} is expected')
        pairs = tuple(Pair(str(n), _outcome(a), _outcome(b)) for n, a, b in content['pairs'])
        return KeptStudy(dict(content['plan']), content['first'], content['second'], pairs)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SetupError(
            f'--state {str(path)!r} holds no sequential study: {error!r}; name another file'
        ) from error


def save_study(path: Path, plan: SequentialPlan, stream: PairStream) -> None:
    """Writes the study with all pairs seen.

    Raises:
        SetupError: it cannot be written.
    """
    content = {
        'format': FORMAT,
        'plan': plan.settings(),
        'first': stream.first,
        'second': stream.second,
        'pairs': [[pair.name, pair.first, pair.second] for pair in stream.pairs],
    }
    write_whole(path, json.dumps(content, indent=1) + '\n', '--state')


def _outcome(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueRangeError(f'an outcome is {value!r}; true or false is expected')
    return value


def _words(pair: Pair) -> str:
    outcomes = ['success' if value else 'failure' for value in (pair.first, pair.second)]
    return f'{pair.name!r} ({" and ".join(outcomes)})'
