# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Files next to a bag's storage, perhaps damaged: rosbag2's metadata.yaml, our episode.json."""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any

import yaml

from frame_ros.bags.writer import METADATA_NAME, SIDECAR_NAME
from frame_ros.core.input_files import load_json, read_text
from frame_ros.core.strict_yaml import StrictLoader, load_yaml, yaml_problem


def bag_information(folder: Path) -> dict[str, Any] | None:
    """Returns the content of a bag's metadata.yaml, not to be changed; None if it has none.

    Raises:
        OSError: it cannot be opened, or is too large.
        ValueError: it is not YAML, or not rosbag2's.
    """
    path = folder / METADATA_NAME
    try:
        state = path.stat()
    except FileNotFoundError:
        return None
    information, problem = _information_of(path, state.st_size, state.st_mtime_ns)
    if problem:
        raise ValueError(problem)
    return information


def listed_names(information: dict[str, Any]) -> list[str]:
    """Returns the names of a bag's storage files, in order; none if none is given."""
    return [Path(name).name for name in information.get('relative_file_paths') or ()]


def sidecar_of(folder: Path) -> dict[str, Any]:
    """Returns the content of a bag's episode.json; empty if it has none.

    Raises:
        OSError: it cannot be opened, or is too large.
        ValueError: it is not JSON, or not ours.
    """
    try:
        content = load_json(read_text(folder / SIDECAR_NAME))
    except FileNotFoundError:
        return {}
    if not isinstance(content, dict) or not isinstance(content.get('metadata', {}), dict):
        raise ValueError('a mapping of names and values was expected')
    return content


@lru_cache(maxsize=256)
def _information_of(path: Path, size: int, changed: int) -> tuple[dict[str, Any], str]:
    """Returns the content, or why there is none, of a file of that size (bytes) and time of change
    (ns): each is read once.
    """
    try:
        content = _load(read_text(path))
    except UnicodeDecodeError as error:
        return {}, f'it is not UTF-8: {error}'
    except yaml.YAMLError as error:
        return {}, yaml_problem(error)
    found = content.get('rosbag2_bagfile_information') if isinstance(content, dict) else None
    if not isinstance(found, dict):
        return {}, 'it holds no information on a bag'
    problem = _wrong_content(found)
    return ({}, problem) if problem else (found, '')


class _QuickLoader(StrictLoader):
    """As strict, with libyaml's scanner and parser, several times as fast."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        parser = yaml.cyaml.CParser(text)
        self.check_event, self.peek_event, self.get_event = (
            parser.check_event, parser.peek_event, parser.get_event,
        )  # fmt: skip


def _load(text: str) -> Any:
    """Returns the content as `load_yaml` does, whose words it leaves for what is wrong."""
    if yaml.__with_libyaml__:
        with suppress(
            yaml.YAMLError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError
        ):
            return yaml.load(text, Loader=_QuickLoader)
    return load_yaml(text)


def _wrong_content(information: dict[str, Any]) -> str:
    """Returns why entries that are used are not rosbag2's; '' if they are."""
    names = information.get('relative_file_paths') or []
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        return 'relative_file_paths must be a list of file names'
    if not isinstance(information.get('custom_data') or {}, dict):
        return 'custom_data must be a mapping of names and texts'
    return ''
