# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Scene files, JSON or YAML: read and written to the bit.

A file is a map of `format` (FORMAT), `version` (VERSION), `count` and `scenes`, a list of maps with
the fields of `Scene`. By `count`, their number, which every written file has, it is noticed that a
file was cut, as YAML may be valid then; files written by hand may leave it out. Folders of meshes
are named from the file's own folder where they lie in it, else in full.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import attrs
import yaml

from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.input_files import load_json, read_text
from frame_ros.core.output_files import write_whole
from frame_ros.core.plain_text import counted
from frame_ros.core.strict_yaml import load_yaml, yaml_problem
from frame_ros.core.structuring import structured, unstructured
from frame_ros.scenes.description.scene import Scene

FORMAT = 'frame_ros scenes'
VERSION = 1
HEAD = ('format', 'version', 'count', 'scenes')
LAST = attrs.fields(Scene)[-1].name  # that is written of a scene
JSON_ENDINGS, YAML_ENDINGS = ('.json',), ('.yaml', '.yml')


def read_scenes(path: str | Path) -> tuple[Scene, ...]:
    """Returns the scenes of a file.

    Raises:
        SetupError: it cannot be read, is of another format or version, or a field is wrong; the
            message names file, field, value and what it must be.
    """
    return scenes_of(read_content(path), str(path))


def read_content(path: str | Path) -> Any:
    """Returns the plain content of a JSON or YAML file.

    Raises:
        SetupError: it cannot be read, or its name has another ending.
    """
    file = Path(path).expanduser()
    is_json = _is_json(file)
    try:
        text = read_text(file)
        return load_json(text) if is_json else load_yaml(text)
    except yaml.YAMLError as error:
        raise SetupError(f'{path} is no YAML: {yaml_problem(error)}') from error
    except OSError as error:
        raise SetupError(f'{path} cannot be read: {error.strerror}') from error
    except ValueError as error:  # of JSON, or of a text that is not UTF-8
        raise SetupError(f'{path} is no {"JSON" if is_json else "YAML"} text: {error}') from error


def scenes_of(content: Any, where: str) -> tuple[Scene, ...]:
    """Returns the scenes of a file's content.

    Args:
        where: the file, for errors and for the folders of meshes that it names.

    Raises:
        SetupError: as `read_scenes`.
    """
    if not isinstance(content, Mapping) or content.get('format') != FORMAT:
        found = content.get('format') if isinstance(content, Mapping) else content
        raise SetupError(f'{where}: format is {_short(found)}; it must be {FORMAT!r}')
    version = content.get('version')
    if version is not None and version != VERSION or type(version) is not int:
        raise SetupError(f'{where}: version is {version!r}; this release reads {VERSION}')
    if set(content) | {'count'} != set(HEAD) or not isinstance(content['scenes'], list):
        found = ', '.join(map(str, content))
        raise SetupError(
            f'{where} has the fields {found}; expected are format, version, scenes, the last a '
            'list, and perhaps count, their number'
        )
    if 'count' in content:
        _check_whole(content['count'], content['scenes'], where)
    scenes, folder = [], Path(where).expanduser().parent.resolve()
    for index, each in enumerate(content['scenes']):
        try:
            # Written in one way, however the file is named: campaigns compare scenes.
            placed = _with_folders(each, lambda mesh: os.path.normpath(folder / mesh))
            scenes.append(structured(Scene, placed, f'scenes[{index}]'))
        except FrameRosError as error:
            raise SetupError(f'{where}: {error}') from error
    return tuple(scenes)


def write_scenes(path: str | Path, scenes: Sequence[Scene]) -> None:
    """Writes scenes to a JSON or YAML file, by its ending, whole or not at all.

    Raises:
        SetupError: it cannot be written, or its name has another ending.
    """
    file = Path(path).expanduser()
    text = scenes_text(scenes, _is_json(file), file.parent.resolve())
    write_whole(file, text, 'the scenes')


def scenes_text(scenes: Sequence[Scene], is_json: bool = True, folder: Path | None = None) -> str:
    """Returns the text of a scene file, from which the same scenes are read.

    folder: in which it will lie; None: any, so that folders of meshes are named in full.
    """

    def named(mesh: str) -> Path:
        path = Path(mesh)
        inside = folder is not None and path.is_relative_to(folder)
        return path.relative_to(folder) if folder and inside else path

    plain = [_with_folders(unstructured(scene), named) for scene in scenes]
    content = dict(zip(HEAD, (FORMAT, VERSION, len(plain), plain), strict=True))
    if is_json:
        return json.dumps(content, indent=1, allow_nan=False, ensure_ascii=False) + '\n'
    return yaml.safe_dump(
        content, sort_keys=False, default_flow_style=None, allow_unicode=True, width=100
    )


def _check_whole(count: Any, scenes: Sequence[Any], where: str) -> None:
    """Raises SetupError if a written file lacks what was at its end."""
    remedy = 'the file was cut, or count was not changed with them'
    if type(count) is not int or count != len(scenes):
        raise SetupError(
            f'{where}: count is {count!r}, and the file holds {counted(len(scenes), "scene")}: '
            f'{remedy}'
        )
    if scenes and isinstance(scenes[-1], Mapping) and LAST not in scenes[-1]:
        raise SetupError(
            f'{where}: scenes[{count - 1}] has no {LAST}, which is the last field of a file with '
            'count: the file was cut, or count must go, as in a file written by hand'
        )


def _with_folders(scene: Any, named: Callable[[str], str | Path]) -> Any:
    """Returns the content of a scene with the folders of its meshes named otherwise."""
    objects = scene.get('objects') if isinstance(scene, Mapping) else None
    if not isinstance(objects, list):
        return scene

    def changed(each: Any) -> Any:
        shape = each.get('shape') if isinstance(each, Mapping) else None
        mesh = shape.get('mesh') if isinstance(shape, Mapping) else None
        if shape is None or not isinstance(mesh, str) or not mesh:
            return each
        return {**each, 'shape': {**shape, 'mesh': str(named(mesh))}}

    return {**scene, 'objects': [changed(each) for each in objects]}


def check_ending(file: Path) -> None:
    """Raises SetupError unless a file's name ends as that of a scene file."""
    _is_json(file)


def _is_json(file: Path) -> bool:
    ending = file.suffix.lower()
    if ending not in JSON_ENDINGS + YAML_ENDINGS:
        raise SetupError(
            f'{str(file)!r} ends in {ending!r}; a scene file ends in '
            f'{", ".join(JSON_ENDINGS + YAML_ENDINGS)}'
        )
    return ending in JSON_ENDINGS


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 80 else f'{text[:77]}...'
