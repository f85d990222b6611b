# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Drawings of a mat and the objects on it, as SVG in mm of the paper."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import attrs
import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from frame_ros.core.plain_text import plain
from frame_ros.scenes.cards.facts import ObjectFacts
from frame_ros.scenes.cards.mat import MM, Mat, Tile
from frame_ros.scenes.cards.outlines import footprint
from frame_ros.scenes.description.scene import Scene

Array = NDArray[np.float64]
SCALES = (1, 1.5, 2, 2.5, 3, 3.5, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 50)
_LABELS = 8.0  # mm of paper at the left and right, for numbers along the edges
_BELOW, _ABOVE = 6.0, 2.0  # mm of paper
_BASE = 0.05  # m about the base's origin that are drawn too
_CUT = 6.0  # mm, length of a cut mark
_TAG = 2.3  # mm, radius of an object's number
_CHECK = 100.0  # mm, length of the bar by which a print's scale is checked


@attrs.frozen
class Sheet:
    """Places of x (up) and y (to the left), m, on paper.

    Attributes:
        left: y, m, at `margin` from the left edge of the paper.
        top: x, m, at `above` from its top.
        scale: the drawing is 1 : scale.
        margin, above: mm.
    """

    left: float
    top: float
    scale: float
    margin: float
    above: float

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Returns mm from the paper's left and its top."""
        factor = MM / self.scale
        return self.margin + (self.left - y) * factor, self.above + (self.top - x) * factor

    def path(self, points: Array) -> str:
        """Returns points (N, 2) m for an SVG polygon."""
        return ' '.join('{:.2f},{:.2f}'.format(*self.at(x, y)) for x, y in points)


def mat_drawing(
    scene: Scene, mat: Mat, facts: Sequence[ObjectFacts], capsules: Array, width: float,
    height: float,
) -> Markup:  # fmt: skip
    """Returns the drawing of a scene on its mat, to scale.

    Args:
        capsules: (K, 7) start, end, radius, m, of the robot at home; K may be 0.
        width, height: mm, the most that it may take up.
    """
    low, high = _view(mat)
    spans = (high[1] - low[1]) * MM, (high[0] - low[0]) * MM
    scale = next(
        (
            s
            for s in SCALES
            if spans[0] / s + 2 * _LABELS <= width and spans[1] / s + _ABOVE + _BELOW <= height
        ),
        SCALES[-1],
    )
    sheet = Sheet(high[1], high[0], scale, _LABELS, _ABOVE)
    wide, tall = spans[0] / scale + 2 * _LABELS, spans[1] / scale + _ABOVE + _BELOW
    parts = [
        *_robot(sheet, capsules, low, high), *_grid(sheet, mat), *_axes(sheet, mat),
        *_objects(sheet, scene, facts),
        *_scale_bar(sheet, scale, wide, tall),
    ]  # fmt: skip
    return _svg(wide, tall, parts)


def _view(mat: Mat) -> tuple[tuple[float, float], tuple[float, float]]:
    """Corners of what is drawn, m: the mat, and the base's origin if that is not far."""
    low, high = mat.low, mat.high
    if max(low[0], -high[0], low[1], -high[1]) > 0.5:
        return low, high
    return (
        (min(low[0], -_BASE), min(low[1], -_BASE)),
        (max(high[0], _BASE), max(high[1], _BASE)),
    )


def _svg(width: float, height: float, parts: Sequence[str]) -> Markup:
    size = f'{width:.2f}mm" height="{height:.2f}mm'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" '
    return Markup(
        f'{head}viewBox="0 0 {width:.2f} {height:.2f}">\n' + '\n'.join(parts) + '\n</svg>'
    )


