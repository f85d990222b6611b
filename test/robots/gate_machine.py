# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A command gate, an arm that obeys it, and everything that can happen to both, in any order."""

import math
from dataclasses import dataclass, field

import numpy as np
from gate_witness import Witness
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from frame_ros.robots import load_robot
from frame_ros.robots.command_gate import POLICY, TELEOPERATOR, CommandGate
from frame_ros.robots.command_limiter import CommandLimiter
from frame_ros.robots.command_limits import limits_of
from frame_ros.robots.gate_causes import Cause
from frame_ros.robots.gate_config import GateConfig
from frame_ros.robots.gate_episode import END, START
from frame_ros.robots.gate_records import GateStatus, InterventionLog, Moment, Reason
from frame_ros.robots.gate_watch import Heartbeat, WatchConfig
from frame_ros.robots.workspace import Workspace

SECOND, MS = 10**9, 10**6
ROBOT = load_robot('so101')
HOME = np.array([0.0, -1.35, 1.25, 0.85, 0.0, 0.3])
BOX = (0.05, -0.15, 0.02, 0.30, 0.15, 0.40)
LINKS = [load_robot('so101', link) for link in ('lower_arm_link', 'wrist_link', 'gripper_link')]
PERIOD = 20 * MS
BRAKING = 1.3 * SECOND  # ns, at most, from full speed


@dataclass
class Totals:
    """Over all examples: what was tried."""

    examples: int = 0
    steps: int = 0
    outputs: int = 0
    commands: int = 0
    counts: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, count: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + count


TOTALS = Totals()

actions = st.sampled_from(['clamp'] * 8 + ['refuse', 'stop'])
options = st.fixed_dictionaries(
    {
        'velocity_scale': st.sampled_from([1.0, 1.0, 0.3, 0.05]),
        'acceleration_scale': st.sampled_from([1.0, 1.0, 0.3, 0.1]),
        'position_margin': st.sampled_from([0.0, 0.1]),
        'step': st.sampled_from([0.35, 0.35, 0.1, math.inf]),
        'tick': st.sampled_from([0.2, 0.2, 0.05, math.inf]),
        'jitter': st.sampled_from([0.02, 0.02, 0.0, 0.1]),
        'longest': st.sampled_from([0.1, 0.1, 0.04, 0.5]),
        'box': st.sampled_from([False, False, True]),
        'outside': st.sampled_from([None] * 4 + [(k, sign) for k in range(5) for sign in (0, 1)]),
        'stop_behaviour': st.sampled_from(['damped', 'damped', 'hold']),
        'is_streaming': st.sampled_from([True, True, False]),
        'stop_timeout': st.sampled_from([2.0, 0.5, 0.0]),
        'command_timeout': st.sampled_from([0.25, 0.1, 1.0]),
        'on_velocity_limit': actions,
        'on_step_limit': actions,
        'on_workspace': actions,
        'on_stale_joint_states': st.sampled_from(['hold', 'stop']),
    }
)
gaps = st.sampled_from([0, 1, 5, 15, 20, 33, 33, 33, 50, 80, 99, 101, 150, 400])  # ms
places = st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=6)
subsets = st.sampled_from(
    [(0, 1, 2, 3, 4, 5)] * 4 + [(0, 1, 2, 3, 4), (5,), (0,), (5, 2, 0), (1, 2)]
)


