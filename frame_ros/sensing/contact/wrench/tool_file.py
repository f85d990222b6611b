# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The file of a tool: mass, centre of mass, and the axes of the sensor in which they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from frame_ros.core.errors import SetupError
from frame_ros.core.input_files import read_text
from frame_ros.core.output_files import write_whole
from frame_ros.core.strict_yaml import load_yaml
from frame_ros.sensing.contact.sensor_mount import SensorMount, given_mount
from frame_ros.sensing.contact.wrench.tool_model import HEAVIEST, Tool, Vector

_KEYS = ('mass', 'centre_of_mass', 'inertia')
_MOUNT_KEYS = ('link', 'rpy', 'xyz')


@dataclass(frozen=True)
class ToolMount:
    """The axes of the sensor that a tool was identified with.

    Attributes:
        link: in which they are given.
        rpy: rad, as wrench.mount_rpy.
        xyz: m, the sensor's origin there, as wrench.mount_xyz; None: only the axes are known.
    """

    link: str
    rpy: Vector = (0.0, 0.0, 0.0)
    xyz: Vector | None = None

    def pose(self) -> SensorMount:
        """Returns the mount, at the link's origin where the sensor's is not known."""
        found = given_mount(self.link, self.xyz or (0.0, 0.0, 0.0), self.rpy)
        assert found is not None
        return found

    def __str__(self) -> str:
        """Writes the axes for messages."""
        turned = f', mount_rpy {", ".join(f"{v:.4g}" for v in self.rpy)}' if any(self.rpy) else ''
        return f'{self.link}{turned}'


@dataclass(frozen=True)
class ToolFile:
    """A tool, and the mount of its sensor; None: the file says nothing of it, as older ones."""

    tool: Tool
    mount: ToolMount | None = None


def read_tool(path: str | Path) -> Tool:
    """Returns the tool of a file; raises as `read_tool_file`."""
    return read_tool_file(path).tool


def read_tool_file(path: str | Path) -> ToolFile:
    """Reads a YAML file with an entry `tool`: mass (kg), centre_of_mass (3, m), optional inertia
    (6, kg m^2); and an optional entry `mount`: link, rpy (3, rad), optional xyz (3, m).

    Raises:
        SetupError: the file cannot be read, or is not a tool.
    """
    try:
        found = load_yaml(read_text(Path(path).expanduser()))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise SetupError(f'the tool file {path} cannot be read: {error}') from error
    entries = found.get('tool') if isinstance(found, dict) else None
    if not isinstance(entries, dict) or 'mass' not in entries or 'centre_of_mass' not in entries:
        raise SetupError(
            f'{path} is not a tool file: an entry `tool` with `mass` (kg) and `centre_of_mass` '
            f'(3 numbers, m) is expected'
        )
    _refuse_others(path, 'tool', entries, _KEYS)
    try:
        inertia = entries.get('inertia', [0.0] * 6)
        tool = Tool(
            float(entries['mass']), _vector(entries['centre_of_mass']), tuple(map(float, inertia))
        )
    except (TypeError, ValueError) as error:
        raise SetupError(f'{path}: the tool cannot be read: {error}') from error
    if tool.mass > HEAVIEST:
        raise SetupError(
            f'{path}: the tool has a mass of {tool.mass:g} kg, more than {HEAVIEST:g}: was it in '
            'grams?'
        )
    return ToolFile(tool, _mount(path, found['mount']) if found.get('mount') else None)


def _mount(path: str | Path, entries: Any) -> ToolMount:
    if not isinstance(entries, dict) or not isinstance(entries.get('link'), str):
        raise SetupError(f'{path}: a mount has a `link`, `rpy` (3 numbers, rad) and `xyz` (m)')
    _refuse_others(path, 'mount', entries, _MOUNT_KEYS)
    try:
        xyz = _vector(entries['xyz']) if 'xyz' in entries else None
        return ToolMount(entries['link'], _vector(entries.get('rpy', (0.0, 0.0, 0.0))), xyz)
    except (TypeError, ValueError) as error:
        raise SetupError(f'{path}: the mount cannot be read: {error}') from error


def _refuse_others(path: str | Path, what: str, entries: Mapping[Any, Any], keys: Any) -> None:
    if unknown := sorted(set(entries) - set(keys), key=str):
        raise SetupError(
            f'{path}: a {what} has no entry {", ".join(map(repr, unknown))}; it has '
            f'{", ".join(keys)}'
        )


def _vector(values: Any) -> Vector:
    x, y, z = map(float, values)
    return x, y, z


def write_tool(
    path: str | Path, tool: Tool, comment: str = '', mount: ToolMount | None = None
) -> None:
    """Writes a tool for `read_tool_file`, with a comment above it.

    Raises:
        SetupError: the file cannot be written.
    """
    entries: dict[str, Any] = {
        'tool': {
            'mass': float(tool.mass),
            'centre_of_mass': [float(value) for value in tool.centre_of_mass],
            'inertia': [float(value) for value in tool.inertia],
        }
    }
    head = ''.join(f'# {line}'.rstrip() + '\n' for line in comment.splitlines())
    head += '# mass in kg, centre_of_mass in m, inertia (ixx ixy ixz iyy iyz izz) in kg m^2 about\n'
    head += '# it; all in the axes of the force-torque sensor, from its origin.\n'
    if mount is not None:
        head += '# mount: these axes in a link, rpy in rad, xyz in m; without xyz only the axes.\n'
        entries['mount'] = {'link': mount.link, 'rpy': [float(value) for value in mount.rpy]}
        if mount.xyz is not None:
            entries['mount']['xyz'] = [float(value) for value in mount.xyz]
    body = yaml.safe_dump(entries, sort_keys=False, default_flow_style=None)
    write_whole(Path(path).expanduser(), head + body, 'the tool')
