# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""All streams of one robot, judged together: the joints witness whether the others should change.

The same code judges them live and in a bag.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from frame_ros.core.health import Level, Status
from frame_ros.core.time import SECOND
from frame_ros.core.turns import continuous_among, nearest_turn
from frame_ros.robots.robot import Robot
from frame_ros.sensing.stream_health.image_samples import ImageSample, change_between
from frame_ros.sensing.stream_health.joint_limits import JointLimits
from frame_ros.sensing.stream_health.judged_stream import SPREAD, UNKNOWN_OFFSET, Judged
from frame_ros.sensing.stream_health.motion import JointMotion
from frame_ros.sensing.stream_health.options import StreamHealthOptions
from frame_ros.sensing.stream_health.publishers import AXES, PublisherCheck
from frame_ros.sensing.stream_health.sensor_motion import SpecificForce
from frame_ros.sensing.stream_health.stamp_jumps import StampJump, StampJumps, allowance
from frame_ros.sensing.stream_health.steady_stamps import SteadyStamps
from frame_ros.sensing.stream_health.stream_check import HEALTHY, StreamCheck, Verdict
from frame_ros.sensing.stream_health.time_offset import TimeOffsetEstimator

Array = NDArray[np.float64]
JOINT_STATES = 'joint_states'
WRENCH = 'wrench'  # the raw one, of a tool that the joints move; of several: 'wrench ...'
WRENCH_DEVIATION, WRENCH_CORRELATION = 0.003, 0.95  # of offsets that count
IMAGE_DEVIATION, IMAGE_CORRELATION = 0.005, 0.6
TOGETHER, LONGEST_WAIT = 2 * SECOND // 5, 3 * SECOND  # ns of arrivals from a jump until it counts
WRENCH_BLOCK = SECOND // 200  # ns of wrenches that are averaged
AS_BYTES = struct.Struct(f'{len(AXES)}d').pack
PARTS = 16  # of joint states, each with its own joints and number of values


