# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Checks that a robot's profile fits its URDF."""

from __future__ import annotations

import math
from collections.abc import Iterator

from frame_ros.core.errors import RobotError
from frame_ros.core.options import nearest
from frame_ros.robots.description import RobotDescription
from frame_ros.robots.profile import RobotProfile


def check_profile(profile: RobotProfile, urdf: RobotDescription) -> None:
    """Checks the links, joints and positions that a profile names.

    Raises:
        RobotError: the URDF has no such link or joint, or other limits.
    """
    moving = {joint.name: joint for joint in urdf.joints if joint.is_moving}
    for what, names, known in (
        ('link of its URDF', _links(profile), urdf.links),
        ('link of its URDF, nor one of tips', _tips(profile), (*profile.tips, *urdf.links)),
        ('joint of its URDF', _joints(profile), tuple(moving)),
        ('joint of its URDF that can be commanded', _grippers(profile), tuple(urdf.joint_limits)),
    ):
        for field, name in names:
            if name and name not in known:
                near = nearest(name, known)
                hint = f'did you mean {near!r}?' if near else f'there are {", ".join(known)}'
                raise RobotError(f'{profile.label}: {name!r} in {field} is no {what}; {hint}')
    for field, name, value in _positions(profile):
        joint = moving[name]
        if not joint.lower <= value <= joint.upper:
            raise RobotError(
                f'{profile.label}: {field} is {value}; the limits of {name} in its URDF are '
                f'{joint.lower} and {joint.upper}'
            )
    for name, rates in profile.rates.items():
        if moving[name].velocity < rates.velocity < math.inf:
            raise RobotError(
                f'{profile.label}: rates.{name}.velocity is {rates.velocity}; the URDF allows '
                f'{moving[name].velocity}, so it must be that or less'
            )


def _links(profile: RobotProfile) -> Iterator[tuple[str, str]]:
    yield from ((f'tips.{name}', link) for name, link in profile.tips.items())
    yield from (('finger_links', link) for link in profile.finger_links)
    yield 'sensor_link', profile.sensor_link
    if profile.tracking:
        yield 'tracking.tip', profile.tracking.tip
    yield from ((f'cameras.{name}', str(mount[0])) for name, mount in profile.cameras.items())
    if profile.simulation:
        yield from (('simulation.watched_links', link) for link in profile.simulation.watched_links)
        for name, camera in profile.simulation.cameras.items():
            yield f'simulation.cameras.{name}.link', camera.link


def _tips(profile: RobotProfile) -> Iterator[tuple[str, str]]:
    if profile.simulation:
        yield 'simulation.tip', profile.simulation.tip
        if scripted := profile.simulation.scripted:
            yield 'simulation.scripted.tip', scripted.tip


def _joints(profile: RobotProfile) -> Iterator[tuple[str, str]]:
    yield from (('rates', joint) for joint in profile.rates)
    for name, posture in profile.postures.items():
        yield from ((f'postures.{name}', joint) for joint in posture)


def _grippers(profile: RobotProfile) -> Iterator[tuple[str, str]]:
    if profile.gripper:
        yield 'gripper.joint', profile.gripper.joint


def _positions(profile: RobotProfile) -> Iterator[tuple[str, str, float]]:
    for name, posture in profile.postures.items():
        yield from ((f'postures.{name}.{joint}', joint, at) for joint, at in posture.items())
    if gripper := profile.gripper:
        for field in ('closed', 'opened', 'empty'):
            yield f'gripper.{field}', gripper.joint, getattr(gripper, field)
