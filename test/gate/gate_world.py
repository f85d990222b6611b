# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A command gate and an arm that obeys it: time passes for both, and what is sent is judged."""

import math
from dataclasses import dataclass, field, replace

import numpy as np
from gate_and_arm import rules
from gate_witness import LED, NEAR, Witness
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize

from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.gate.command_gate import POLICY, CommandGate
from frame_ros.gate.limits.command_limiter import CommandLimiter
from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.gate.limits.workspace import Workspace
from frame_ros.gate.records import GateStatus, InterventionLog, Moment
from frame_ros.gate.still_joints import STILL
from frame_ros.robots import load_robot

ROBOT = load_robot('so101')
HOME = np.array([0.0, -1.35, 1.25, 0.85, 0.0, 0.3])
BOX = (0.05, -0.15, 0.02, 0.30, 0.15, 0.40)
LINKS = [load_robot('so101', link) for link in ('lower_arm_link', 'wrist_link', 'gripper_link')]
PERIOD = 20 * MILLISECOND
DRIFT = 1.5  # rad/s with which a sensor goes wrong, which no joint is too slow for
TURNING = 4  # the joint that may turn without end, which its driver publishes from -pi to pi
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
        self.counts[what] = self.counts.get(what, 0) + int(count)


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
        'box': st.sampled_from([False, True]),
        'turns': st.sampled_from([False, False, True]),
        'is_simulated': st.sampled_from([False, False, True]),
        'outside': st.sampled_from([None] * 4 + [(k, sign) for k in range(5) for sign in (0, 1)]),
        'stop_behaviour': st.sampled_from(['damped', 'damped', 'hold']),
        'stream': st.sampled_from([True, True, False]),
        'stop_timeout': st.sampled_from([2.0, 0.5, 0.0]),
        'command_timeout': st.sampled_from([0.25, 0.1, 1.0]),
        'on_velocity_limit': actions,
        'on_step_limit': actions,
        'on_workspace': actions,
        'on_stale_joint_states': st.sampled_from(['hold', 'stop']),
    }
)
places = st.lists(st.floats(-1.0, 1.0), min_size=6, max_size=6)


def without_end(limits):
    """The limits with a joint that turns without end."""
    bounds = np.array([limits.lower, limits.upper])
    ends, bounds[:, TURNING] = limits.ends.copy(), (-math.inf, math.inf)
    ends[:, TURNING] = -math.inf, math.inf
    return replace(limits, lower=bounds[0], upper=bounds[1], ends=ends)