class StreamHealth:
    """Judges joint states, efforts, wrenches and images. A sample whose stamp is not after the
    last of its stream is not judged.

    Attributes:
        streams: by name.
        motion: of the joints.
        publishers: of their topics, by the names that samples are taken under.
    """

    def __init__(
        self, settings: StreamHealthOptions | None = None, robot: Robot | None = None
    ) -> None:
        """robot: whose joints these are; None: no position is outside of its limits."""
        self.settings = settings or StreamHealthOptions()
        margin = self.settings.beyond_limits
        self._limits = JointLimits(robot, margin) if robot is not None and margin else None
        self.streams: dict[str, Judged] = {}
        self._parts: dict[tuple[str, tuple[str, ...], int], str] = {}
        self.motion = JointMotion()
        self._continuous = frozenset(() if robot is None else robot.continuous)
        self.publishers = PublisherCheck(self._continuous)
        # The newest finite positions of each part, counted on over the turns of joints that turn
        # without end.
        self._turned: dict[str, Array] = {}
        self._tool: SpecificForce | None = None
        self._arrivals: dict[str, StampJumps] = {}
        # Jumps that are not decided on: whose, and the stream that they are compared with.
        self._pending: list[tuple[StampJump, str, str]] = []
        # Of the same pairs: arrival of the first message, and s by which stamps jumped since.
        self._jumped: dict[tuple[str, str], tuple[int, float]] = {}

    def reset(self) -> None:
        """The clock was set back or forward; what was learnt and found stays."""
        self._pending.clear()
        self._jumped.clear()
        self.motion.reset()
        self._turned.clear()
        if self._tool is not None:
            self._tool.reset()
        for stream in self.streams.values():
            stream.check.reset()
            stream.before = None
            stream.block.clear()
            if stream.steady is not None:
                stream.steady.restart()
            if stream.offset is not None:
                stream.offset.reset()

    def on_arrival(self, name: str, stamp: int, arrival: int) -> None:
        """Takes when a message of a stream arrived, both ns: before it is judged, and also where
        its stamp is not after the last. Without, jumps of stamps are found by motion alone.

        Args:
            name: of a wrench's or a camera's stream, or JOINT_STATES, with whose stamps the others
                are compared.
            arrival: by one clock for all streams.
        """
        jumps = self._arrivals.get(name)
        if jumps is None:
            jumps = self._arrivals[name] = StampJumps()
        if (found := jumps.add(stamp, arrival)) is not None:
            self._pending += [(found, name, other) for other in self._compared_with(name)]
        if self._pending:
            self._pending = [each for each in self._pending if not self._is_decided(*each, arrival)]

    def _compared_with(self, name: str) -> list[str]:
        if name != JOINT_STATES:
            return [JOINT_STATES]
        return [each.name for each in self.streams.values() if each.offset is not None]

    def _is_decided(self, jump: StampJump, name: str, other: str, arrival: int) -> bool:
        """Applies a jump of one stream where another has not made it, too, as where the clock of
        both was set; returns whether that is known, or will not be.
        """
        since = arrival - jump.arrival
        if since < TOGETHER:
            return since < -TOGETHER  # the clock was set back
        arrivals = self._arrivals.get(other)
        change = arrivals.change(jump.arrival) if arrivals is not None else None
        if change is None:
            return since > LONGEST_WAIT
        of_joints = name == JOINT_STATES
        stream = self.streams.get(other if of_joints else name)
        if stream is None or stream.offset is None:
            return True
        seconds = self._step(jump, (name, other), stream)
        if abs(change - jump.seconds) * SECOND > allowance(jump.seconds * SECOND):
            seconds = -seconds if of_joints else seconds
            stream.offset.shift(seconds, jump.deviation, jump.before)
        return True

    def _step(self, jump: StampJump, pair: tuple[str, str], stream: Judged) -> float:
        """Returns s by which stamps are later behind a jump. If they are again as in the first
        second, and no motion has shown them, that is what takes all jumps before it back: their sum
        has the error of each, and lacks one that was missed.
        """
        first, before = self._jumped.get(pair, (jump.first, 0.0))
        before = before if first == jump.first else 0.0
        is_back = abs(jump.since_first) <= stream.tolerance
        seconds = -before if is_back and stream.estimate.unavailable else jump.seconds
        self._jumped[pair] = jump.first, before + seconds
        return seconds

    def mount_wrench(self, robot: Robot, link: str, rotation: Array, translation: Array) -> None:
        """Sets where the force-torque sensor sits: rotation (3, 3), translation (3,) m in a link.
        Without, the offset of its stamps is not estimated.
        """
        self._tool = SpecificForce(robot, link, rotation, translation)

    def on_joints(
        self,
        stamp: int,
        names: Sequence[str],
        positions: Array,
        velocities: Array,
        efforts: Array,
        topic: str = JOINT_STATES,
    ) -> tuple[Verdict, Verdict]:
        """Takes a joint state: (K,) rad or m, per s, and efforts; the last two may be empty.

        Returns what is wrong with it, and what is with its efforts.
        """
        part = self._part(topic, names, len(positions) + len(velocities) + len(efforts))
        if not self._is_next(part, stamp):
            return HEALTHY, HEALTHY
        positions = self._unwrapped(part, names, positions)
        values = np.concatenate((positions, velocities, efforts))
        why, kind = self.publishers.problem(topic), 'publishers'
        if not why and self._limits is not None:
            why, kind = self._limits.problem(stamp, names, positions), 'limits'
        if why:
            self.motion.doubt(part)
            state = self._of(part, 'joint states', len(values), names)
            return state.check.refuse(stamp, kind, why), HEALTHY
        is_moving = self.motion.add(part, stamp, names, positions, velocities)
        state = self._of(part, 'joint states', len(values), names)
        found = state.check.update(stamp, values, is_moving)
        if found.unavailable:
            self.motion.doubt(part)
        if self._tool is not None and not found.is_repeat:
            self._predict_tool(stamp)
        self._predict_speed(part, stamp)
        if not len(efforts):
            return found, HEALTHY
        effort = self._of(f'{part}: efforts', 'efforts', len(efforts), names)
        return found, effort.check.update(stamp, efforts, self.motion.is_moving(stamp))

    def on_wrench(self, stamp: int, values: Sequence[float], name: str = WRENCH) -> Verdict:
        """Takes a wrench: 6 values, N and N m."""
        if not self._is_next(name, stamp):
            return HEALTHY
        stream = self._of(name, 'wrench', len(AXES), AXES)
        if why := self.publishers.problem(name):
            return stream.check.refuse(stamp, 'publishers', why)
        key = AS_BYTES(*values)
        found = stream.check.update(stamp, values, self.motion.is_moving(stamp), key)
        given = stream.smoothed(stamp)
        if stream.offset is not None and not found.unavailable:
            self._add_block(stream, given, values)
        return self._with_offset(stream, stamp, found)

    def on_image(self, name: str, stamp: int, image: ImageSample) -> Verdict:
        """Takes an image of a camera."""
        if not self._is_next(name, stamp):
            return HEALTHY
        stream = self._of(name, 'image', len(image.channels), ())
        if len(image.channels) != len(stream.check.names):
            del self.streams[name]  # another size
            stream = self._of(name, 'image', len(image.channels), ())
        if why := self.publishers.problem(name):
            return stream.check.refuse(stamp, 'publishers', why)
        is_moving = self.motion.is_moving(stamp)
        found = stream.check.update(stamp, image.channels, is_moving, image.key)
        before, stream.before = stream.before, (stamp, image)
        if stream.offset is not None and before is not None and not found.unavailable:
            interval = (stamp - before[0]) / SECOND
            change = change_between(before[1], image) / interval
            if isfinite(change) and interval < 0.5:
                middle = (stamp + before[0]) // 2
                stream.offset.add_measured(middle, np.array([change]))
                half = 0.5 / stream.check.rate.newest_rate
                stream.tolerance = max(self.settings.largest_offset, half if half > 0 else 0.0)
        return self._with_offset(stream, stamp, found)

    def corrected(self, name: str, stamp: int) -> int:
        """Returns the stamp (ns) that a sample would have on the clock of the joints, where that is
        asked for and known; that of the newest one also smoothed.
        """
        stream = self.streams.get(name)
        if stream is None or not self.settings.is_offset_corrected:
            return stamp
        if stream.steady is not None and stamp <= stream.check.newest:
            stamp = stream.given
        if not stream.excess:
            return stamp
        return stamp - round(stream.apart * SECOND)

    def stamp_error(self, name: str) -> float:
        """Returns s by which the stamps of a stream, as `corrected`, may differ from those of the
        joints: by an offset that is not known yet or not corrected, and by jitter. It grows while
        no motion shows the offset as well as before, up to that of one never shown.
        """
        stream = self.streams.get(name)
        if stream is None or stream.offset is None:
            return 0.0
        found, jitter = stream.offset.newest, stream.jitter
        late = jitter if isfinite(jitter) else 0.0
        is_corrected = self.settings.is_offset_corrected and bool(stream.excess)
        late += 0.0 if is_corrected else abs(stream.apart)
        if found.unavailable:
            return UNKNOWN_OFFSET + late
        return late + min(SPREAD * found.deviation_at(stream.check.newest), UNKNOWN_OFFSET)

    def correction(self, name: str) -> str:
        """Describes the offset of a stream whose stamps are corrected; '': none is."""
        stream = self.streams.get(name)
        if stream is None or not self.settings.is_offset_corrected or not stream.excess:
            return ''
        return f'{stream.excess}, and corrected'

    def statuses(self) -> list[Status]:
        """One of each stream, for diagnostics."""
        return [
            Status(
                f'stream {each.name}',
                Level.WARN if each.problem else Level.OK,
                each.problem or 'healthy',
                {**each.facts(), **self._delay(each.name)},
            )
            for each in self.streams.values()
        ] + self.publishers.statuses()

    def _delay(self, name: str) -> dict[str, str]:
        arrivals = self._arrivals.get(name)
        if arrivals is None:
            return {}
        return {'least time from stamp to arrival [ms]': f'{1e3 * arrivals.least_delay:.1f}'}

    def _with_offset(self, stream: Judged, stamp: int, found: Verdict) -> Verdict:
        if found.unavailable or self.settings.is_offset_corrected or stream.offset is None:
            return found
        why = stream.excess
        if not why:
            return found
        begin = stamp if stream.estimate.jump else stream.estimate.stamp
        stream.check.note('offset', why, begin, stamp)
        return Verdict(found.is_repeat, why)

    def _is_next(self, name: str, stamp: int) -> bool:
        """Returns whether a stamp is after the last of its stream; far before it, the clock was
        reset.
        """
        stream = self.streams.get(name)
        if stream is None or stamp > stream.check.newest:
            return True
        if stream.check.newest - stamp > SECOND:
            self.reset()
            return True
        return False

    def _unwrapped(self, part: str, names: Sequence[str], positions: Array) -> Array:
        """Returns positions (K,) counted on over the turns of joints that turn without end."""
        if not self._continuous or len(names) != len(positions):
            return positions
        last = self._turned.get(part)
        if last is not None:
            is_continuous = continuous_among(names, self._continuous)
            positions = nearest_turn(positions, last, is_continuous)
            last = np.where(np.isfinite(positions), positions, last)
        self._turned[part] = positions if last is None else last
        return positions

    def _part(self, topic: str, names: Sequence[str], size: int) -> str:
        """Returns the name of a joint state's stream: messages with other joints, or with more or
        fewer values of them, are another. Beyond PARTS the one that came longest ago is forgotten.
        """
        key = (topic, tuple(names), size)
        part = self._parts.pop(key, None)
        if part is None and len(self._parts) >= PARTS:
            old = self._parts.pop(next(iter(self._parts)))
            self.streams.pop(old, None)
            self.streams.pop(f'{old}: efforts', None)
            self._turned.pop(old, None)
        if part is None:
            taken = set(self._parts.values())
            choices = (topic, f'{topic} of {names[0] if names else "nothing"}')
            numbered = (f'{choices[1]} ({i})' for i in range(2, PARTS + 2))
            part = next(name for name in (*choices, *numbered) if name not in taken)
        self._parts[key] = part  # last: the newest
        return part

    def _of(self, name: str, kind: str, size: int, names: Sequence[str]) -> Judged:
        stream = self.streams.get(name)
        if stream is None or (kind != 'image' and len(stream.check.names) != size):
            stream = self.streams[name] = self._made(name, kind, size, names)
        return stream

    def _made(self, name: str, kind: str, size: int, names: Sequence[str]) -> Judged:
        settings = self.settings
        channels = tuple(names[i % len(names)] if names else str(i) for i in range(size))
        ranges: list[float] | None = None
        if kind == 'wrench':
            ranges = [settings.force_range] * 3 + [settings.torque_range] * 3
        elif kind == 'efforts':
            ranges = [settings.effort_range] * size
        check = StreamCheck(channels, settings, ranges, has_idle_zero=kind == 'efforts')
        offset = None
        if settings.largest_offset and name.split(' ')[0] == WRENCH:
            offset = TimeOffsetEstimator(WRENCH_DEVIATION, WRENCH_CORRELATION, False)
        elif settings.largest_offset and kind == 'image' and size:
            offset = TimeOffsetEstimator(IMAGE_DEVIATION, IMAGE_CORRELATION)
        largest, is_corrected = settings.largest_offset, settings.is_offset_corrected
        has_steady = is_corrected and kind == 'wrench' and offset is not None
        steady = SteadyStamps() if has_steady else None
        return Judged(name, kind, check, offset, largest, is_corrected, steady)

    def _predict_tool(self, stamp: int) -> None:
        assert self._tool is not None
        if not self._tool.is_due(stamp):
            return
        q = self.motion.positions(self._tool.joint_names)
        found = self._tool.add(stamp, q) if q is not None else None
        if found is not None:
            for stream in self.streams.values():
                if stream.kind == 'wrench' and stream.offset is not None:
                    stream.offset.add_reference(*found)

    def _predict_speed(self, part: str, stamp: int) -> None:
        found = self.motion.new_speed(part, stamp)
        if found is not None:
            for stream in self.streams.values():
                if stream.kind == 'image' and stream.offset is not None:
                    stream.offset.add_reference(*found)

    def _add_block(self, stream: Judged, stamp: int, values: Sequence[float]) -> None:
        block = stream.block
        block.append((stamp, values))
        if stamp - block[0][0] < WRENCH_BLOCK:
            return
        count = len(block)
        middle = sum(each - stamp for each, _ in block) // count + stamp
        force = [sum(column) / count for column in zip(*(each for _, each in block))]
        block.clear()
        assert stream.offset is not None
        stream.offset.add_measured(middle, force[:3])
