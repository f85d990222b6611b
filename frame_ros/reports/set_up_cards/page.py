# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""HTML pages of set-up cards: a page of A4 per scene, photos with ghosts, and the mat's sheets."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

import attrs
import cv2
import jinja2
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from frame_ros.core.errors import FrameRosError, ValueRangeError
from frame_ros.core.input_files import valid_text
from frame_ros.core.version import package_version
from frame_ros.reports.html.page_frame import ASSETS, as_shown
from frame_ros.reports.set_up_cards.drawings import mat_drawing, plan_drawing, tile_drawing
from frame_ros.scenes.cards.camera import PlacedCamera, placed_camera
from frame_ros.scenes.cards.facts import (
    ObjectFacts,
    camera_texts,
    check_texts,
    light_texts,
    object_facts,
    other_texts,
    seed_text,
)
from frame_ros.scenes.cards.ghosts import draw_ghosts, enlarged, ghosts_of
from frame_ros.scenes.cards.mat import Mat
from frame_ros.scenes.description.scene import BASE, Scene
from frame_ros.scenes.generation.clutter import home_capsules
from frame_ros.scenes.simulation.scene_robot import scene_robot

PAPER = (210.0, 297.0)  # mm, A4
_DRAWING = (190.0, 125.0)  # mm, the most that a mat takes up on a card
_TILE = (0.190, 0.250)  # m, the most of a mat that one sheet holds
_PLAN = (190.0, 150.0)  # mm
_JPEG_QUALITY = 90
_PHOTO_WIDTH = 960  # pixels, the least of a photo on a card
_NUMBERS, _LEAST_NUMBERS = 0.02, 12.0  # height of numbers: share of the width, pixels


@dataclass(frozen=True)
class Photo:
    """A camera's photo of the table, into which the objects are drawn.

    Attributes:
        name: of the camera.
        picture: (H, W, 3) uint8 RGB.
        camera: its lens and place in the robot's base; None: as each scene has it.
    """

    name: str
    picture: NDArray[np.uint8]
    camera: PlacedCamera | None


@attrs.frozen
class Card:
    """One scene on a page.

    Attributes:
        scene: the scene.
        place: of the scene in the file, from 1.
        facts: of its objects.
        drawing: of the mat.
        lights, others, checks: texts, one a line.
        outside: names of objects that are not on the mat.
        overlays: (camera, data URL) of photos with ghosts.
        problem: what is wrong with the scene; '': nothing that is known.
    """

    scene: Scene
    place: int
    facts: Sequence[ObjectFacts]
    drawing: Markup
    lights: Sequence[str]
    others: Sequence[str]
    checks: Sequence[str]
    outside: Sequence[str]
    overlays: Sequence[tuple[str, str]]
    problem: str = ''

    @property
    def seed(self) -> str:
        """The policy's seed in words."""
        return seed_text(self.scene)

    @property
    def fingerprint(self) -> str:
        """Eight hexadecimal digits of the scene's content, by which a card is found again."""
        return hashlib.sha256(repr(self.scene).encode()).hexdigest()[:8]


def build_cards(
    scenes: Sequence[Scene],
    mats: Mapping[str, Mat],
    photos: Sequence[Photo] = (),
    made: datetime | None = None,
    problems: Mapping[int, str] | None = None,
) -> str:
    """Returns the page of cards as HTML: it loads nothing, and all texts stay text.

    Args:
        mats: robot -> its mat.
        made: when; None: now.
        problems: place of a scene -> what is wrong with it, of which its card warns.

    Raises:
        ValueRangeError: a camera of a photo is not in a scene, or not of the photo's size.
    """
    cards = [
        _card(scene, place, mats[scene.robot], photos, (problems or {}).get(place - 1, ''))
        for place, scene in enumerate(scenes, 1)
    ]
    return _page('cards.html', made, cards=cards, count=len(cards), mats=mats, base=BASE)


def build_mat(robot: str, mat: Mat, made: datetime | None = None) -> str:
    """Returns the sheets of a mat at 1 : 1 as HTML, with a plan of how they lie.

    Raises:
        ValueRangeError: a cell is larger than a sheet.
    """
    tiles = list(mat.tiles(*_TILE))
    sheets = [tile_drawing(mat, tile, *PAPER) for tile in tiles]
    plan = plan_drawing(mat, tiles, *_PLAN)
    return _page('mat.html', made, robot=robot, mat=mat, plan=plan, sheets=sheets, tiles=tiles)


def _page(name: str, made: datetime | None, **values: Any) -> str:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=as_shown,
    )
    css = Markup((ASSETS / 'cards.css').read_text(encoding='utf-8'))
    moment = (made or datetime.now(timezone.utc)).strftime('%Y-%m-%d %H:%M UTC')
    text = environment.get_template(name).render(
        css=css, version=package_version(), made=moment, **values
    )
    return valid_text(text)


def _card(scene: Scene, place: int, mat: Mat, photos: Sequence[Photo], problem: str) -> Card:
    facts = object_facts(scene, mat)
    return Card(
        scene=scene, place=place, facts=facts,
        drawing=mat_drawing(scene, mat, facts, _capsules(scene), *_DRAWING),
        lights=[*light_texts(scene), *other_texts(scene)], others=camera_texts(scene),
        checks=list(check_texts(scene, mat)),
        outside=[each.name for each in facts if not each.cell],
        overlays=[(photo.name, overlay(scene, photo, facts)) for photo in photos],
        problem=problem,
    )  # fmt: skip


def _capsules(scene: Scene) -> NDArray[np.float64]:
    """Of the robot at home, if it is known and the scene is in its base."""
    try:
        return home_capsules(scene_robot(scene.robot)) if scene.frame == BASE else np.empty((0, 7))
    except FrameRosError:
        return np.empty((0, 7))


def overlay(scene: Scene, photo: Photo, facts: Sequence[ObjectFacts]) -> str:
    """Returns a photo with the objects of a scene drawn in, as the data URL of a JPEG; a small one
    is enlarged, so that the numbers, those of the card, can be read.

    Raises:
        ValueRangeError: the scene has no such camera, or not of the photo's size.
    """
    camera = photo.camera or scene_camera(scene, photo.name)
    height, width = photo.picture.shape[:2]
    if (camera.lens.width, camera.lens.height) != (width, height):
        raise ValueRangeError(
            f'the photo of {photo.name} has {width}x{height} pixels, the camera '
            f'{camera.lens.width}x{camera.lens.height}; both must be the same'
        )
    picture, ghosts = enlarged(photo.picture, ghosts_of(scene, camera), _PHOTO_WIDTH)
    drawn = draw_ghosts(
        picture, ghosts, text=(scene.instruction or '',),
        labels={each.name: str(each.number) for each in facts},
        letters=max(_LEAST_NUMBERS, _NUMBERS * picture.shape[1]),
    )  # fmt: skip
    _, content = cv2.imencode('.jpg', drawn[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, _JPEG_QUALITY])
    return f'data:image/jpeg;base64,{base64.b64encode(content.tobytes()).decode()}'


def scene_camera(scene: Scene, name: str) -> PlacedCamera:
    """Returns a camera of a scene as it stands.

    Raises:
        ValueRangeError: there is none, or its pose or intrinsics are not known.
    """
    found = {each.name: each for each in scene.cameras or ()}
    if name not in found:
        raise ValueRangeError(
            f'the scene {scene.name} has no camera {name!r}; it has {", ".join(found) or "none"}'
        )
    return placed_camera(found[name])