class GateWorld(RuleBasedStateMachine):
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
        if chosen['turns']:
            limits = without_end(limits)
        workspace = Workspace(ROBOT, BOX, floor=0.01) if chosen['box'] else None
        names = ('stop_behaviour', 'stream', 'stop_timeout', 'command_timeout')
        rest = {k: v for k, v in chosen.items() if k in names or k.startswith('on_')}
        self.limiter = CommandLimiter(limits, workspace, chosen['jitter'], chosen['longest'])
        self.gate = CommandGate(
            self.limiter,
            ROBOT.joint_names,
            rules(rate=SECOND / PERIOD, **rest),
            InterventionLog(lambda _: None, lambda _: None),
            is_simulated=chosen['is_simulated'],
        )
        self.names, self.limits, self.chosen = limits.names, limits, chosen
        self.started = limits
        self.witness = Witness(limits, chosen['jitter'])
        self.now = Moment(1000 * SECOND, 5000 * SECOND)
        self.gate.activate(self.now)
        self.arm = HOME + (0.0 if chosen['box'] else 0.2) * np.array(place)
        if chosen['turns']:
            self.arm[TURNING] += 2.8  # near where its driver jumps
        if chosen['outside'] is not None and (
            chosen['outside'][0] != TURNING or not chosen['turns']
        ):
            joint, end = chosen['outside']
            lower, upper = limits.ends[:, joint]
            self.arm[joint] = limits.ends[end, joint] + 0.08 * (upper - lower) * (2 * end - 1)
        self.goal, self.target, self.wanted = (self.arm.copy() for _ in range(3))
        self.requested = self.arm.copy()  # of each joint: a command, or where it was sent without
        self.lie, self.off, self.sent = np.zeros(6), np.zeros(6), np.zeros(6, dtype=bool)
        self.is_blocked, self.measures, self.beats = False, True, None
        self.source, self.measured, self.seen = POLICY, self.arm.copy(), 0
        self.resting, self.rests, self.strayed = np.full(6, math.nan), np.zeros(6), []
        self.is_let_go, self.led_until = np.ones(6, dtype=bool), np.zeros(6)
        self.is_back = np.zeros(6, dtype=bool)  # joints without a command since a silence
        self.look()

    # What the world does.

    @property
    def time(self):
        """ns, of the stream."""
        return self.now.clock if self.chosen['is_simulated'] else self.now.monotonic

    def pass_time(self, ns):
        """The arm goes where it was sent, as fast as it can, some of the way per period."""
        self.now = Moment(self.now.monotonic + ns, self.now.clock + ns)
        most = DRIFT * ns / SECOND
        self.lie += np.clip(self.off - self.lie, -most, most)
        if not self.is_blocked:
            way = (self.goal - self.arm) * (1.0 - math.exp(-ns / (40 * MILLISECOND)))
            most = 0.9 * self.limits.fastest * ns / SECOND
            self.arm += np.clip(way, -most, most)

    def look(self):
        """Does what the node does once per period."""
        self.is_let_go |= self.gate.status == GateStatus.IDLE
        if self.measures:
            shown = self.arm + self.lie
            if not self.gate.on_joint_states(
                self.names, self.published(shown), self.now.clock, self.now, 'driver'
            ):
                turns = self.turns_to(self.gate.measured, shown)  # by hand half a turn and more
                self.arm += turns
                self.measured, self.seen = shown + turns, self.now.monotonic
        if self.beats is not None:
            self.gate.on_heartbeat(self.beats, self.now)
        self.keep(self.gate.tick(self.now))

    def published(self, positions):
        """(D,) what driver and policy say of positions (D,), the turning joint within one turn."""
        return positions + self.turns_to(np.zeros(6), positions)

    def turns_to(self, reference, positions):
        """(D,) rad, the whole turns that bring positions (D,) nearest a reference (D,)."""
        found = np.zeros(6)
        away = float(reference[TURNING] - positions[TURNING])
        if self.chosen['turns'] and math.isfinite(away):
            found[TURNING] = 2.0 * math.pi * round(away / (2.0 * math.pi))
        return found

    def wait(self, ms):
        """Time passes with looks at the gate in between."""
        left = ms * MILLISECOND
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
        returns = self.chosen['stop_behaviour'] == 'hold'
        self.witness.see(i, output.positions, output.times, self.time, self.measured, returns)
        if not self.chosen['box']:
            self.witness.check_near(i, self.measured, self.chosen['longest'])
        before = np.where(self.sent, self.goal, self.measured)
        self.goal, self.sent[i] = before.copy(), True
        self.goal[i] = self.requested[i] = output.positions
        assert status != GateStatus.STOPPED or output.is_hold, 'a stopped gate passes nothing'
        self.check_held(output, i, status)
        self.check_back(output, i)
        if self.chosen['box']:
            self.check_box(before)

    def check_held(self, output, joints, status):
        """Asserts that a joint that is held and at rest stays there, whatever is measured or stood
        still meanwhile.
        """
        if status not in (GateStatus.STOPPED, GateStatus.HOLDING) or not output.is_hold:
            self.rests[:] = 0
            return
        # Braking may wait for its slot, and who comes back to a place may wait at a wall.
        is_damped = self.chosen['stop_behaviour'] == 'damped'
        enough = 10 if is_damped or not self.chosen['box'] else math.inf
        for k, place in zip(joints, output.positions.tolist(), strict=True):
            is_same = place == self.resting[k]
            text = f'{self.names[k]} is held and moves from {self.resting[k]} to {place}'
            assert is_same or self.rests[k] <= enough, text
            self.resting[k], self.rests[k] = place, self.rests[k] + 1 if is_same else 0
        TOTALS.add('rests', self.rests[joints].min() > 0)

    def check_back(self, output, joints):
        """Asserts that an arm at rest whose driver was silent is held only where it is."""
        if not output.is_hold:
            self.is_back[joints] = False
        elif not output.velocities.any():
            for k, place in zip(joints, output.positions.tolist(), strict=True):
                away = abs(place - float((self.arm + self.lie)[k]))
                if k == TURNING and self.chosen['turns']:
                    away = abs(math.remainder(away, 2.0 * math.pi))
                TOTALS.add('held after a silence', self.is_back[k])
                text = f'{self.names[k]} is held {away} from where it is, after a silence'
                assert not self.is_back[k] or away <= NEAR + STILL + 0.01, text

    def check_led(self, wanted, joints, before, speeds, silent, asked):
        """A joint goes where it is asked to, or brakes: nothing measured leads it, but after a
        pause it starts from where it is.
        """
        wanted = np.clip(wanted, self.limits.lower, self.limits.upper)
        if self.chosen['stop_behaviour'] == 'hold':  # who comes back to a place does so first
            return
        starts = self.is_let_go | (silent > self.chosen['longest'])
        starts &= np.abs(self.measured - before) > 0.09
        self.led_until[starts] = self.now.monotonic + LED * SECOND
        for k in joints:
            way, went = wanted[k] - before[k], self.goal[k] - before[k]
            if k == TURNING and self.chosen['turns'] and abs(way) > 2.5:  # nearly opposite
                continue
            is_away = abs(wanted[k] - self.goal[k]) > abs(way) + 1e-9
            speed, slack = self.witness.speed[k], 1e-6
            brakes = speed * speeds[k] >= 0.0 and abs(speed) <= abs(speeds[k]) + slack
            follows = speed * asked[k] >= 0.0 and abs(speed) <= abs(asked[k]) + slack
            is_free = not is_away or brakes or follows
            TOTALS.add('led', not is_free)
            text = (
                f'{self.names[k]} goes {went} where {way} is asked, at {speed} after {speeds[k]}, '
                f'asked {asked[k]}'
            )
            assert is_free or self.now.monotonic < self.led_until[k], text

    def outside(self, q):
        """Returns the distance (m) of tip and links outside the box; negative inside."""
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
        joints = list(joints)
        names = tuple(self.names[k] for k in joints)
        positions = np.asarray(positions, float)
        values = self.published(positions)[joints]
        stamp = self.now.clock - age * MILLISECOND
        before = np.where(self.sent, self.goal, self.measured)
        speeds, silent = np.array(self.witness.speed), self.witness.silences(self.time)
        self.is_let_go |= self.gate.status == GateStatus.IDLE
        requested = self.requested.copy()
        output = self.gate.on_command(
            source or self.source, stamp, names, values, self.now, publisher
        )
        self.keep(output)
        if output is not None and not output.is_hold:
            is_away = np.abs(self.measured - before) > 0.1
            goes_on = np.where(is_away, self.measured, before)
            values = (positions + self.turns_to(goes_on, positions))[joints]
            wanted = self.goal.copy()
            wanted[joints] = values
            since = np.maximum(np.array(self.witness.lasted), 1e-9)
            asked = (wanted - requested) / since
            self.check_led(wanted, joints, before, speeds, silent, asked)
            self.wanted, self.requested[joints] = wanted, values
            self.is_let_go[joints] = False

    def teardown(self):
        """Counts what was done."""
        if hasattr(self, 'gate'):
            for name, count in vars(self.gate.counts).items():
                TOTALS.add(f'gate: {name}', count)
            self.keep(self.gate.deactivate(self.now))
