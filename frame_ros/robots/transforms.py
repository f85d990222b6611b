# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Poses through a tree of stamped transforms, as tf publishes them."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import isfinite, sqrt

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w
HISTORY = 500  # transforms kept of a moving frame
MOST_FRAMES = 256  # a longer chain is a loop


def turned(q: Quaternion, v: Vector) -> Vector:
    """Returns the vector turned by the unit quaternion."""
    x, y, z, w = q
    tx, ty, tz = 2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0])
    return (
        v[0] + w * tx + y * tz - z * ty,
        v[1] + w * ty + z * tx - x * tz,
        v[2] + w * tz + x * ty - y * tx,
    )


def product(a: Quaternion, b: Quaternion) -> Quaternion:
    """Returns the rotation b, then a."""
    ax, ay, az, aw = a
    bx, by, bz, bw = b
    return (
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    )


@dataclass(frozen=True)
class Transform:
    """The pose of a frame in its parent: translation (m), unit quaternion xyzw; stamp in ns."""

    stamp: int
    translation: Vector
    rotation: Quaternion

    def after(self, outer: Transform) -> Transform:
        """Returns the same pose in the frame that `outer` is in, with the same stamp."""
        x, y, z = turned(outer.rotation, self.translation)
        u, v, w = outer.translation
        rotation = product(outer.rotation, self.rotation)
        return Transform(self.stamp, (x + u, y + v, z + w), rotation)

    def inverse(self) -> Transform:
        """Returns the pose of the parent in the frame."""
        x, y, z, w = self.rotation
        back = (-x, -y, -z, w)
        a, b, c = turned(back, self.translation)
        return Transform(self.stamp, (-a, -b, -c), back)


IDENTITY = Transform(0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


@dataclass
class _Frame:
    parent: str
    is_static: bool
    newest: deque[Transform] = field(default_factory=lambda: deque(maxlen=HISTORY))

    def at(self, stamp: int) -> Transform | None:
        """Returns the newest transform at or before a stamp."""
        if self.is_static:
            return self.newest[-1]
        index = bisect_right(self.newest, stamp, key=lambda transform: transform.stamp)
        return self.newest[index - 1] if index else None


class TransformTree:
    """Frames, each in its parent, over time. A pose is taken at the newest instant that every
    moving transform between the two frames has reached, each being the newest at or before it,
    without interpolation or extrapolation.
    """

    def __init__(self) -> None:
        self._frames: dict[str, _Frame] = {}

    def add(
        self,
        parent: str,
        child: str,
        stamp: int,
        translation: Sequence[float],
        rotation: Sequence[float],
        is_static: bool = False,
    ) -> bool:
        """Takes a transform: the pose of `child` in `parent`, position (m) and quaternion xyzw of
        any length; stamp in ns.

        Returns whether it can be used: finite, the quaternion not zero, and, of a moving frame,
        newer than the one before. A stamp more than 10 s back means that the clock was reset.
        """
        parent, child = parent.lstrip('/'), child.lstrip('/')
        x, y, z = map(float, translation)
        quaternion = tuple(map(float, rotation))
        norm = sqrt(sum(v * v for v in quaternion))
        if not (isfinite(x + y + z) and isfinite(norm) and norm > 1e-6) or not child or not parent:
            return False
        frame = self._frames.get(child)
        if frame is None or frame.parent != parent or frame.is_static != is_static:
            frame = self._frames[child] = _Frame(parent, is_static)
        if frame.newest and not is_static and stamp <= frame.newest[-1].stamp:
            if frame.newest[-1].stamp - stamp < 10_000_000_000:
                return False
            frame.newest.clear()
        a, b, c, d = (v / norm for v in quaternion)
        frame.newest.append(Transform(stamp, (x, y, z), (a, b, c, d)))
        return True

    def pose_of(self, frame: str, base: str) -> Transform | None:
        """Returns the pose of a frame in another one; None while they are not connected, see
        `problem`.

        Its stamp is the instant of the pose; if nothing moves, the newest stamp on the way.
        """
        chains = self._chains(frame, base)
        if isinstance(chains, str):
            return None
        up, down = chains
        links = [self._frames[name] for name in (*up, *down)]
        moving = [link.newest[-1].stamp for link in links if not link.is_static]
        fixed = [link.newest[-1].stamp for link in links if link.is_static]
        stamp = min(moving) if moving else max(fixed, default=0)
        poses = []
        for chain in (up, down):
            pose = IDENTITY
            for name in chain:
                outer = self._frames[name].at(stamp)
                if outer is None:
                    return None
                pose = pose.after(outer)
            poses.append(pose)
        found = poses[0].after(poses[1].inverse())
        return Transform(stamp, found.translation, found.rotation)

    def problem(self, frame: str, base: str) -> str:
        """Returns why there is no pose, in words; empty: the frames are connected."""
        chains = self._chains(frame, base)
        return chains if isinstance(chains, str) else ''

    def _chains(self, frame: str, base: str) -> tuple[list[str], list[str]] | str:
        """Returns the frames from either one up to, without, the first common ancestor."""
        frame, base = frame.lstrip('/'), base.lstrip('/')
        up, down = self._ancestors(frame), self._ancestors(base)
        for name, chain in ((frame, up), (base, down)):
            if len(chain) > MOST_FRAMES:
                return f'the transforms above the frame {name!r} form a loop'
        common = next((name for name in up if name in down), None)
        if common is None:
            return (
                f'tf does not connect the frame {frame!r} with {base!r}: '
                f'above them are {up[-1]!r} and {down[-1]!r}'
            )
        return up[: up.index(common)], down[: down.index(common)]

    def _ancestors(self, name: str) -> list[str]:
        """Returns the frame itself and all above it."""
        names = [name]
        while name in self._frames and len(names) <= MOST_FRAMES:
            name = self._frames[name].parent
            names.append(name)
        return names
