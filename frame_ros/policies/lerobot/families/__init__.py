# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The families of LeRobot policies that are known, by the type in a checkpoint's config.json."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module

from frame_ros.core.errors import CheckpointError
from frame_ros.policies.lerobot.families.family import Family


@dataclass(frozen=True)
class Entry:
    """A family: its module, the first LeRobot version with it, and the extra with its packages."""

    module: str
    name: str
    since: tuple[int, int] = (0, 4)
    extra: str = ''

    @property
    def requirement(self) -> str:
        """The requirement for pip."""
        extra = f'[{self.extra}]' if self.extra else ''
        return f"'lerobot{extra}>={self.since[0]}.{self.since[1]}'"


FAMILIES: dict[str, Entry] = {
    'act': Entry('act', 'Act'),
    'diffusion': Entry('diffusion', 'Diffusion', extra='diffusion'),
    'vqbet': Entry('vqbet', 'VqBet'),
    'smolvla': Entry('smolvla', 'SmolVla', extra='smolvla'),
    'pi0': Entry('pi', 'Pi0', (0, 6), 'pi'),
    'pi05': Entry('pi', 'Pi05', (0, 6), 'pi'),
    'pi0_fast': Entry('pi0_fast', 'Pi0Fast', (0, 6), 'pi'),
    'groot': Entry('groot', 'Groot', (0, 6), 'groot'),
}


def entry_of(policy_type: str) -> Entry:
    """The entry of the family `policy_type`.

    Raises:
        CheckpointError: it is not known.
    """
    entry = FAMILIES.get(policy_type)
    if entry is None:
        raise CheckpointError(
            f'the checkpoint is a policy of type {policy_type!r}; supported: {", ".join(FAMILIES)}'
        )
    return entry


def family_of(policy_type: str, lerobot_version: str) -> type[Family]:
    """The class of the family `policy_type`.

    lerobot_version: the one installed, such as '0.4.4'.

    Raises:
        CheckpointError: the family is not known, or LeRobot is too old for it.
    """
    entry = entry_of(policy_type)
    if version_pair(lerobot_version) < entry.since:
        raise CheckpointError(
            f'a policy of type {policy_type!r} needs LeRobot {entry.since[0]}.{entry.since[1]} or '
            f'newer (Python 3.12); here is {lerobot_version}. Give it an environment of its own '
            f'(`make policy-environment`, or frame_ros and {entry.requirement}), run `frame-ros '
            "serve` there with this checkpoint, and use the policy 'remote' here"
        )
    module = import_module(f'frame_ros.policies.lerobot.families.{entry.module}')
    family: type[Family] = getattr(module, entry.name)
    return family


def version_pair(version: str) -> tuple[int, int]:
    """'0.4.4' -> (0, 4)."""
    major, minor = version.split('.')[:2]
    return int(major), int(minor)
