# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Cost of the simulation: `python benchmarks/simulator.py [--node SECONDS]`.

Physics, truth and images one by one, then how much faster than real time they run together without
ROS; with --node also the node itself for some seconds: how much it simulated, how many images it
published, how much of a core it took.
"""

import argparse
import os
import re
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from parts.bars import Bars, parse

from frame_ros.policies.protocol import Observation
from frame_ros.policies.scripted.pick_place import ScriptedPickPlace
from frame_ros.scenes import PickPlaceSimulation

TICK_STEPS, TICK = 10, 0.02  # timesteps and s of the tick that FACTS.md speaks of


def milliseconds(call: Callable[[], object], repeats: int = 100) -> float:
    """The median duration of a call."""
    durations = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        durations.append(time.perf_counter() - start)
    return 1e3 * statistics.median(durations)


def infer_milliseconds(simulation: PickPlaceSimulation) -> tuple[float, float]:
    """The scripted policy's first inference, which plans, and a later one."""
    policy = ScriptedPickPlace()
    poses = {'object': simulation.object_pose(), 'goal': simulation.goal_pose()}
    positions = simulation.joint_state().positions
    observation = Observation(0, 0, simulation.joint_names, positions, poses=poses)

    def plan() -> None:
        policy.reset(0)
        policy.infer(observation)

    return milliseconds(plan, 20), milliseconds(lambda: policy.infer(observation))


def report_parts(simulation: PickPlaceSimulation) -> None:
    """Prints the cost of every part."""
    first, later = infer_milliseconds(simulation)
    costs = {
        f'physics and contacts of a {TICK * 1e3:.0f} ms tick': milliseconds(simulation.step),
        'contacts': milliseconds(simulation.contacts),
        'least distances': milliseconds(simulation.distance),
        'scripted policy, plan': first,
        'scripted policy, later chunk': later,
    }
    for what, cost in costs.items():
        print(f'{what:36s} {cost:7.3f} ms')
    for size in ((320, 240), (640, 480)):
        for camera in ('front', 'wrist'):
            for with_depth in (False, True):
                report_image(simulation, camera, size, with_depth)


def report_image(
    simulation: PickPlaceSimulation, camera: str, size: tuple[int, int], with_depth: bool
) -> None:
    """Prints the cost of one camera's image."""
    simulation.render(camera, *size)
    cost = milliseconds(lambda: simulation.render(camera, *size, with_depth), 40)
    what = f'{camera} {size[0]}x{size[1]}{" with depth" if with_depth else ""}'
    print(f'{what:36s} {cost:7.3f} ms  {1e3 / cost:5.0f} frames/s')


def real_time_factor(simulation: PickPlaceSimulation, seconds: float, image_rate: float) -> float:
    """Simulated time over wall time with truth at every tick and two cameras, in one thread."""
    ticks = round(seconds / TICK)
    every = max(1, round(1 / image_rate / TICK))
    start = time.perf_counter()
    for tick in range(ticks):
        simulation.step()
        simulation.distance()
        if tick % every == 0:
            simulation.render('front', with_depth=True)
            simulation.render('wrist')
    return seconds / (time.perf_counter() - start)


def report_node(seconds: float) -> None:
    """Runs the node and prints what it says of itself, and its processor time."""
    command = [
        sys.executable,
        '-m',
        'frame_ros.nodes.simulator',
        '--ros-args',
        '-p',
        'viewer:=false',
    ]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if 'cameras:' in line:
            break
    before = os.times()
    time.sleep(seconds)
    process.send_signal(signal.SIGTERM)
    rest = process.stderr.read()
    process.wait()
    after = os.times()
    used = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    simulated = float(re.search(r'simulated ([\d.]+) s', rest)[1])  # type: ignore[index]
    print(f'node: real-time factor {simulated / seconds:.3f} over {seconds:.0f} s')
    print(f'node: {used:.1f} s of processor time, start included')
    print(rest.strip().splitlines()[-1])


def main() -> int:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=10.0, help='simulated without ROS')
    parser.add_argument(
        '--node', type=float, default=0.0, help='s for which to run the node; 0: not'
    )
    options = parse(parser, seconds=1.0)
    simulation = PickPlaceSimulation(seed=3)
    report_parts(simulation)
    factor = real_time_factor(simulation, options.seconds, 20.0)
    print(f'all together, cameras at 20 Hz: {factor:.1f} times real time on one core, without ROS')
    simulation.close()
    if options.node:
        report_node(options.node)
    bars = Bars(options)
    bars.at_least('times real time, cameras at 20 Hz', factor, 1.0)
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
