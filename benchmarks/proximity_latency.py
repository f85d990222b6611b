# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""From a depth image's stamp to the Proximity published, on a machine that has other things to do.

    python benchmarks/proximity_latency.py [--seconds 30] [--rate 30] [--joint-rate 200]
                                           [--robot so101] [--camera front] [--busy 2]
                                           [--priorities 0,40] [--alignment 0.5] [--json]

Three processes of ours and --busy more (default: one per core) that only spin: one publishes depth
images of 640x480 (16UC1, of the simulated arm in motion, with the noise of a stereo camera) and
joint states, the node measures, one listens. An image's stamp is taken when it is complete and just
before it is published, as a driver does that stamps on arrival; the time that a camera needs to
expose and send is not in it. Published: the middleware's own time of publication. Heard: when the
listener took it. Joint states that the node must wait for are in it. One row for each real-time
priority of the node's thread (0: none). Nothing leaves this machine.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from parts.bars import Bars, busy_loops, parse, started

ROOT = Path(__file__).resolve().parent.parent
WIDTH, HEIGHT = 640, 480
FRAMES, STEP = 30, 0.05  # pictures that are shown to and fro; s of simulation between two
LATENCY_BAR = 40.0  # ms, of 99 % of the messages of the node with the highest priority
SETTLE = 2.0  # s at the start that do not count


def draw(robot: str, camera: str, path: Path) -> str:
    """Writes the pictures and the joints at each; returns the camera's extrinsics."""
    from frame_ros.scenes import PickPlaceSimulation
    from frame_ros.scenes.simulation.noise.depth_noise import DepthNoise

    simulation = PickPlaceSimulation(1, robot=robot)
    intrinsics = simulation.intrinsics(camera, WIDTH, HEIGHT)
    noise = DepthNoise(intrinsics)
    home = np.array(simulation.robot.home)
    steps = round(STEP / simulation.timestep)
    depth, joints = [], []
    for index in range(FRAMES):
        turn = np.zeros(len(home))
        turn[:3] = 0.4 * np.sin(2 * np.pi * index / FRAMES + np.arange(3))
        simulation.step(np.clip(home + turn, simulation.lower, simulation.upper), steps)
        frame = simulation.render(camera, WIDTH, HEIGHT, True)
        depth.append(noise(frame.depth, frame.rgb))
        joints.append(simulation.joint_state().positions)
    focal = (intrinsics.focal, intrinsics.cx, intrinsics.cy)
    np.savez(path, depth=depth, joints=joints, names=simulation.joint_names, camera=focal)
    link, position, quaternion = simulation.camera_mount(camera)
    return ' '.join([link, *(f'{value:.9f}' for value in (*position, *quaternion))])


def publish(path: Path, seconds: float, rate: float, joint_rate: float) -> None:
    """Publishes images and joint states once both are listened to; prints the images' stamps."""
    import rclpy
    from rclpy.qos import QoSProfile
    from sensor_msgs.msg import CameraInfo, Image, JointState

    rclpy.init()
    node = rclpy.create_node('depth_source')
    images = node.create_publisher(Image, 'bench/depth/image_raw', QoSProfile(depth=5))
    infos = node.create_publisher(CameraInfo, 'bench/depth/camera_info', QoSProfile(depth=5))
    states = node.create_publisher(JointState, 'joint_states', QoSProfile(depth=50))
    scene = np.load(path)
    pictures = [picture.astype('<u2').tobytes() for picture in scene['depth']]
    rows = scene['joints']
    order = [*range(FRAMES), *range(FRAMES - 2, 0, -1)]
    image, info, joints = Image(), _camera_info(scene['camera']), JointState()
    image.height, image.width, image.encoding, image.step = HEIGHT, WIDTH, '16UC1', 2 * WIDTH
    image.header.frame_id = 'bench_optical'
    joints.name = scene['names'].tolist()
    while not (images.get_subscription_count() and states.get_subscription_count()):
        time.sleep(0.05)
    time.sleep(1.0)
    stamps, start, sent, said = [], time.monotonic(), 0, 0
    while (now := time.monotonic() - start) < seconds:
        if now >= said / joint_rate:
            place = now * rate % len(order)
            at, share = int(place), place % 1.0
            here, there = (rows[order[(at + k) % len(order)]] for k in (0, 1))
            joints.position = ((1 - share) * here + share * there).tolist()
            _stamp(joints)
            states.publish(joints)
            said = max(said + 1, int(now * joint_rate))
        if now >= sent / rate:
            image.data = pictures[order[sent % len(order)]]
            infos.publish(info)
            stamps.append(_stamp(image))
            images.publish(image)
            sent += 1
        due = min(said / joint_rate, sent / rate) - (time.monotonic() - start)
        time.sleep(max(due, 0.0))
    time.sleep(0.5)
    print(json.dumps(stamps))
    rclpy.shutdown()


