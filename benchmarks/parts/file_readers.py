# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Reads damaged files as the commands do, in a process of its own that reports after each file how
it ended, the time and the memory that it took."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import resource
import sys
import time
import traceback
import warnings
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from frame_ros.core.errors import FrameRosError

# Of address space, beyond what the libraries take: that a mistake here does not fill the machine.
MOST_SPACE = 6 << 30
MOST_FITS = 1000
# One bag in so many is reported on; one in so many also as a page. A bag's folder always is.
REPORTED, SHOWN = 3, 12
# An error that was caught for being none of ours, as `reading` reports it.
UNCLEAR = re.compile(r'\((?!OSError)(\w*(?:Error|Exception|Interrupt)): ')


def read_bag(path: Path) -> None:
    """Episodes with metrics, topics, images, outcomes; of a share of the files also the report, as
    JSON, and of some of those as a page.
    """
    from frame_ros.bags.images.decoding import find_image_topics, iter_images
    from frame_ros.bags.reader import Bag
    from frame_ros.episodes.reading import read_episodes
    from frame_ros.episodes.topic_statistics import topic_statistics

    bag = Bag(path)
    for name in find_image_topics(bag):
        with contextlib.suppress(FrameRosError):
            list(iter_images(bag, name))
    topic_statistics(bag)
    read_outcomes(path)
    size = sum(file.stat().st_size for file in path.parent.iterdir()) if path.is_file() else 0
    chance = zlib.crc32(str(size).encode()) if size else 0
    if chance % REPORTED == 0:  # the report reads the episodes
        _report(path, chance % SHOWN == 0)
        return
    for episode in read_episodes(path):
        _check_words('\n'.join(map(str, episode.problems)))


def _report(path: Path, is_page: bool) -> None:
    from frame_ros import cli

    target = path.parent / 'out'
    arguments = ['report', str(path), '-q', '--json', f'{target}.json']
    arguments += ['-o', f'{target}.html'] * is_page
    said = io.StringIO()
    with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
        code = cli.main(arguments)
    if code not in (0, 1, 2) or (code and not said.getvalue().strip()):
        raise RuntimeError(f'frame-ros report returned {code} and said nothing')
    data = Path(f'{target}.json')
    _check_words(said.getvalue() + (data.read_text('utf-8') if data.exists() else ''))


def _check_words(said: str) -> None:
    if found := UNCLEAR.search(said):
        raise RuntimeError(f'{found[1]} was reported: {said[found.start() :][:300]}')


def read_robot(path: Path) -> None:
    """Kinematics, dynamics, shapes, and the capsules around meshes."""
    from frame_ros.robots import load_robot
    from frame_ros.robots.dynamics import RobotDynamics
    from frame_ros.robots.shapes.link_shapes import link_shapes
    from frame_ros.robots.shapes.mesh_capsules import mesh_capsules

    robot = load_robot(path)
    middle = np.nan_to_num(0.5 * (robot.lower + robot.upper), nan=0.0, posinf=0.0, neginf=0.0)
    steps: tuple[Callable[[], Any], ...] = (
        lambda: (robot.forward(middle), robot.jacobian(middle)),
        lambda: (robot.link_poses({}), robot.link_capsules),
        lambda: RobotDynamics(robot),
        lambda: link_shapes(robot),
        lambda: mesh_capsules(robot, path.parent),
    )
    errors = []
    for step in steps:
        try:
            step()
        except FrameRosError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def read_params(path: Path) -> None:
    from frame_ros.bringup.parameter_files import read_file

    read_file(str(path))


def read_motors(path: Path) -> None:
    from frame_ros.sensing.contact.joints.motor_model import load_motors

    load_motors(path)


def read_tool(path: Path) -> None:
    from frame_ros.sensing.contact.wrench.tool_file import read_tool as read

    read(path)


def read_obstacles(path: Path) -> None:
    from frame_ros.sensing.proximity.obstacles.files import load_obstacles

    load_obstacles(path)


def read_capsules(path: Path) -> None:
    from frame_ros.robots import load_robot
    from frame_ros.robots.shapes.filter_shapes import load_shapes

    load_shapes(path, load_robot('so101'))


def read_rephrasings(path: Path) -> None:
    from frame_ros.policies.rephrasing.rephrasings import load_reviewed

    load_reviewed(path)


