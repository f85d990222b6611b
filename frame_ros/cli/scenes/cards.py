# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""`frame-ros scenes cards`: printable cards and mats by which scenes are set up by hand."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from frame_ros.cli.arguments import given
from frame_ros.cli.scenes.action import SCENE_FILES, Action, names_of
from frame_ros.cli.scenes.verdicts import NOT_CHECKED, SceneChecks
from frame_ros.core.errors import SetupError
from frame_ros.core.option_texts import add_options, from_arguments
from frame_ros.core.output_files import check_file, refuse_inputs, write_whole
from frame_ros.core.plain_text import counted
from frame_ros.scenes.cards.mat import MatOptions
from frame_ros.scenes.generation.limits import SceneLimits

if TYPE_CHECKING:
    from frame_ros.reports.set_up_cards.page import Photo
    from frame_ros.scenes.cards.camera import PlacedCamera
    from frame_ros.scenes.description.scene import Scene

KIND = 'frame_ros scenes cards'  # of the page
ENDINGS = ('.html', '.htm')


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declares the arguments of cards."""
    group = parser.add_argument_group('cards')
    group.add_argument(
        '--mat', action='store_true', help="the grid mat's sheets, 1 : 1, in place of the cards"
    )
    group.add_argument(
        '--only', action='append', default=[], type=given, metavar='SCENE',
        help='name or number, from 1, of a scene of which there is to be a card (default: all)',
    )  # fmt: skip
    for name, meta, text in (
        ('--photo', 'CAMERA=FILE', 'a photo of the table, into which the objects are drawn'),
        ('--camera-info', 'CAMERA=FILE', "its calibration, YAML (default: the scene's camera)"),
        (
            '--extrinsics', 'CAMERA=POSE',
            "'LINK X Y Z ROLL PITCH YAW' of its optical frame, m and rad, the robot at home "
            "(default: the scene's camera)",
        ),
    ):  # fmt: skip
        group.add_argument(name, action='append', default=[], type=given, metavar=meta, help=text)
    group.add_argument(
        '--is-rectified', action='store_true', help='the photos have no distortion any more'
    )
    add_options(group, MatOptions)


def run(args: argparse.Namespace, scenes: Sequence[Scene]) -> int:
    """Writes the page of cards, or the sheets of a mat; returns 1 if a scene of a card breaks a
    constraint, which its card says too.

    Raises:
        SetupError: a file cannot be read or written, arguments do not fit, or a file that is no
            page of cards has the name of the page.
        ValueRangeError: a camera of a photo is not in a scene, or a mat would be too large.
    """
    from frame_ros.reports.html.own_pages import refuse_other_page
    from frame_ros.reports.set_up_cards.page import build_cards, build_mat
    from frame_ros.scenes.cards.mat import mats_of

    if args.output is None:
        raise SetupError('cards needs --output, an HTML file')
    output = check_file(args.output, '--output')
    if output.suffix.lower() not in ENDINGS:
        raise SetupError(f'--output is {str(output)!r}; cards end in {" or ".join(ENDINGS)}')
    photos, infos, poses = (
        _by_camera(name, values)
        for name, values in (
            ('--photo', args.photo),
            ('--camera-info', args.camera_info),
            ('--extrinsics', args.extrinsics),
        )
    )
    inputs = [*args.files, *photos.values(), *infos.values()]
    refuse_inputs(output, [Path(file).expanduser() for file in inputs], '--output')
    refuse_other_page(output, KIND)
    chosen = chosen_scenes(scenes, args.only)
    mats = mats_of(chosen, from_arguments(MatOptions, args))
    if args.mat:
        if len(mats) != 1:
            raise SetupError(f'--mat is of one robot; the scenes have {", ".join(mats)}')
        ((robot, mat),) = mats.items()
        text, said, problems = build_mat(robot, mat), f'the mat of {robot}', {}
    else:
        seen = _photos(photos, infos, poses, chosen, args.is_rectified)
        problems = problems_of(chosen, from_arguments(SceneLimits, args))
        text = build_cards(chosen, mats, seen, problems=problems)
        said = counted(len(chosen), 'card')
    write_whole(output, text, 'the cards')
    print(f'{said}: {output}')
    return 1 if problems else 0


def _names() -> frozenset[str]:
    photos = {'mat', 'only', 'photo', 'camera_info', 'extrinsics', 'is_rectified'}
    limits = names_of(SceneLimits, without=('attempts',))
    return names_of(MatOptions) | limits | {'output', *photos}


ACTIONS = {
    'cards': Action(
        'write printable cards by which scenes are set up by hand', run, _names, SCENE_FILES
    )
}


def problems_of(scenes: Sequence[Scene], limits: SceneLimits) -> dict[int, str]:
    """Prints what scenes break, as `check` does.

    Returns:
        Place of the scene -> what is wrong with it, for its card.
    """
    checks, problems, unchecked = SceneChecks(limits), dict[int, str](), Counter[str]()
    for place, each in enumerate(scenes):
        verdict, text = checks.verdict(each)
        if verdict == NOT_CHECKED:
            unchecked[text] += 1
        elif text:
            problems[place] = text
            print(f'{each.name}: {text}')
    for text, count in unchecked.items():
        print(f'{counted(count, "scene")} {text}')
    return problems


def chosen_scenes(scenes: Sequence[Scene], only: Sequence[str]) -> Sequence[Scene]:
    """Returns the scenes of these names or numbers, from 1; all if there are none.

    Raises:
        SetupError: there is no such scene, or none at all.
    """
    from frame_ros.scenes.cards.choice import find_scene

    if not scenes:
        raise SetupError('there is no scene in the files')
    return [scenes[find_scene(scenes, each)] for each in only] if only else scenes


def _by_camera(name: str, values: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for value in values:
        camera, mark, rest = value.partition('=')
        if not (camera.strip() and mark and rest.strip()):
            raise SetupError(f'{name} is {value!r}; it must be CAMERA=..., such as front=...')
        if camera in found:
            raise SetupError(f'{name} names the camera {camera!r} twice')
        found[camera] = rest
    return found


def _photos(
    photos: Mapping[str, str],
    infos: Mapping[str, str],
    poses: Mapping[str, str],
    scenes: Sequence[Scene],
    is_rectified: bool,
) -> list[Photo]:
    from frame_ros.reports.set_up_cards.page import Photo
    from frame_ros.scenes.cards.camera_files import read_photo

    for name, values in (('--camera-info', infos), ('--extrinsics', poses)):
        if idle := [camera for camera in values if camera not in photos]:
            raise SetupError(f'{name} is of the camera {idle[0]!r}, of which there is no --photo')
    found = []
    for camera, file in photos.items():
        placed = _placed(camera, infos.get(camera), poses.get(camera), scenes, is_rectified)
        found.append(Photo(camera, read_photo(file), placed))
    return found


def _placed(
    camera: str, info: str | None, pose: str | None, scenes: Sequence[Scene], is_rectified: bool
) -> PlacedCamera | None:
    """The camera of a photo from its files; None: as each scene has it."""
    from frame_ros.reports.set_up_cards.page import scene_camera
    from frame_ros.scenes.cards.camera import PlacedCamera
    from frame_ros.scenes.cards.camera_files import read_lens
    from frame_ros.scenes.cards.robot_pose import pose_at_home

    if info is None and pose is None:
        return None
    if pose is None or info is None:
        given_part = '--extrinsics' if info is None else '--camera-info'
        if len({scene.cameras for scene in scenes}) > 1:
            raise SetupError(
                f'{given_part} of {camera} alone, and the scenes have other cameras each: give '
                'both --camera-info and --extrinsics'
            )
    lens = read_lens(info, is_rectified) if info else scene_camera(scenes[0], camera).lens
    if pose is None:
        known = scene_camera(scenes[0], camera)
        return PlacedCamera(lens=lens, position=known.position, rotation=known.rotation)
    robots = {scene.robot for scene in scenes}
    if len(robots) > 1:
        raise SetupError(f'--extrinsics are of one robot; the scenes have {", ".join(robots)}')
    position, rotation = pose_at_home(scenes[0].robot, camera, pose)
    return PlacedCamera(lens=lens, position=position, rotation=rotation)
