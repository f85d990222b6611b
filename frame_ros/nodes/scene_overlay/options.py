# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The scene_overlay node's options."""

from __future__ import annotations

from pathlib import PurePosixPath

from frame_ros.core.options import option, options, rule
from frame_ros.robots.options import FrameOptions, RobotOptions

OF_SCENE = 'scene'  # extrinsics that are those of the scene's own camera
MOST_RATE = 60.0  # Hz


@options
class SceneOverlayOptions(FrameOptions, RobotOptions):
    """Scene overlay node: the objects of a scene as ghosts in a camera's images, for an operator
    who sets the scene up.
    """

    scenes_file: str = option('', 'scene file, JSON or YAML, as of `frame-ros scenes generate`')
    scene: str = option('1', 'name of the scene, or its number from 1', live=True)
    scene_topic: str = option(
        '',
        "topic of the scene that a simulator runs, std_msgs/String, which is drawn then; '': none",
    )
    camera: str = option('front', 'camera into whose images the objects are drawn')
    image_topic: str = option('', "its images; '': <camera>/image_raw")
    info_topic: str = option('', "its camera_info; '': camera_info next to the images")
    extrinsics: str = option(
        '',
        'link x y z roll pitch yaw (or quaternion x y z w), m and rad, of its optical frame; '
        f"{OF_SCENE}: the pose of the scene's own camera of that name; '': from tf",
    )
    transform_age: float = option(
        0.05,
        'difference in time of a moving transform above the camera from the image',
        unit='s',
        at_least=0.0,
        at_most=1.0,
    )
    joint_age: float = option(
        0.2,
        'age of the joint states with which a camera on the arm is placed',
        unit='s',
        above=0.0,
        live=True,
    )
    rate: float = option(
        10.0, 'largest rate of the images', unit='Hz', above=0.0, at_most=MOST_RATE, live=True
    )
    opacity: float = option(
        0.45, "opacity of the objects' surfaces", at_least=0.0, at_most=1.0, live=True
    )
    object_topic: str = option(
        '',
        'pose of the target as it is, geometry_msgs/PoseStamped in the base frame, such as '
        "ground_truth/object_pose, whose offset is written; '': none",
    )

    @rule('scenes_file', 'the path of a scene file')
    def _has_scenes(self) -> bool:
        return not self.scenes_file or bool(self.scenes_file.strip())

    @property
    def images(self) -> str:
        """The topic of the images."""
        return self.image_topic or f'{self.camera}/image_raw'

    @property
    def infos(self) -> str:
        """The topic of camera_info."""
        return self.info_topic or str(PurePosixPath(self.images).parent / 'camera_info')

    @property
    def is_rectified(self) -> bool:
        """True if the images are those of a pinhole camera, by the topic's last name."""
        return 'rect' in self.images.rsplit('/', 1)[-1]