def read_options(path: Path) -> None:
    """A mapping of settings, a LeRobot option, a region, from YAML texts."""
    from frame_ros.core.option_texts import parse_list, parse_mapping
    from frame_ros.hardware.lerobot.devices import parse_value
    from frame_ros.sensing.contact.options import region_of

    text = path.read_bytes().decode('utf-8', 'replace')
    errors = []
    for read in (
        lambda: parse_mapping('policy_options', str(path)),
        lambda: parse_mapping('policy_options', text),
        lambda: parse_list('joints', text, float),
        lambda: parse_value('option', text),
        lambda: region_of(text),
    ):
        try:
            read()
        except FrameRosError as error:
            errors.append(error)
    if errors:
        raise errors[0]


def read_calibration(path: Path) -> None:
    from frame_ros.bags.recording_options import load_recorded_units

    load_recorded_units('ticks', path)


def read_token_map(path: Path) -> None:
    from frame_ros.policies.token_vla.token_map import token_map

    token_map(path)


def read_outcomes(path: Path) -> None:
    from frame_ros.evaluation.outcomes.csv_writing import outcomes_csv
    from frame_ros.evaluation.outcomes.options import OutcomeOptions
    from frame_ros.evaluation.outcomes.reading import read_outcomes as read

    found = read([path], OutcomeOptions(cache=False))
    outcomes_csv(found.outcomes)
    for bag in found.unread:
        _check_words(bag.reason)


READERS: dict[str, Callable[[Path], None]] = {
    'bag': read_bag,
    'robot': read_robot,
    'params': read_params,
    'motors': read_motors,
    'tool': read_tool,
    'obstacles': read_obstacles,
    'capsules': read_capsules,
    'rephrasings': read_rephrasings,
    'options': read_options,
    'calibration': read_calibration,
    'token_map': read_token_map,
    'outcomes': read_outcomes,
}


def serve() -> None:
    """Answers each line on stdin, a reader and a path, with a line of JSON on stdout."""
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)
    warnings.simplefilter('ignore')
    _remember_fits()
    for module in ('cv2', 'pinocchio', 'coal', 'trimesh', 'frame_ros.reports'):
        with contextlib.suppress(ImportError):
            __import__(module)
    space = int(Path('/proc/self/statm').read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (space + MOST_SPACE,) * 2)
    answers.write('ready\n')
    answers.flush()
    for line in sys.stdin:
        reader, path = json.loads(line)
        answers.write(json.dumps(judged(READERS[reader], Path(path))) + '\n')
        answers.flush()


def _remember_fits() -> None:
    """Fits capsules to the same points once: most shapes of a damaged description are those of the
    valid one, and their fits are nine tenths of its time.
    """
    from frame_ros.robots.shapes import link_shapes

    fit, known = link_shapes.fit_capsule, dict[bytes, Any]()

    def remembered(points: Any, radii: Any = 0.0) -> Any:
        key = np.asarray(points).tobytes() + np.asarray(radii).tobytes()
        if key not in known:
            if len(known) > MOST_FITS:
                known.clear()
            known[key] = fit(points, radii)
        return known[key]

    link_shapes.fit_capsule = remembered


def judged(read: Callable[[Path], None], path: Path) -> dict[str, Any]:
    """Reads a file. crash: '' after success or an error of ours; else kind, place and words."""
    Path('/proc/self/clear_refs').write_text('5')  # the peak begins here
    started, crash, trace = time.process_time(), '', ''
    is_refused = False
    try:
        read(path)
    except FrameRosError as error:
        is_refused = True
        if found := UNCLEAR.search(str(error)):
            crash, trace = f'{found[1]} was reported: {str(error)[:300]}', str(error)
    except BaseException as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [f for f in frames if 'frame_ros' in f.filename and 'file_readers' not in f.filename]
        where = f'{Path(own[-1].filename).name}:{own[-1].lineno}' if own else '?'
        crash = f'{type(error).__name__} in {where}: {str(error)[:300]}'
        trace = ''.join(traceback.format_exception(error))[-3000:]
    peak = re.search(r'VmHWM:\s+(\d+)', Path('/proc/self/status').read_text())
    return {
        'crash': crash,
        'trace': trace,
        'is_refused': is_refused,
        'seconds': time.process_time() - started,
        'bytes': int(peak[1]) * 1024 if peak else 0,
    }
