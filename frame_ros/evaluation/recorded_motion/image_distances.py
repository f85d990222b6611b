# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances that are measured in recorded depth images of a real arm, and what they should be.

The reference knows nothing of the self-filter: the distance of the makers' meshes to the nearest
valid pixel that lies farther from the arm's mask than a camera smears.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from frame_ros.core.time import SECOND
from frame_ros.evaluation.recorded_motion.arm_images import ArmImage, ArmImages
from frame_ros.robots.link_frames import LinkFrames
from frame_ros.sensing.proximity.cameras.trusted_padding import TrustedPadding
from frame_ros.sensing.proximity.depth.detector import DepthProximity
from frame_ros.sensing.proximity.depth.options import DepthOptions

Array = NDArray[np.float64]
SMEARED = 0.044  # rad about the mask that the reference leaves out
LOWEST = 0.01  # m, of what it takes: the plane that the base stands on is none
FALSE, APART = 0.1, 0.03  # m


@dataclass(frozen=True)
class JudgedImage:
    """One image.

    Attributes:
        refusal: why the camera gives nothing; '': it does.
        padding: m of the self-filter.
        measured, reference: (L,) m of each link that is judged; NaN: not measured, infinite: there
            is nothing.
    """

    refusal: str
    padding: float
    measured: Array
    reference: Array

    @property
    def is_measured(self) -> NDArray[np.bool_]:
        """(L,) whether a link has a distance, or is known to have nothing near."""
        return ~np.isnan(self.measured)

    @property
    def is_false(self) -> NDArray[np.bool_]:
        """(L,) below FALSE, where the reference is farther by more than APART."""
        return (self.measured < FALSE) & (self.reference > self.measured + APART)


def judged_images(recording: ArmImages, settings: DepthOptions) -> list[JudgedImage]:
    """Returns each image, as the proximity node measures it with the default check of its camera,
    once the check has had every image before: postures a second apart.
    """
    detector = DepthProximity(recording.camera, settings)
    trusted = TrustedPadding(recording.camera, settings.padding, None)
    frames = LinkFrames(recording.robot, recording.joint_names)
    pose = recording.rotation, recording.translation
    found = []
    for number, image in enumerate((*recording.frames, *recording.frames)):
        rotations, translations = frames.compute(image.positions)
        shapes = recording.shapes.place(rotations, translations)
        trusted.check((number + 1) * SECOND, image.depth, shapes, *pose)
        if number < len(recording.frames):
            continue
        rows = [recording.shapes.links.index(link) for link in recording.surfaces]
        measured: Array = np.full(len(rows), math.nan)
        if not trusted.refusal:
            reading = detector.measure(
                image.depth, shapes, *trusted.pose(*pose), padding=trusted.padding
            )
            measured = np.asarray(reading.distances[rows])
        corners = [
            each @ rotations[frames.index(link)].T + translations[frames.index(link)]
            for link, each in recording.surfaces.items()
        ]
        reference = reference_distances(recording, image, corners, settings)
        found.append(JudgedImage(trusted.refusal, trusted.padding, measured, reference))
    return found


def reference_distances(
    recording: ArmImages, image: ArmImage, corners: list[Array], settings: DepthOptions
) -> Array:
    """Returns (L,) m from each link's corners, (V, 3) m in the base frame, to the nearest pixel
    that is not the arm's, nor within SMEARED of it; infinite if there is none.
    """
    camera = recording.camera
    reach = math.ceil(SMEARED * camera.fx)
    window = np.ones((2 * reach + 1, 2 * reach + 1), np.uint8)
    is_arm = cv2.dilate(image.mask.astype(np.uint8), window) > 0
    is_valid = (image.depth >= settings.min_range) & (image.depth <= settings.max_range)
    points = camera.points(image.depth)[is_valid & ~is_arm]
    points = points @ recording.rotation.T + recording.translation
    points = points[points[:, 2] > LOWEST]
    if not len(points):
        return np.full(len(corners), math.inf)
    tree = cKDTree(points)
    return np.array([tree.query(each)[0].min() for each in corners])
