# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The true scene of a simulated episode, for policies that act without perception."""

from __future__ import annotations

import attrs

Triple = tuple[float, float, float]


@attrs.frozen(kw_only=True)
class KnownObject:
    """An object on the table. Its pose is in the observations, by its name.

    Attributes:
        name: in the scene.
        role: target, receptacle or confounder.
        type: what it is, such as 'cube'.
        shape: box, cylinder, sphere, tray or mesh.
        half_edges: m, of the box about it in its own axes.
        wall: m, of a tray; 0: it is none.
        inside: m, of a mesh that is a container: x, y of the middle of its inside, and z of its
            floor and its rim, in its own axes; None: it is none.
        room: m, half the narrower level edge of that inside.
        mass: kg.
        colour: linear RGB.
    """

    name: str
    role: str
    type: str
    shape: str
    half_edges: Triple
    wall: float = 0.0
    inside: tuple[float, float, float, float] | None = None
    room: float = 0.0
    mass: float
    colour: Triple


@attrs.frozen(kw_only=True)
class KnownScene:
    """A task with all objects.

    Attributes:
        task: pick_up, move_near, put_on or put_in.
        objects: the target first.
    """

    task: str
    objects: tuple[KnownObject, ...]

    @property
    def target(self) -> KnownObject:
        """The object to move."""
        return next(each for each in self.objects if each.role == 'target')

    @property
    def receptacle(self) -> KnownObject | None:
        """The object to which it is moved; None: the task has none."""
        return next((each for each in self.objects if each.role == 'receptacle'), None)
