#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Stamps that jump, found by when messages really arrive: over DDS on this machine, or in bags.

    python benchmarks/stamp_jumps.py [--duration 60] [--busy 2]
    python benchmarks/stamp_jumps.py BAG...

Stamps and arrivals are recorded once, and judged as they are (whatever is found there is false) and
with jumps added at moments 2 s apart. Without bags a process publishes joint states, wrenches and
small images at 100, 1000 and 30 Hz, and as many others as `--busy` says take the processor away.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from parts.bars import Bars, busy_loops, parse

from frame_ros.bags.fields import FieldReader
from frame_ros.bags.reader import Bag
from frame_ros.core.errors import BagError
from frame_ros.core.time import SECOND
from frame_ros.sensing.stream_health.stamp_jumps import StampJumps

RATES = {'joint_states': 100, 'wrench': 1000, 'image': 30}  # Hz
JUMPS = (0.01, 0.02, -0.02, 0.05, -0.05)  # s
BAR, BARRED = 1.0, 0.02  # s in which a jump of that size, s, is to be found
TURN, SETTLED = 2 * SECOND, SECOND  # ns from jump to jump, and before the first
STREAMS = (
    'sensor_msgs/msg/JointState', 'geometry_msgs/msg/WrenchStamped', 'sensor_msgs/msg/Image',
    'sensor_msgs/msg/CompressedImage',
)  # fmt: skip
Pairs = NDArray[np.int64]  # (N, 2) ns: stamps and arrivals


def publish() -> None:
    """Publishes until it is ended."""
    import rclpy
    from geometry_msgs.msg import WrenchStamped
    from rclpy.qos import qos_profile_sensor_data
    from sensor_msgs.msg import Image, JointState

    rclpy.init()
    node = rclpy.create_node('publisher')
    kinds = {'joint_states': JointState, 'wrench': WrenchStamped, 'image': Image}
    messages = {name: kind() for name, kind in kinds.items()}
    messages['image'].data = bytes(320 * 240)
    publishers = {
        name: node.create_publisher(kind, name, qos_profile_sensor_data)
        for name, kind in kinds.items()
    }
    begin, sent = time.monotonic(), dict.fromkeys(RATES, 0)
    while True:
        for name, rate in RATES.items():
            if (time.monotonic() - begin) * rate >= sent[name]:
                stamp, sent[name] = messages[name].header.stamp, sent[name] + 1
                stamp.sec, stamp.nanosec = divmod(time.time_ns(), SECOND)
                publishers[name].publish(messages[name])
        time.sleep(2e-4)


def over_dds(duration: float, busy: int) -> Iterator[tuple[str, Pairs]]:
    """Yields streams as they arrive here from another process."""
    import rclpy
    from geometry_msgs.msg import WrenchStamped
    from rclpy.qos import QoSProfile, ReliabilityPolicy
    from sensor_msgs.msg import Image, JointState

    from frame_ros.core.time import stamp_ns
    from frame_ros.nodes.runtime.polled import PolledSubscription

    rclpy.init()
    node = rclpy.create_node('receiver')
    qos = QoSProfile(depth=2000, reliability=ReliabilityPolicy.BEST_EFFORT)
    kinds = {'joint_states': JointState, 'wrench': WrenchStamped, 'image': Image}
    inputs = {name: PolledSubscription(node, kind, name, qos) for name, kind in kinds.items()}
    found: dict[str, list[tuple[int, int]]] = {name: [] for name in kinds}
    started = subprocess.Popen([sys.executable, __file__, '--publish'])
    try:
        with busy_loops(busy):
            end = None
            while end is None or time.monotonic() < end:
                for name, subscription in inputs.items():
                    found[name] += [
                        (stamp_ns(message.header.stamp), info['received_timestamp'])
                        for message, info in subscription.take(1000)
                    ]
                if end is None and all(found.values()):
                    end = time.monotonic() + duration
                time.sleep(0.002)
    finally:
        started.kill()
        started.wait()
        rclpy.try_shutdown()
    for name, pairs in found.items():
        yield name, np.array(pairs, np.int64)