def _camera_info(camera):
    from sensor_msgs.msg import CameraInfo

    focal, cx, cy = (float(value) for value in camera)
    info = CameraInfo(width=WIDTH, height=HEIGHT, distortion_model='plumb_bob')
    info.d, info.k = [0.0] * 5, [focal, 0.0, cx, 0.0, focal, cy, 0.0, 0.0, 1.0]
    info.p = [focal, 0.0, cx, 0.0, 0.0, focal, cy, 0.0, 0.0, 0.0, 1.0, 0.0]
    return info


def _stamp(message) -> int:
    now = time.time_ns()
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(now, 10**9)
    return now


def listen() -> None:
    """Takes what is published until SIGTERM; prints stamp, when published, when heard, whether
    anything was measured.
    """
    import rclpy
    from rclpy.qos import QoSProfile

    from frame_ros.msg import Proximity
    from frame_ros.nodes.runtime.polled import PolledSubscription
    from frame_ros.nodes.runtime.spinning import stop_on_signals

    with stop_on_signals() as stop:
        rclpy.init()
        node = rclpy.create_node('listener')
        proximity = PolledSubscription(node, Proximity, 'proximity', QoSProfile(depth=100))
        rows = []
        while not stop.event.is_set():
            proximity.wait(0.05)
            for message, info in proximity.take():
                heard = time.time_ns()
                stamp = message.header.stamp.sec * 10**9 + message.header.stamp.nanosec
                rows.append((stamp, info['source_timestamp'], heard, message.unavailable))
        print(json.dumps(rows))
        rclpy.try_shutdown()


def measure(arguments: argparse.Namespace, path: Path, mount: str, priority: int) -> dict:
    """One run; figures in ms."""
    parameters = {
        'robot': arguments.robot, 'cameras': '[bench]', 'extrinsics': f'["bench={mount}"]',
        'depth.surface_height': 0.0, 'alignment.rate': arguments.alignment,
        'realtime_priority': priority, 'depth.needs_links_in_view': 'false',
    }  # fmt: skip
    node = [sys.executable, '-m', 'frame_ros.nodes.proximity', '--ros-args', '--log-level', 'error']
    node += [part for name, value in parameters.items() for part in ('-p', f'{name}:={value}')]
    this = [sys.executable, __file__]
    source = [f'--seconds={arguments.seconds + SETTLE}', f'--rate={arguments.rate}']
    source += [f'--joint-rate={arguments.joint_rate}', f'--path={path}']
    with contextlib.ExitStack() as stack:
        listener = stack.enter_context(
            started([*this, '--role=listen'], stdout=subprocess.PIPE, text=True)
        )
        stack.enter_context(started(node, cwd=ROOT))
        time.sleep(4.0)
        stack.enter_context(busy_loops(arguments.busy))
        done = subprocess.run(
            [*this, '--role=publish', *source], stdout=subprocess.PIPE, text=True, check=True
        )
        listener.send_signal(signal.SIGTERM)
        rows = json.loads(listener.communicate(timeout=20)[0])
    return _figures(json.loads(done.stdout), rows)


