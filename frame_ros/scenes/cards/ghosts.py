# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ghosts: the objects of a scene drawn half transparent into a camera's picture."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

import attrs
import cv2
import numpy as np
from numpy.typing import NDArray

from frame_ros.core.errors import ShapeError
from frame_ros.scenes.cards.camera import PlacedCamera
from frame_ros.scenes.cards.outlines import edge_lines, footprint, hull_points, placed_points
from frame_ros.scenes.description.scene import Scene, SceneObject, Triple

Array = NDArray[np.float64]
Picture = NDArray[np.uint8]
Box = tuple[int, int, int, int]  # pixels: left, top, right, bottom
UNKNOWN_COLOUR = (0.6, 0.6, 0.6)
_SHIFT = 4  # bits of a pixel's fractions in OpenCV's drawing
_FONT = cv2.FONT_HERSHEY_SIMPLEX
_CAPITALS = 21.0  # pixels, height of the font's capital letters at size 1
LEAST_LETTERS = 8.0  # pixels, below which letters cannot be read
_REFERENCE_WIDTH = 640  # pixels of a picture in which lines are 2 pixels and letters 0.5 wide


@attrs.frozen(eq=False)
class Ghost:
    """One object as a camera should see it, in pixels.

    Attributes:
        name: of the object.
        colour: sRGB, 0 to 255.
        silhouette: (N, 2), its outline; (0, 2): not before the camera.
        edges: lines (N, 2) of its edges.
        footprint: lines (N, 2) of its outline on the table.
        anchor: (2,) where its name is written; None: not in the picture.
    """

    name: str
    colour: tuple[int, int, int]
    silhouette: Array
    edges: tuple[Array, ...]
    footprint: tuple[Array, ...]
    anchor: Array | None


def ghosts_of(scene: Scene, camera: PlacedCamera) -> tuple[Ghost, ...]:
    """Returns the objects of a scene, as a camera should see them; those whose shape is not known
    have none.
    """
    return tuple(_ghost(each, camera) for each in scene.objects if each.shape is not None)


def _ghost(each: SceneObject, camera: PlacedCamera) -> Ghost:
    assert each.shape is not None
    silhouette = camera.silhouette(placed_points(each, hull_points(each.shape)))
    edges = [
        part for line in edge_lines(each.shape) for part in camera.lines(placed_points(each, line))
    ]
    ring = footprint(each)
    ring = np.concatenate((ring, ring[:1]))
    on_table = list(camera.lines(np.column_stack((ring, np.zeros(len(ring))))))
    anchor = None
    if len(silhouette):
        middle, size = silhouette.mean(axis=0), (camera.lens.width, camera.lens.height)
        anchor = middle if (middle >= 0).all() and (middle < size).all() else None
    return Ghost(
        each.name, srgb(each.colour or UNKNOWN_COLOUR), silhouette, tuple(edges), tuple(on_table),
        anchor,
    )  # fmt: skip


def srgb(linear: Triple) -> tuple[int, int, int]:
    """Returns sRGB, 0 to 255, of a linear RGB, 0 to 1 (IEC 61966-2-1)."""
    values = np.array(linear)
    curved = np.where(values <= 0.0031308, 12.92 * values, 1.055 * values ** (1 / 2.4) - 0.055)
    red, green, blue = np.rint(255 * np.clip(curved, 0, 1)).astype(int).tolist()
    return red, green, blue