def of_bags(paths: list[Path]) -> Iterator[tuple[str, Pairs]]:
    """Yields the streams of bags that the check of streams knows."""
    for path in paths:
        bag = Bag(path)
        for topic in bag.topics.values():
            if topic.message_type not in STREAMS or not topic.types:
                continue
            reader = FieldReader(topic.message_type, ('header.stamp',), topic.types)
            pairs = []
            for received, data in bag.raw(topic.name):
                pairs.append((reader.read(data.data)[0], received))
            if pairs:
                yield topic.name, np.array(pairs, np.int64)


def jumps_in(pairs: Pairs) -> list[tuple[int, float]]:
    """Returns of each jump that is found in messages by when it was (ns of arrival), and s."""
    jumps = StampJumps()
    found = []
    for stamp, arrival in pairs.tolist():
        if (jump := jumps.add(stamp, arrival)) is not None:
            found.append((arrival, jump.seconds))
    return found


def with_jump(pairs: Pairs, jump: float) -> tuple[int, list[float], int]:
    """Returns how many jumps were added, after how many s those were found that were, and how many
    were found elsewhere or of another size.
    """
    times: list[float] = []
    false = count = 0
    begin, end = pairs[0, 1] + SETTLED, pairs[-1, 1] - TURN // 2
    for at in range(int(begin), int(end), TURN):
        around = pairs[(pairs[:, 1] >= at - SETTLED) & (pairs[:, 1] < at + TURN)].copy()
        is_behind = around[:, 1] >= at
        if not is_behind.any() or is_behind.all():
            continue
        count += 1
        first = int(around[is_behind, 1][0])
        around[is_behind, 0] += round(jump * SECOND)
        found = jumps_in(around)
        true = [each for each in found if abs(each[1] - jump) <= 0.3 * abs(jump)]
        times += [(each[0] - first) / SECOND for each in true[:1]]
        false += len(found) - bool(true)
    return count, times, false


def print_unchanged(streams: list[tuple[str, Pairs]], bars: Bars) -> None:
    """Prints how long messages take, and what is found in them as they are."""
    print('| stream | messages | least, median, largest ms to arrival | found where none is |')
    print('| --- | --- | --- | --- |')
    for name, pairs in streams:
        delays = (pairs[:, 1] - pairs[:, 0]) / 1e6
        least, median, largest = np.percentile(delays, (0, 50, 100))
        false = len(jumps_in(pairs))
        print(f'| {name} | {len(pairs)} | {least:.1f}, {median:.1f}, {largest:.1f} | {false} |')
        bars.at_most(f'{name}, jumps found where none is', false, 0)


def print_jumps(streams: list[tuple[str, Pairs]], bars: Bars) -> None:
    """Prints which of the added jumps are found, and when."""
    print('\n| stream | jump | found | after s, median and largest | others |')
    print('| --- | --- | --- | --- | --- |')
    for name in sorted({name for name, _ in streams}):
        for jump in JUMPS:
            results = [with_jump(pairs, jump) for each, pairs in streams if each == name]
            count = sum(result[0] for result in results)
            times = [seconds for result in results for seconds in result[1]]
            others = sum(result[2] for result in results)
            when = f'{np.median(times):.2f}, {max(times):.2f}' if times else ''
            size = f'{1e3 * jump:+.0f} ms'
            print(f'| {name} | {size} | {len(times)} of {count} | {when} | {others} |')
            if abs(jump) >= BARRED and 'image' not in name and count:
                share = sum(seconds <= BAR for seconds in times) / count
                bars.at_least(f'{name}, {size}, found within {BAR:g} s', share, 1.0)


def main() -> int:
    """Prints a table, and judges jumps of joint states and wrenches."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('bags', type=Path, nargs='*', metavar='BAG', help='recordings to judge')
    parser.add_argument('--duration', type=float, default=60.0, help='s of messages over DDS')
    parser.add_argument('--busy', type=int, default=2, help='processes that take the processor')
    parser.add_argument('--publish', action='store_true', help=argparse.SUPPRESS)
    args = parse(parser, duration=6.0)
    if args.publish:
        publish()
    bars = Bars(args)
    try:
        streams = list(of_bags(args.bags) if args.bags else over_dds(args.duration, args.busy))
    except BagError as error:
        print(error, file=sys.stderr)
        return 2
    print_unchanged(streams, bars)
    print_jumps(streams, bars)
    return bars.exit_status()


if __name__ == '__main__':
    raise SystemExit(main())