class GateMachine(RuleBasedStateMachine):
    """Time passes in every rule; the gate is looked at once per period, but for stalls."""

    @initialize(chosen=options, place=places)
    def begin(self, chosen, place):
        """Makes the gate; the arm is at HOME, or anywhere near it."""
        TOTALS.examples += 1
        limits = limits_of(
            ROBOT,
            velocity_scale=chosen['velocity_scale'],
            acceleration_scale=chosen['acceleration_scale'],
            position_margin=chosen['position_margin'],
            step=chosen['step'],
            tick=chosen['tick'],
        )
        workspace = Workspace(ROBOT, BOX, floor=0.01) if chosen['box'] else None
        watch = {k: v for k, v in chosen.items() if k in WatchConfig.__dataclass_fields__}
        rest = {k: v for k, v in chosen.items() if k in GateConfig.__dataclass_fields__}
        self.gate = CommandGate(
            CommandLimiter(limits, workspace, chosen['jitter'], chosen['longest']),
            ROBOT.joint_names,
            GateConfig(watch=WatchConfig(**watch), period=PERIOD / SECOND, **rest),
            InterventionLog(lambda _: None, lambda _: None),
        )
        self.names, self.limits, self.chosen = limits.names, limits, chosen
        self.witness = Witness(limits, chosen['jitter'])
        self.now = Moment(1000 * SECOND, 5000 * SECOND)
        self.gate.activate(self.now)
        self.arm = HOME + (0.0 if chosen['box'] else 0.2) * np.array(place)
        if chosen['outside'] is not None:
            joint, end = chosen['outside']
            lower, upper = limits.ends[:, joint]
            self.arm[joint] = limits.ends[end, joint] + 0.08 * (upper - lower) * (2 * end - 1)
        self.goal, self.target = self.arm.copy(), self.arm.copy()
        self.lie, self.sent = np.zeros(6), np.zeros(6, dtype=bool)
        self.is_blocked, self.measures, self.beats = False, True, None
        self.source, self.measured, self.seen = POLICY, self.arm.copy(), 0
        self.resting, self.strayed = (None, 0), []
        self.look()

    # What the world does.

    def pass_time(self, ns):
        """The arm goes where it was sent, as fast as it can, some of the way per period."""
        self.now = Moment(self.now.monotonic + ns, self.now.clock + ns)
        if not self.is_blocked:
            way = (self.goal - self.arm) * (1.0 - math.exp(-ns / (40 * MS)))
            most = 0.9 * self.limits.fastest * ns / SECOND
            self.arm += np.clip(way, -most, most)

    def look(self):
        """What the node does once per period."""
        if self.measures:
            shown = self.arm + self.lie
            if not self.gate.on_joint_states(self.names, shown, self.now.clock, self.now, 'driver'):
                self.measured, self.seen = shown, self.now.monotonic
        if self.beats is not None:
            self.gate.on_heartbeat(self.beats, self.now)
        self.keep(self.gate.tick(self.now))

    def wait(self, ms):
        """Time passes with looks at the gate in between."""
        left = ms * MS
        while left > 0:
            passed = min(left, PERIOD)
            self.pass_time(passed)
            left -= passed
            if passed == PERIOD:
                self.look()

    def keep(self, output):
        """Judges what is sent to the arm, which takes it."""
        status = self.gate.status
        if output is None:
            return
        TOTALS.outputs += 1
        TOTALS.add('holds' if output.is_hold else 'passed')
        i = [self.names.index(name) for name in output.names]
        gap = self.witness.silence(i, self.now.monotonic)
        self.witness.see(i, output.positions, output.times, self.now.monotonic, self.measured)
        if not self.chosen['box']:
            self.witness.check_near(i, self.measured, self.chosen['longest'])
        before = np.where(self.sent, self.goal, self.measured)
        self.goal, self.sent[i] = before.copy(), True
        self.goal[i] = output.positions
        assert status != GateStatus.STOPPED or output.is_hold, 'a stopped gate passes nothing'
        self.check_held(output, i, status, gap)
        if self.chosen['box']:
            self.check_box(before)

    def check_held(self, output, i, status, gap):
        """Who is held and has come to rest stays there, whatever is measured."""
        is_held = status in (GateStatus.STOPPED, GateStatus.HOLDING) and output.is_hold
        place = (i, output.positions.tolist())
        if not is_held or gap > self.chosen['longest']:
            self.resting = (None, 0)
        elif self.resting[0] == place:
            self.resting = (place, self.resting[1] + 1)
            TOTALS.add('rests')
        else:
            # Braking may wait for its slot, and who comes back to a place may wait at a wall.
            is_damped = self.chosen['stop_behaviour'] == 'damped' and not self.chosen['box']
            is_at_rest = self.resting[1] > 10 and is_damped
            assert not is_at_rest, f'a held arm moves from {self.resting[0]} to {place}'
            self.resting = (place, 0)

    def outside(self, q):
        """How far (m) the tip or a link is out of the box; negative inside."""
        tip = ROBOT.forward(q[:5])[0]
        heights = [link.forward(q[: len(link.joint_names)])[0][2] for link in LINKS]
        return max(*(BOX[:3] - tip), *(tip - BOX[3:]), *(0.01 - h for h in heights))

    def check_box(self, before):
        """The tip and the links are where they may be; who was outside does not go farther."""
        now = self.now.monotonic
        self.strayed = [(t, far) for t, far in self.strayed if now - t < BRAKING]
        self.strayed.append((now, max(0.0, self.outside(before))))
        found, allowed = self.outside(self.goal), max(far for _, far in self.strayed)
        TOTALS.add('in the box' if allowed == 0.0 else 'outside the box')
        TOTALS.add('at the wall', -5e-3 < found <= 0.0)
        assert found <= allowed + 1e-6, f'{found} m out of the box, it was {allowed}'

    def send(self, positions, joints, source=None, publisher='policy', age=0):
        """A command to some joints."""
        TOTALS.commands += 1
        names = tuple(self.names[k] for k in joints)
        values = np.asarray(positions, float)[list(joints)]
        stamp = self.now.clock - age * MS
        self.keep(
            self.gate.on_command(source or self.source, stamp, names, values, self.now, publisher)
        )

    def teardown(self):
        """Counts what was done."""
        if hasattr(self, 'gate'):
            for name, count in vars(self.gate.counts).items():
                TOTALS.add(f'gate: {name}', count)
            self.keep(self.gate.deactivate(self.now))

    # What may happen.

    @rule(to=places, count=st.integers(1, 20), speed=st.floats(0.0, 6.0))
    def drive_steadily(self, to, count, speed):
        """A policy that moves on from where it is."""
        self.drive(to, speed, [33] * count, range(6))

    @rule(
        to=places, speed=st.floats(0.0, 6.0), joints=subsets,
        pauses=st.lists(gaps, min_size=1, max_size=20),
    )  # fmt: skip
    def drive_roughly(self, to, speed, joints, pauses):
        """A policy with gaps of any length, that leaves joints out."""
        self.drive(to, speed, pauses, joints)

    @rule(joint=st.integers(0, 5), sign=st.sampled_from([-1.0, 1.0]), speed=st.floats(0.2, 4.0))
    def sweep(self, joint, sign, speed):
        """A policy that moves one joint as far as it goes."""
        self.drive(sign * np.eye(6)[joint], speed, [33] * 30, range(6))

    def drive(self, to, speed, pauses, joints):
        """Commands, ever farther on."""
        TOTALS.steps += 1
        if self.gate.status == GateStatus.STOPPED:
            self.release()
        near = self.goal if self.gate.status == GateStatus.PASSING else self.measured
        self.target = np.where(np.abs(self.target - self.goal) < 0.3, self.target, near)
        for k, pause in enumerate(pauses):
            self.wait(pause)
            gain = min(1.0, (k + 1) / 4) * speed * 0.033
            self.target = self.target + gain * np.array(to)
            self.send(self.target, joints)

    def release(self):
        """A person mends what is wrong, and releases the stop."""
        self.measures, self.lie = True, np.zeros(6)
        self.beats = Heartbeat(is_acting=True) if self.beats else None
        self.wait(700)
        self.reset_gate()

    def reset_gate(self):
        """Whether the stop is released; then the arm may start again from where it is."""
        is_released, _ = self.gate.reset(self.now)
        TOTALS.add('resets', is_released)
        self.resting = (None, 0) if is_released else self.resting
        return is_released

    @rule(to=places, scale=st.sampled_from([0.05, 0.5, 4.0, 1e6]), joints=subsets, gap=gaps)
    def jump(self, to, scale, joints, gap):
        """A command to anywhere."""
        TOTALS.steps += 1
        self.wait(gap)
        self.target = self.arm + scale * np.array(to)
        self.send(self.target, joints)

    @rule(to=places, ms=st.integers(0, 3), count=st.integers(2, 60))
    def flood(self, to, ms, count):
        """Commands faster than they can be obeyed."""
        TOTALS.steps += 1
        for k in range(count):
            self.pass_time(ms * MS + 100_000)
            if k % 8 == 0:
                self.look()
            self.send(self.goal + 0.01 * np.array(to), range(6))

    @rule(kind=st.sampled_from(['nan', 'second', 'ahead', 'old', 'other']), gap=gaps)
    def bad_command(self, kind, gap):
        """A command that is none, or that somebody else sends."""
        TOTALS.steps += 1
        self.wait(gap)
        place = np.full(6, math.nan) if kind == 'nan' else self.arm + 0.2
        other = TELEOPERATOR if self.source == POLICY else POLICY
        self.send(
            place, range(6), other if kind == 'other' else None,
            'another' if kind == 'second' else 'policy',
            {'ahead': -400, 'old': 3000}.get(kind, 0),
        )  # fmt: skip

    @rule(ms=st.integers(0, 3000))
    def idle(self, ms):
        """Nothing comes but measurements."""
        TOTALS.steps += 1
        self.wait(ms)

    @rule(ms=st.sampled_from([30, 90, 110, 200, 500, 2000]), push=places, then=st.booleans())
    def stall(self, ms, push, then):
        """The gate's process stands still while the arm is pushed; a command may come first."""
        TOTALS.steps += 1
        self.pass_time(ms * MS)
        most = 0.5 * self.limits.fastest * ms / SECOND
        self.arm += np.clip(np.array(push), -most, most)
        self.arm = np.clip(self.arm, self.limits.lower, self.limits.upper)
        if then:
            self.send(self.target, range(6))
        self.look()

    @rule(push=places, is_blocked=st.booleans(), ms=st.integers(0, 500))
    def push(self, push, is_blocked, ms):
        """Somebody holds the arm, and moves it."""
        TOTALS.steps += 1
        self.is_blocked = is_blocked
        for _ in range(ms // 20):
            self.arm = np.clip(
                self.arm + np.array(push) * 0.03, self.limits.lower, self.limits.upper
            )
            self.wait(20)

    @rule(
        kind=st.sampled_from(['jump', 'nan', 'second', 'range', 'drift', 'truth']), lie=places,
        count=st.integers(1, 20),
    )  # fmt: skip
    def measure_falsely(self, kind, lie, count):
        """Measurements that are not true: most of them cannot be."""
        TOTALS.steps += 1
        if kind in ('drift', 'truth'):  # a lie that moves no faster than a joint cannot be known
            self.lie = 0.15 * np.array(lie) if kind == 'drift' else np.zeros(6)
            return self.wait(count * 20)
        shown = {
            'jump': self.measured + 1.5 * np.sign(np.array(lie) + 1e-9),
            'nan': np.full(6, math.nan),
            'second': self.measured + 0.3 * np.array(lie),
            'range': np.full(6, 9.0),
        }[kind]
        for _ in range(count):
            said = self.gate.on_joint_states(
                self.names, shown, self.now.clock, self.now,
                'another' if kind == 'second' else 'driver',
            )  # fmt: skip
            is_told = self.now.monotonic - self.seen < 100 * MS
            assert said or not is_told, f'a measurement that cannot be true is taken: {kind}'
            if not said:
                self.measured, self.seen = shown, 0
            self.pass_time(2 * MS)
            self.keep(self.gate.tick(self.now))
        return None

    @rule(measures=st.booleans(), is_acting=st.sampled_from([None, True, True]))
    def change_inputs(self, measures, is_acting):
        """Joint states and heartbeats come, or do not."""
        TOTALS.steps += 1
        self.measures = measures or not self.measures
        self.beats = None if is_acting is None else Heartbeat(is_acting=is_acting)
        self.wait(20)

    @rule(has_taken_over=st.booleans(), gap=gaps)
    def take_over(self, has_taken_over, gap):
        """A person drives, or the policy again."""
        TOTALS.steps += 1
        self.wait(gap)
        self.source = TELEOPERATOR if has_taken_over else POLICY
        self.keep(self.gate.set_takeover(has_taken_over, self.now))

    @rule(kind=st.sampled_from([START, START, END, 'stop']), ahead=st.integers(0, 300))
    def episode(self, kind, ahead):
        """An episode begins, ends, or is stopped."""
        TOTALS.steps += 1
        stamp = self.now.clock + ahead * MS
        if kind == 'stop':
            self.keep(self.gate.on_episode_stop('', stamp, 'test', self.now))
        else:
            self.gate.on_boundary(kind, 'e', stamp)
        self.wait(20)

    @rule(gap=gaps)
    def stop(self, gap):
        """A person stops the arm."""
        TOTALS.steps += 1
        self.wait(gap)
        self.keep(self.gate.stop(Reason(Cause.OPERATOR), self.now))

    @rule(gap=gaps, is_near=st.booleans())
    def reset(self, gap, is_near):
        """A person releases the stop; a command may come at once."""
        TOTALS.steps += 1
        self.wait(gap)
        if self.reset_gate():
            self.target = self.measured.copy() if is_near else self.goal.copy()
            self.send(self.target, range(6))