def _line(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    (a, b), (c, d) = start, end
    return f'<line class="{kind}" x1="{a:.2f}" y1="{b:.2f}" x2="{c:.2f}" y2="{d:.2f}"/>'


def _text(at: tuple[float, float], text: str, kind: str, size: float) -> str:
    x, y = at
    return (
        f'<text class="{kind}" x="{x:.2f}" y="{y + size * 0.35:.2f}" '
        f'font-size="{size:.2f}">{escape(plain(text))}</text>'
    )


def _robot(
    sheet: Sheet, capsules: Array, low: tuple[float, float], high: tuple[float, float]
) -> Iterator[str]:
    """The arm at home from above, cut off at the edge of the drawing."""
    corner, end = sheet.at(high[0], high[1]), sheet.at(low[0], low[1])
    box = f'{corner[0]:.2f} {corner[1]:.2f} {end[0] - corner[0]:.2f} {end[1] - corner[1]:.2f}'
    x, y, width, height = box.split()
    yield (
        f'<svg x="{x}" y="{y}" width="{width}" height="{height}" viewBox="{box}" overflow="hidden">'
    )
    for row in capsules:
        wide = 2 * row[6] * MM / sheet.scale
        start, stop = sheet.at(row[0], row[1]), sheet.at(row[3], row[4])
        line = _line(start, (stop[0] + 1e-2, stop[1]), 'robot')
        yield line.replace('/>', f' stroke-width="{wide:.2f}"/>')
    yield '</svg>'


def _grid(sheet: Sheet, mat: Mat) -> Iterator[str]:
    (low_x, low_y), (high_x, high_y) = mat.low, mat.high
    for row in range(mat.rows + 1):
        x = low_x + row * mat.cell
        kind = 'edge' if row in (0, mat.rows) else 'grid'
        yield _line(sheet.at(x, high_y), sheet.at(x, low_y), kind)
        left, y = sheet.at(x, high_y)
        yield _text((left - 1.0, y), f'{MM * x:.0f}', 'number end', 2.2)
    for column in range(mat.columns + 1):
        y = high_y - column * mat.cell
        kind = 'edge' if column in (0, mat.columns) else 'grid'
        yield _line(sheet.at(high_x, y), sheet.at(low_x, y), kind)
        x, below = sheet.at(low_x, y)
        shown = f'{MM * y:+.0f}' if abs(y) > 1e-9 else '0'
        yield _text((x, below + 2.2), shown, 'number', 1.9 if mat.columns > 16 else 2.2)
    size = min(2.6, mat.cell * MM / sheet.scale * 0.3)
    for name, (x, y) in mat.cells():
        corner = sheet.at(x + 0.46 * mat.cell, y + 0.46 * mat.cell)
        yield _text((corner[0], corner[1] + size * 0.5), name, 'cell start', size)


def _axes(sheet: Sheet, mat: Mat) -> Iterator[str]:
    """The axes at the origin of the frame, and the line y = 0 across the mat."""
    if mat.low[1] <= 0 <= mat.high[1]:
        yield _line(sheet.at(min(mat.low[0], 0.0), 0.0), sheet.at(mat.high[0], 0.0), 'middle')
    low, high = _view(mat)
    if not (low[0] <= 0 <= high[0] and low[1] <= 0 <= high[1]):
        return
    origin = sheet.at(0.0, 0.0)
    length = 11.0
    for name, end in (('x', (0.0, -length)), ('y', (-length, 0.0))):
        tip = origin[0] + end[0], origin[1] + end[1]
        yield _line(origin, tip, f'axis {name}').replace('/>', ' marker-end="url(#tip)"/>')
        yield _text((tip[0] + (2.2 if name == 'x' else 0), tip[1] + (0 if name == 'x' else 2.4)),
                    name, 'axisname', 2.8)  # fmt: skip
    yield f'<circle class="origin" cx="{origin[0]:.2f}" cy="{origin[1]:.2f}" r="1"/>'
    yield _text((origin[0] + 1.6, origin[1] + 2.0), '0', 'number start', 2.4)


def _objects(sheet: Sheet, scene: Scene, facts: Sequence[ObjectFacts]) -> Iterator[str]:
    """Surfaces, the largest first, then outlines and arrows, then numbers: where objects overlap by
    mistake, none of these is hidden.
    """
    outlines = {each.name: footprint(scene.object(each.name)) for each in facts}
    by_size = sorted(facts, key=lambda each: -_span(outlines[each.name]).prod())
    for each in by_size:
        yield from _surface(sheet, scene, each, outlines[each.name])
    for each in by_size:
        yield from _marks(sheet, scene, each, outlines[each.name])
    tags: list[tuple[float, float]] = []
    for each in facts:
        tags.append(_tag_place(sheet, scene, each, outlines[each.name], tags))
        x, y = tags[-1]
        yield f'<circle class="tag" cx="{x:.2f}" cy="{y:.2f}" r="{_TAG}"/>'
        yield _text((x, y), str(each.number), 'tagnumber', 3.0)


def _span(outline: Array) -> Array:
    return np.ptp(outline, axis=0) if len(outline) else np.zeros(2)


def _surface(sheet: Sheet, scene: Scene, facts: ObjectFacts, outline: Array) -> Iterator[str]:
    each = scene.object(facts.name)
    if not len(outline):
        at = sheet.at(*each.position)
        yield f'<circle class="{facts.role} unknown" cx="{at[0]:.2f}" cy="{at[1]:.2f}" r="3"/>'
        return
    yield f'<polygon class="{facts.role}" fill="{facts.paint}" points="{sheet.path(outline)}"/>'
    if each.shape is not None and each.shape.kind == 'tray':
        middle = np.array(each.position)
        inner = each.shape.inner_half_edges
        assert inner is not None
        share = float(inner[0] / each.shape.half_edges[0])
        inside = middle + share * (outline - middle)
        yield f'<polygon class="inside" points="{sheet.path(inside)}"/>'


def _marks(sheet: Sheet, scene: Scene, facts: ObjectFacts, outline: Array) -> Iterator[str]:
    """The outline again, which another's surface may hide, the middle, and the arrow."""
    each = scene.object(facts.name)
    at = sheet.at(*each.position)
    if len(outline):
        yield f'<polygon class="{facts.role}" fill="none" points="{sheet.path(outline)}"/>'
    cross = f'M{at[0] - 1.2:.2f},{at[1]:.2f}h2.4M{at[0]:.2f},{at[1] - 1.2:.2f}v2.4'
    yield f'<path class="cross" d="{cross}"/>'
    if facts.yaw is not None:
        reach = 0.5 * float(_span(outline).max()) if len(outline) else 0.03
        tip = np.array(each.position) + (reach + 4 * sheet.scale / MM) * np.array(
            (math.cos(facts.yaw), math.sin(facts.yaw))
        )
        line = _line(at, sheet.at(*tip), 'yaw')
        yield line.replace('/>', ' marker-end="url(#tip)"/>')


def _tag_place(
    sheet: Sheet,
    scene: Scene,
    facts: ObjectFacts,
    outline: Array,
    taken: Sequence[tuple[float, float]],
) -> tuple[float, float]:
    """The place of an object's number, mm of paper: at its side, and on no other number."""
    at = sheet.at(*scene.object(facts.name).position)
    shift = 0.5 * float(_span(outline).max()) * MM / sheet.scale if len(outline) else 3.0
    aside = -1.0 if facts.yaw is not None and math.sin(facts.yaw) < 0 else 1.0
    apart, down = shift + _TAG * 0.8, shift * 0.5
    sides = ((aside, 1.0), (-aside, 1.0), (aside, -1.0), (-aside, -1.0))
    places = [
        (at[0] + x * (apart + further * 2.1 * _TAG), at[1] + y * down)
        for further in range(len(taken) + 1)
        for x, y in sides
    ]
    is_free = [all(math.dist(place, other) > 2 * _TAG for other in taken) for place in places]
    return next((place for place, free in zip(places, is_free) if free), places[0])


def _scale_bar(sheet: Sheet, scale: float, wide: float, tall: float) -> Iterator[str]:
    length = 0.1 * MM / scale
    end, y = wide - _LABELS, tall - 3.0
    yield _line((end - length, y), (end, y), 'bar')
    yield _text((end - length - 1.0, y), f'100 mm on the table; 1 : {scale:g}', 'number end', 2.4)


def tile_drawing(mat: Mat, tile: Tile, width: float, height: float) -> Markup:
    """Returns one sheet of a mat at 1 : 1, with cut marks and a bar of 100 mm to check the print.

    width, height: mm of the paper.
    """
    across = (tile.high[1] - tile.low[1]) * MM
    along = (tile.high[0] - tile.low[0]) * MM
    sheet = Sheet(tile.high[1], tile.high[0], 1.0, (width - across) / 2, 14.0)
    part = attrs.evolve(
        mat, low=tile.low, rows=round(along / MM / mat.cell),
        columns=round(across / MM / mat.cell),
    )  # fmt: skip
    parts = [*_fine_lines(sheet, part), *_tile_grid(sheet, mat, part), *_cut_marks(sheet, tile)]
    left, bottom = sheet.margin, sheet.above + along
    y = min(bottom + 13.0, height - 9.0)
    parts.append(_line((left, y), (left + _CHECK, y), 'check'))
    for step in range(11):
        tall = 2.5 if step in (0, 5, 10) else 1.5
        at = left + step * _CHECK / 10
        parts.append(_line((at, y - tall), (at, y), 'check'))
    parts.append(
        _text((left, y + 3.0), 'exactly 100 mm, or print again at 100 %', 'note start', 3.0)
    )
    end = left + across
    parts.append(_text((end, y + 3.0), f'sheet {tile.name}', 'note end', 3.6))
    middle = sheet.above + along / 2
    for side, place in (
        ('far', (width / 2, sheet.above - 4.0)), ('near', (width / 2, bottom + 4.0)),
        ('left', (left - 6.0, middle)), ('right', (end + 6.0, middle)),
    ):  # fmt: skip
        if side in tile.neighbours:
            parts.append(_text(place, tile.neighbours[side], 'neighbour', 3.0))
    return _svg(width, height, parts)


def _fine_lines(sheet: Sheet, part: Mat) -> Iterator[str]:
    (low_x, low_y), (high_x, high_y) = part.low, part.high
    for step in range(1, round((high_x - low_x) * 100)):
        x = low_x + step / 100
        yield _line(sheet.at(x, high_y), sheet.at(x, low_y), 'fine')
    for step in range(1, round((high_y - low_y) * 100)):
        y = high_y - step / 100
        yield _line(sheet.at(high_x, y), sheet.at(low_x, y), 'fine')


def _tile_grid(sheet: Sheet, mat: Mat, part: Mat) -> Iterator[str]:
    (low_x, low_y), (high_x, high_y) = part.low, part.high
    for row in range(part.rows + 1):
        x = low_x + row * part.cell
        yield _line(sheet.at(x, high_y), sheet.at(x, low_y), 'strong')
    for column in range(part.columns + 1):
        y = high_y - column * part.cell
        kind = 'zero' if abs(y) < 1e-9 else 'strong'
        yield _line(sheet.at(high_x, y), sheet.at(low_x, y), kind)
    for _, (x, y) in part.cells():
        yield _text(sheet.at(x, y), mat.label(x, y), 'big', 5.0)
        corner = sheet.at(x - 0.5 * part.cell, y + 0.5 * part.cell)
        place = f'x {MM * (x - 0.5 * part.cell):.0f}  y {MM * (y + 0.5 * part.cell):+.0f}'
        yield _text((corner[0] + 1.0, corner[1] - 1.8), place, 'number start', 2.2)


def _cut_marks(sheet: Sheet, tile: Tile) -> Iterator[str]:
    for x in (tile.low[0], tile.high[0]):
        for y in (tile.low[1], tile.high[1]):
            at = sheet.at(x, y)
            aside = -1 if y == tile.high[1] else 1
            down = -1 if x == tile.high[0] else 1
            yield _line((at[0] + aside * 1.0, at[1]), (at[0] + aside * _CUT, at[1]), 'cut')
            yield _line((at[0], at[1] + down * 1.0), (at[0], at[1] + down * _CUT), 'cut')


def plan_drawing(mat: Mat, tiles: Sequence[Tile], width: float, height: float) -> Markup:
    """Returns how the sheets of a mat lie, with the base's origin.

    width, height: mm, the most that it may take up.
    """
    low, high = _view(mat)
    spans = (high[1] - low[1]) * MM, (high[0] - low[0]) * MM
    scale = max(spans[0] / (width - 2 * _LABELS), spans[1] / (height - _ABOVE - _BELOW))
    sheet = Sheet(high[1], high[0], scale, _LABELS, _ABOVE)
    parts = [*_grid(sheet, mat), *_axes(sheet, mat)]
    for tile in tiles:
        corner, end = sheet.at(tile.high[0], tile.high[1]), sheet.at(tile.low[0], tile.low[1])
        parts.append(
            f'<rect class="tile" x="{corner[0]:.2f}" y="{corner[1]:.2f}" '
            f'width="{end[0] - corner[0]:.2f}" height="{end[1] - corner[1]:.2f}"/>'
        )
        middle = (corner[0] + end[0]) / 2, (corner[1] + end[1]) / 2
        parts.append(_text(middle, tile.name, 'tilename', 6.0))
    return _svg(spans[0] / scale + 2 * _LABELS, spans[1] / scale + _ABOVE + _BELOW, parts)