def _figures(stamps: list[int], rows: list) -> dict:
    counted = {stamp for stamp in stamps if stamp - stamps[0] > SETTLE * 1e9}
    found = [row for row in rows if row[0] in counted]
    figures = {'images': len(counted), 'lost': len(counted) - len(found)}
    figures['unavailable'] = sum(bool(row[3]) for row in found)
    for name, column in (('published', 1), ('heard', 2)):
        late = np.array([row[column] - row[0] for row in found]) / 1e6
        for kind, value in (
            ('median', np.median(late)), ('p95', np.percentile(late, 95)),
            ('p99', np.percentile(late, 99)), ('max', late.max()),
            ('over_40', int((late > 40).sum())),
        ):  # fmt: skip
            figures[f'{name}_{kind}'] = float(value)
    return figures


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--seconds', type=float, default=30.0)
    parser.add_argument('--rate', type=float, default=30.0, help='Hz of the images')
    parser.add_argument('--joint-rate', type=float, default=200.0, help='Hz of joint states')
    parser.add_argument('--robot', default='so101')
    parser.add_argument('--camera', default='front')
    parser.add_argument('--busy', type=int, default=os.cpu_count(), help='processes that spin')
    parser.add_argument('--priorities', default='0,40', help='of the node, one run each')
    parser.add_argument('--alignment', type=float, default=0.5, help='Hz of the alignment check')
    parser.add_argument('--json', action='store_true', help='print JSON instead of a table')
    parser.add_argument('--path', type=Path, help=argparse.SUPPRESS)
    parser.add_argument(
        '--role', choices=('all', 'publish', 'listen'), default='all',
        help=argparse.SUPPRESS,
    )  # fmt: skip
    return parse(parser, seconds=4.0, priorities='40')


def main() -> int:
    arguments = options()
    if arguments.role == 'publish':
        publish(arguments.path, arguments.seconds, arguments.rate, arguments.joint_rate)
    elif arguments.role == 'listen':
        listen()
    else:
        return compare(arguments)
    return 0


def compare(arguments: argparse.Namespace) -> int:
    """A run for each priority, and their figures."""
    profile = str(ROOT / 'config' / 'fastdds_loopback.xml')
    os.environ.update(
        FASTRTPS_DEFAULT_PROFILES_FILE=profile, FASTDDS_DEFAULT_PROFILES_FILE=profile,
        ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST', OMP_NUM_THREADS='1',
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'scene.npz'
        mount = draw(arguments.robot, arguments.camera, path)
        results = {
            priority: measure(arguments, path, mount, priority)
            for priority in map(int, arguments.priorities.split(','))
        }
    if arguments.json:
        print(json.dumps(results, indent=2))
    else:
        print_table(arguments, results)
    bars, best = Bars(arguments), max(results)
    bars.at_most(
        f'published, priority {best}, 99 % within ms', results[best]['published_p99'], LATENCY_BAR
    )
    bars.at_most(f'priority {best}, images lost', results[best]['lost'], 0)
    return bars.exit_status()


def print_table(arguments: argparse.Namespace, results: dict[int, dict]) -> None:
    print(
        f'{WIDTH}x{HEIGHT} 16UC1 at {arguments.rate:g} Hz, joint states at '
        f'{arguments.joint_rate:g} Hz, {arguments.busy} busy loops on {os.cpu_count()} cores; '
        f'load average before: {os.getloadavg()[2]:.1f}'
    )
    print('ms from the stamp    priority  median     p95     p99     max  over 40 ms   lost  unav.')
    for priority, figures in results.items():
        for name in ('published', 'heard'):
            times = [figures[f'{name}_{kind}'] for kind in ('median', 'p95', 'p99', 'max')]
            over = f'{figures[f"{name}_over_40"]:.0f} of {figures["images"]}'
            print(
                f'{name:20} {priority:8d}'
                + ''.join(f'{value:8.1f}' for value in times)
                + f'{over:>12}{figures["lost"]:7d}{figures["unavailable"]:7d}'
            )


if __name__ == '__main__':
    sys.exit(main())
