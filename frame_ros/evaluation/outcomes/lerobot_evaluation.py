# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Outcomes from the `eval_info.json` of LeRobot's `lerobot-eval`.

Two forms are known. `eval_policy` returns {"per_episode": [{"episode_ix", "sum_reward",
"max_reward", "success", "seed"}, ...], "aggregated": ...}. `eval_policy_all`, whose result
lerobot-eval 0.4 to 0.6 writes, has {"per_task": [{"task_group", "task_id", "metrics":
{"successes": [...], ...}}, ...], "per_group": ..., "overall": ...}, and no seeds: episode i of
every task had the seed `--seed` + i.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from frame_ros.core.errors import SetupError, ValueRangeError
from frame_ros.core.input_files import load_json, read_text
from frame_ros.evaluation.outcomes.episode_outcome import EpisodeOutcome, LabelSource

USUAL_NAME = 'eval_info'
EXPECTED = (
    'expected: the eval_info.json of lerobot-eval, with per_episode (a list of success and seed) '
    'or per_task (a list of task_group, task_id and metrics with successes)'
)


def read_lerobot_evaluation(
    path: str | Path, policy: str = '', by_position: bool = False
) -> tuple[list[EpisodeOutcome], list[str]]:
    """Returns the outcomes of a file of lerobot-eval, in its order, and remarks for the reader.

    It holds no times: `operations` are empty, `duration` is NaN.

    Args:
        policy: its label, which the file does not hold; '': `policy_of_file`.
        by_position: the n-th episodes of a task in several files without seeds are a pair, as if
            they had been run with the same --seed.

    Raises:
        SetupError: the file cannot be read.
        ValueRangeError: it is not such a file, or a value in it cannot be.
    """
    path = Path(path).expanduser()
    content = _content(path)
    label = policy or policy_of_file(path)
    if 'per_task' in content:
        outcomes = list(_of_tasks(content['per_task'], path, label, by_position))
    elif 'per_episode' in content:
        outcomes = list(_of_episodes(content['per_episode'], path, label, by_position))
    else:
        raise ValueRangeError(f'{path} has {", ".join(map(str, content)) or "nothing"}; {EXPECTED}')
    if not outcomes:
        raise ValueRangeError(f'{path} holds no episode; {EXPECTED}')
    unpaired = sum(not outcome.pair for outcome in outcomes)
    if not unpaired:
        return outcomes, []
    text = 'of its episodes have no seed and are not paired; --pair-by-position pairs the n-th ones'
    return outcomes, [f'{path}: {unpaired} {text} of each task, if all were run with one --seed']


def policy_of_file(path: Path) -> str:
    """Returns the label of a policy after its file: `act` of eval_info_act.json, else the name of
    the folder of an eval_info.json, else the file's name.
    """
    if path.stem == USUAL_NAME:
        return path.absolute().parent.name
    return path.stem.removeprefix(f'{USUAL_NAME}_') or path.stem


def _content(path: Path) -> Mapping[str, Any]:
    try:
        content = load_json(read_text(path))
    except UnicodeDecodeError as error:
        raise SetupError(f'{path} cannot be read: it is not UTF-8: {error}') from error
    except ValueError as error:
        raise ValueRangeError(f'{path} is not JSON: {error}') from error
    except OSError as error:
        raise SetupError(f'{path} cannot be read: {error}') from error
    if not isinstance(content, dict):
        raise ValueRangeError(f'{path} holds no mapping; {EXPECTED}')
    return content


def _of_tasks(tasks: Any, path: Path, policy: str, by_position: bool) -> Iterator[EpisodeOutcome]:
    seen: dict[str, int] = {}
    for place, task in enumerate(_list(tasks, path, 'per_task')):
        where = f'per_task[{place}]'
        metrics = _mapping(_mapping(task, path, where).get('metrics'), path, f'{where}.metrics')
        name = f'{task.get("task_group", "")} {task.get("task_id", "")}'.strip()
        if seen.setdefault(name, place) != place:
            raise ValueRangeError(f'{path}: {where} is the task {name!r} of per_task[{seen[name]}]')
        where = f'{where}.metrics.successes'
        for number, success in enumerate(_list(metrics.get('successes'), path, where)):
            is_success = _truth(success, path, f'{where}[{number}]')
            pair = f'episode {number}' if by_position else ''
            yield _outcome(path, policy, name, number, is_success, pair)


def _of_episodes(rows: Any, path: Path, policy: str, by_position: bool) -> Iterator[EpisodeOutcome]:
    seeds: dict[int, int] = {}
    for place, row in enumerate(_list(rows, path, 'per_episode')):
        where = f'per_episode[{place}]'
        is_success = _truth(_mapping(row, path, where).get('success'), path, f'{where}.success')
        number, seed = row.get('episode_ix', place), row.get('seed')
        for name, value in (('episode_ix', number), ('seed', seed)):
            if not (value is None and name == 'seed') and not _is_whole(value):
                raise ValueRangeError(
                    f'{path}: {where}.{name} is {value!r}; expected: a whole number'
                )
        if seed is not None and seeds.setdefault(seed, place) != place:
            raise ValueRangeError(
                f'{path}: {where}.seed is {seed}, as is that of per_episode[{seeds[seed]}]; '
                'expected: a seed of its own for each episode'
            )
        position = f'episode {number}' if by_position else ''
        yield _outcome(
            path, policy, '', number, is_success, position if seed is None else f'seed {seed}'
        )


def _outcome(
    path: Path, policy: str, task: str, number: int, is_success: bool, pair: str
) -> EpisodeOutcome:
    return EpisodeOutcome(
        name=' '.join(filter(None, (policy, task, f'episode {number}'))),
        policy=policy,
        object='',
        task=task,
        duration=math.nan,
        operations=(),
        is_success=is_success,
        pair=pair,
        label_source=LabelSource.FILE,
        source=path,
    )


def _list(value: Any, path: Path, where: str) -> list[Any]:
    if not isinstance(value, list):
        raise ValueRangeError(f'{path}: {where} is {_short(value)}; expected: a list')
    return value


def _mapping(value: Any, path: Path, where: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueRangeError(f'{path}: {where} is {_short(value)}; expected: a mapping')
    return value


def _truth(value: Any, path: Path, where: str) -> bool:
    if isinstance(value, bool) or (isinstance(value, int | float) and value in (0, 1)):
        return bool(value)
    raise ValueRangeError(f'{path}: {where} is {_short(value)}; expected: true or false')


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _short(value: Any) -> str:
    return 'missing' if value is None else repr(value)[:60]
