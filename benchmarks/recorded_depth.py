#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Distances in depth images of real arms that were recorded: how often the arm's own surface is
taken for an obstacle.

    python benchmarks/recorded_depth.py RECORDING.yaml [RECORDING.yaml ...] [--outline RAD]

Each recording has depth images, joint positions, and masks that say where the arm is seen
(frame_ros/evaluation/recorded_motion/arm_images.py; docs/evaluation-distances.md has those that the
figures are of). Each image is measured with the defaults of the proximity node, its check of the
camera included, without and with --outline. A distance below 100 mm is false if what is seen away
from the mask is farther from the makers' meshes of that link by more than 30 mm. Without a
recording (--short) one is drawn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from parts.bars import Bars, parse
from parts.drawn_arm_images import draw_recording

from frame_ros.core.errors import FrameRosError
from frame_ros.core.version import source_version
from frame_ros.evaluation.recorded_motion.arm_images import ArmImages, read_arm_images
from frame_ros.evaluation.recorded_motion.image_distances import JudgedImage, judged_images
from frame_ros.evaluation.trials.kinds import DISTANCES
from frame_ros.metrics import wilson_interval
from frame_ros.sensing.proximity.depth.options import DepthOptions

MOST_FALSE = 0.001  # bar, share of the images
NEAR = 0.3  # m, of references whose errors are given
HEAD = (
    '| recording | outline | images | refused | nothing measured | of the others with a false '
    'distance below 100 mm | links, false, of those measured | not measured | their distances '
    '| others with something within 0.3 m: off by, median | more than 10 mm too far |\n'
    '| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |'
)


def main() -> int:
    """Prints a table; 1 if the bar is missed or not shown, 2 if a recording cannot be read."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('recordings', nargs='*', type=Path, metavar='RECORDING.yaml')
    default = DepthOptions().outline
    parser.add_argument('--outline', type=float, default=default, help=f'default: {default:g} rad')
    args = parse(parser)
    if not args.recordings and not args.short:
        parser.error('no recording is named')
    bars = Bars(args)
    print(f'version {source_version((*DISTANCES, "frame_ros/evaluation/recorded_motion"))}')
    with tempfile.TemporaryDirectory() as folder:
        files = args.recordings or [draw_recording(Path(folder), smeared=6)]
        try:
            recordings = [read_arm_images(file) for file in files]
        except FrameRosError as error:
            print(error, file=sys.stderr)
            return 2
    print(HEAD)
    for recording in recordings:
        for outline in dict.fromkeys((0.0, args.outline)):
            settings = DepthOptions(surface_height=0.0, outline=outline)
            judged = judged_images(recording, settings)
            print(row(recording, outline, judged), flush=True)
        used = [each.is_false.any() for each in judged if each.is_measured.any()]
        title = f'{recording.name}, images with a false distance, of those with any distance'
        if used:
            bars.at_most(title, float(np.mean(used)), MOST_FALSE)
        else:
            why = next((each.refusal for each in judged if each.refusal), 'no link is in view')
            bars.not_shown(title, f'no image has any: {why}')
    return bars.exit_status()


def row(recording: ArmImages, outline: float, judged: Sequence[JudgedImage]) -> str:
    """Returns the line of one recording."""
    is_false = np.array([each.is_false for each in judged])
    is_measured = np.array([each.is_measured for each in judged])
    measured = np.array([each.measured for each in judged])
    reference = np.array([each.reference for each in judged])
    refused = sum(bool(each.refusal) for each in judged)
    images, used = int(is_false.any(axis=1).sum()), int(is_measured.any(axis=1).sum())
    others = np.isfinite(measured) & (reference < NEAR) & ~is_false
    errors = (measured - reference)[others]
    # What is not measured is no distance that is too far.
    far = f'{(errors > 0.01).sum()} of {len(errors)}' if len(errors) else 'none there'
    share = ''
    if used:
        low, high = wilson_interval(images, used)
        share = f' ({100 * low:.0f} to {100 * high:.0f} %)'
    return (
        f'| {recording.name} | {outline:g} rad | {len(judged)} | {refused} '
        f'| {len(judged) - refused - used} | {images} of {used}{share} '
        f'| {is_false.sum()} of {is_measured.sum()} | {(~is_measured).sum()} '
        f'| {_span(measured[is_false])} '
        f'| {f"{1e3 * np.median(errors):+.0f} mm" if len(errors) else ""} | {far} |'
    )


def _span(values: np.ndarray) -> str:
    if not len(values):
        return ''
    low, middle, high = 1e3 * np.quantile(values, (0.0, 0.5, 1.0))
    return f'{low:.0f}, {middle:.0f}, {high:.0f} mm'


if __name__ == '__main__':
    sys.exit(main())
