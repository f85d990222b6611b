# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Least distances between the links of a robot and nearby objects in a depth image.

Pixels out of range are not valid; the others are smoothed; those outside the observed space are
cropped; those within the padding of any link, or of a held object, are the robot; of the rest,
isolated ones at edges are dropped (edges), but not those of thin things (thin). All that are left
are obstacles, and the nearest of them to each link is found exactly (scan); the surface through it
and its neighbours is what counts (surface_kernels). Beside it stands what was not seen
(unseen_places).
"""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from frame_ros.robots.shapes.link_shapes import PlacedShapes, placed, sphere
from frame_ros.sensing.proximity.depth.camera import Depth, DepthCamera
from frame_ros.sensing.proximity.depth.cloud import MarkedCloud, marked_cloud
from frame_ros.sensing.proximity.depth.edges import EdgeFilter
from frame_ros.sensing.proximity.depth.meshes.mesh_filter import MeshFilter, compile_drawing
from frame_ros.sensing.proximity.depth.meshes.placing import PlacedSurfaces
from frame_ros.sensing.proximity.depth.options import DepthOptions
from frame_ros.sensing.proximity.depth.outline import OutlineFilter
from frame_ros.sensing.proximity.depth.scan import DepthScan, Nearest
from frame_ros.sensing.proximity.depth.shapes import CameraShapes
from frame_ros.sensing.proximity.depth.thin import IsOwn, Rows, ThinThings
from frame_ros.sensing.proximity.depth.unseen_places import UnseenPlaces
from frame_ros.sensing.proximity.depth.valid_range import DepthRange
from frame_ros.sensing.proximity.depth.view import seen_fractions
from frame_ros.sensing.proximity.link_distances import DistanceReading

Array = NDArray[np.float64]

TOO_FEW_VALID = 'too few pixels have a depth within range'
FOLLOWED = 0.5  # of the declared padding: what begins at the padding is followed down to there
OUT_OF_VIEW = 'no link of the robot is in view'
NOTHING_NEAR = 'only the robot, and space that is not observed, is in view'


class DepthProximity:
    """Distances from one camera's images. Not thread-safe: it owns buffers."""

    def __init__(
        self,
        camera: DepthCamera,
        settings: DepthOptions | None = None,
        meshes: MeshFilter | None = None,
    ) -> None:
        """meshes: takes the robot out, where its surfaces are given; None: its shapes do."""
        self.camera, self._meshes = camera, meshes
        self.settings = settings = settings or DepthOptions()
        self._range = DepthRange(settings.min_range, settings.max_range)
        self._normals, self._offsets = settings.half_spaces()
        self._scan = DepthScan(camera, settings.padding, settings.depth_noise)
        self._edges = EdgeFilter(settings)
        self._thin = ThinThings(camera, settings)
        self._outline = OutlineFilter(camera, settings)
        self._unseen = UnseenPlaces(camera, settings)
        self._images: dict[np.dtype[np.generic], Depth] = {}

    def measure(
        self,
        depth: Depth,
        shapes: PlacedShapes,
        rotation: Array,
        translation: Array,
        held: PlacedShapes | None = None,
        padding: float | None = None,
        surfaces: PlacedSurfaces | None = None,
    ) -> DistanceReading:
        """Returns the least distance of each link to anything in the image besides the robot.

        Distances are to the links themselves, not to the padding around them; below the padding
        there are none. A link whose surroundings are not in view, or have too few valid pixels, is
        not measured: NaN; but anything seen nearer to it than to all measured links is reported, so
        that the overall least distance never leaves out a visible obstacle. If no link was
        measured, `unavailable` gives the reason. `unseen` of it has the places not seen.

        Args:
            depth: (H, W) uint16 mm or float32 m, as `decode_depth` gives it. Not changed.
            shapes: of the robot at the image's stamp, in the base frame.
            rotation, translation: (3, 3), (3,) m, pose of the camera's optical frame in the base
                frame at that stamp.
            held: the held object, in the base frame: no obstacle.
            padding: m, of this image, as its camera's alignment asks for; None: of the settings.
            surfaces: of the robot, likewise: what is near them is the robot, and not what is near
                the shapes of their links; distances stay those to the shapes, 0 within them.

        Raises:
            DepthError: the image is not of the camera's size or of another type.
        """
        valid = self._load(self.camera.checked(depth))
        fraction = valid / depth.size
        if not valid or fraction < self.settings.min_valid_fraction:
            why = f'{TOO_FEW_VALID}: {fraction:.1%} of them'
            return replace(self._missing(shapes, why, fraction), blind=why)
        seen = CameraShapes(shapes, rotation, translation, held)
        around = self.settings.padding if padding is None else padding
        blind = around if surfaces is None else self._widest(around)
        pose = rotation, translation
        is_measured = self._is_measured(seen)
        if not is_measured.any():
            unseen = self._unseen.look(depth, shapes, seen, *pose, blind)
            return replace(self._missing(shapes, OUT_OF_VIEW, fraction), unseen=unseen)
        self._crop(rotation, translation)
        own, is_own = self._take_out(shapes, seen, pose, held, around, surfaces)
        unseen = self._unseen.look(self._outline.without(depth), shapes, seen, *pose, blind)
        support = self._edges.support(depth.dtype)
        pixels = self._scan.nearest(seen, support)
        nearest = self._thin.nearer(pixels, depth, seen, *pose, around, is_own)
        at_padding = self._unseen.at_padding(nearest, blind)
        unseen = None if unseen is None else replace(unseen, is_at_padding=at_padding)
        # What meshes took out is not known any more.
        followed = at_padding & (self._meshes is None or surfaces is None)
        nearest = self._on_surfaces(nearest, pixels, seen, support, followed)
        found = self._reading(shapes.links, nearest, is_measured, rotation, translation)
        return replace(found, valid_fraction=fraction, unseen=unseen,
                       occluded_fraction=own / depth.size)  # fmt: skip

    def points(
        self,
        depth: Depth,
        shapes: PlacedShapes,
        rotation: Array,
        translation: Array,
        held: PlacedShapes | None = None,
        step: int = 8,
        padding: float | None = None,
        surfaces: PlacedSurfaces | None = None,
    ) -> MarkedCloud:
        """Returns every `step`th point in both directions, as `marked_cloud`."""
        is_own = None
        if self._meshes is not None and surfaces is not None:
            extra = 0.0 if padding is None else padding - self.settings.padding
            is_own = self._meshes.is_own(depth, surfaces, rotation, translation, extra)
            shapes = shapes.select(surfaces.bare)
        return marked_cloud(
            self.camera,
            self.settings,
            depth,
            shapes,
            rotation,
            translation,
            held,
            step,
            padding,
            is_own,
        )

    def _load(self, depth: Depth) -> int:
        """Takes the valid pixels of an image, smoothed; returns their number."""
        if depth.dtype not in self._images:
            self._images[depth.dtype] = np.empty(depth.shape, depth.dtype)
        image = self._images[depth.dtype]
        valid = self._range.apply(depth, image)
        scale = 1e-3 if depth.dtype == np.uint16 else 1.0
        self._scan.load(self._edges.smoothed(image), image, scale)
        return valid

    def _on_surfaces(
        self, nearest: Nearest, pixels: Nearest, seen: CameraShapes, support: Array,
        at_padding: NDArray[np.bool_],
    ) -> Nearest:  # fmt: skip
        """Returns the points of surfaces, for single noisy pixels, followed into the padding."""
        core, is_settled = FOLLOWED * self.settings.padding, self.settings.smoothing > 1
        found = self._scan.followed(
            nearest, pixels, seen, support, at_padding, core, is_settled, self._outline.width
        )
        return self._scan.settled(found, pixels, seen, support) if is_settled else found

    def _take_out(
        self, shapes: PlacedShapes, seen: CameraShapes, pose: tuple[Array, Array],
        held: PlacedShapes | None, padding: float, surfaces: PlacedSurfaces | None,
    ) -> tuple[int, IsOwn]:  # fmt: skip
        """Takes the robot and its outline out of the loaded image; returns how many pixels show it,
        and what says whether others do.
        """
        image, scale = self._scan.loaded
        self._outline.keep(image)
        own, extra = 0, padding - self.settings.padding
        is_by_meshes: IsOwn | None = None
        if self._meshes is not None and surfaces is not None:
            own = self._meshes.take_out(image, scale, surfaces, *pose, extra)
            is_by_meshes = partial(self._meshes.found_own, extra=extra)
            seen = CameraShapes(shapes.select(surfaces.bare), *pose, held)
        own += self._scan.take_out(seen, padding)
        self._outline.take_out(image, scale, padding)

        def is_own(rows: Rows, columns: Rows, depths: Array) -> NDArray[np.bool_]:
            is_mixed = self._outline.is_mixed(rows, columns, depths)
            if is_by_meshes is None:
                return is_mixed
            return is_mixed | is_by_meshes(rows, columns, depths)

        return own, is_own

    def _crop(self, rotation: Array, translation: Array) -> None:
        if len(self._offsets):
            offsets = self._offsets - self._normals @ translation
            self._scan.crop(self._normals @ rotation, offsets)

    def _widest(self, padding: float) -> float:
        """Returns the wider one of the padding of shapes, m, and that of meshes."""
        if self._meshes is None:
            return padding
        return max(padding, self._meshes.padding(padding - self.settings.padding))

    def _is_measured(self, seen: CameraShapes) -> NDArray[np.bool_]:
        """Returns (L,) whether enough of each link's surroundings was measured."""
        settings = self.settings
        fractions = seen_fractions(
            self.camera, self._scan.counts, seen.exact, settings.surroundings
        )
        out_of_view = np.isnan(fractions) & (not settings.needs_links_in_view)
        return out_of_view | (fractions > 0) & (fractions >= settings.min_valid_fraction)

    def _missing(self, shapes: PlacedShapes, why: str, valid: float) -> DistanceReading:
        reading = DistanceReading.missing(shapes.links, why)
        return replace(reading, valid_fraction=valid)

    def _reading(
        self, names: tuple[str, ...], nearest: Nearest, is_measured: NDArray[np.bool_],
        rotation: Array, translation: Array,
    ) -> DistanceReading:  # fmt: skip
        least = np.fmin.reduce(nearest.distances[is_measured], initial=np.inf)
        hidden = ~is_measured & ~(nearest.distances < least)
        distances = np.where(hidden, np.nan, nearest.distances)
        on_robot = nearest.surface @ rotation.T + translation
        on_obstacle = nearest.points @ rotation.T + translation
        on_robot[hidden] = on_obstacle[hidden] = np.nan
        why = '' if np.isfinite(distances).any() else NOTHING_NEAR
        return DistanceReading(
            names, distances, on_robot, on_obstacle, ('',) * len(names), unavailable=why
        )


def compile_loops() -> float:
    """Compiles everything that measuring needs, for both types of images, or loads it; returns the
    s it took.

    Without it the first image waits.

    Raises:
        MissingExtraError: numba is not installed.
    """
    start = time.monotonic()
    camera = DepthCamera(33, 33, 33.0, 33.0, 16.0, 16.0)
    shapes = placed('a', [sphere(0.1, [0.0, 0.0, 0.5])])
    proximity = DepthProximity(camera, DepthOptions(surface_height=-1.0))
    for kind, metre in ((np.uint16, 1000), (np.float32, 1.0)):
        image = np.full((33, 33), 0.9 * metre, kind)
        image[4:29, 28] = 0.55 * image[0, 0]  # something thin, clear of the ball
        proximity.measure(image, shapes, np.eye(3), np.zeros(3))
        image[:] = 0.4 * metre  # a wall at the ball, which is followed into the padding
        proximity.measure(image, shapes, np.eye(3), np.zeros(3))
    proximity.points(image, shapes, np.eye(3), np.zeros(3))
    compile_drawing()
    return time.monotonic() - start