def enlarged(
    picture: Picture, ghosts: Sequence[Ghost], least_width: int
) -> tuple[Picture, tuple[Ghost, ...]]:
    """Returns a picture (H, W, 3) whole times larger, so that it is least_width pixels wide or
    wider, and the ghosts in its pixels; both as they are if it is.
    """
    factor = -(-least_width // max(1, picture.shape[1]))
    if factor <= 1:
        return picture, tuple(ghosts)
    size = factor * picture.shape[1], factor * picture.shape[0]
    larger = cv2.resize(picture, size, interpolation=cv2.INTER_CUBIC).astype(np.uint8)

    def moved(points: Array) -> Array:
        return (points + 0.5) * factor - 0.5  # the middle of the first pixel is at 0

    return larger, tuple(
        attrs.evolve(
            each, silhouette=moved(each.silhouette), edges=tuple(map(moved, each.edges)),
            footprint=tuple(map(moved, each.footprint)),
            anchor=None if each.anchor is None else moved(each.anchor),
        )
        for each in ghosts
    )  # fmt: skip


def draw_ghosts(
    picture: Picture,
    ghosts: Sequence[Ghost],
    opacity: float = 0.45,
    text: Sequence[str] = (),
    labels: Mapping[str, str] | None = None,
    letters: float = 0.0,
) -> Picture:
    """Returns a picture (H, W, 3) uint8 RGB with the ghosts, and lines of text above it.

    Args:
        opacity: 0 to 1, of their surfaces.
        labels: object's name -> what is written at it; None: its name.
        letters: pixels, height of the letters of labels; 0: by the picture's width, LEAST_LETTERS
            or more.

    Raises:
        ShapeError: the picture is no such array.
    """
    if picture.ndim != 3 or picture.shape[2] != 3 or picture.dtype != np.uint8:
        raise ShapeError(
            f'the picture is {picture.shape} {picture.dtype}; it must be (H, W, 3) uint8'
        )
    drawn = picture.copy()
    for ghost in ghosts:
        _fill(drawn, ghost, opacity)
    scale = max(0.5, picture.shape[1] / _REFERENCE_WIDTH)
    for ghost in ghosts:
        for line in ghost.footprint:
            _line(drawn, line, (255, 255, 255), max(1, round(scale)))
        for line in ghost.edges:
            _line(drawn, line, ghost.colour, 1)
        if len(ghost.silhouette):
            outline = np.concatenate((ghost.silhouette, ghost.silhouette[:1]))
            _line(drawn, outline, (0, 0, 0), max(1, round(3 * scale)))
            _line(drawn, outline, ghost.colour, max(1, round(1.5 * scale)))
    height = letters or max(LEAST_LETTERS, 0.45 * _CAPITALS * scale)
    taken: list[Box] = []
    for ghost in ghosts:
        label = ghost.name if labels is None else labels.get(ghost.name, ghost.name)
        if ghost.anchor is not None and label:
            _label(drawn, ghost.anchor, plain_text(label), height, taken)
    return _banner(drawn, text, scale)


def plain_text(text: str) -> str:
    """Returns a text in ASCII, which is all that OpenCV writes; others are '?'."""
    flat = unicodedata.normalize('NFKD', text)
    kept = ''.join(letter for letter in flat if not unicodedata.combining(letter))
    return ''.join(c if ' ' <= c <= '~' else '?' for c in kept)


def _fixed(line: Array) -> NDArray[np.int32]:
    """Pixels with fractions as OpenCV takes them; far outside they are cut to what it can hold."""
    return np.rint(np.clip(line, -1e5, 1e5) * (1 << _SHIFT)).astype(np.int32).reshape(-1, 1, 2)


def _fill(picture: Picture, ghost: Ghost, opacity: float) -> None:
    """Blends the surface of a ghost into a picture, only where it is."""
    if len(ghost.silhouette) < 3:
        return
    height, width = picture.shape[:2]
    low = np.clip(np.floor(ghost.silhouette.min(axis=0)), 0, (width, height)).astype(int)
    high = np.clip(np.ceil(ghost.silhouette.max(axis=0)) + 1, 0, (width, height)).astype(int)
    if (high <= low).any():
        return
    part = picture[low[1] : high[1], low[0] : high[0]]
    mask = np.zeros(part.shape[:2], np.uint8)
    cv2.fillConvexPoly(mask, _fixed(ghost.silhouette - low), 255, cv2.LINE_AA, _SHIFT)
    share = mask[..., None] * (opacity / 255)
    part[:] = np.rint(part * (1 - share) + share * np.array(ghost.colour)).astype(np.uint8)


def _line(picture: Picture, line: Array, colour: tuple[int, int, int], width: int) -> None:
    cv2.polylines(picture, [_fixed(line)], False, colour, width, cv2.LINE_AA, _SHIFT)


def _label(picture: Picture, anchor: Array, text: str, letters: float, taken: list[Box]) -> None:
    """Writes white on a dark box about an anchor, above or below it where a label is already."""
    size, width = letters / _CAPITALS, max(1, round(letters / 9))
    (across, high), below = cv2.getTextSize(text, _FONT, size, width)
    pad = max(2, round(letters / 4))
    wide, tall = across + 2 * pad, high + below + 2 * pad
    most = np.maximum((picture.shape[1] - wide, picture.shape[0] - tall), 0)
    corner = anchor - (wide / 2, tall / 2)
    for row in sorted(range(-len(taken), len(taken) + 1), key=abs):
        left, top = np.rint(np.clip(corner + (0, row * (tall + 1)), 0, most)).astype(int).tolist()
        box = left, top, left + wide, top + tall
        if not any(_overlap(box, other) for other in taken):
            break
    taken.append(box)
    part = picture[top : top + tall, left : left + wide]
    part[:] = part // 5
    at = (left + pad, top + pad + high)
    cv2.putText(picture, text, at, _FONT, size, (255, 255, 255), width, cv2.LINE_AA)


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _banner(picture: Picture, lines: Sequence[str], scale: float) -> Picture:
    """Writes lines of text on a dark strip over the top of a picture, no larger than fits."""
    if not lines:
        return picture
    texts = [plain_text(line) for line in lines]
    widest = max(cv2.getTextSize(text, _FONT, 1.0, 1)[0][0] for text in texts)
    size = min(max(0.5 * scale, LEAST_LETTERS / _CAPITALS), (picture.shape[1] - 8) / max(widest, 1))
    step = max(10, round(cv2.getTextSize('Ag', _FONT, size, 1)[0][1] * 1.9))
    strip = picture[: step * len(texts) + 4]
    strip[:] = strip // 4
    for row, text in enumerate(texts):
        at = (4, (row + 1) * step - step // 5)
        cv2.putText(picture, text, at, _FONT, size, (255, 255, 255), 1, cv2.LINE_AA)
    return picture
