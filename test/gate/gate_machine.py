# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Everything that can happen to a command gate and its arm, in any order."""

import math
from dataclasses import replace

import numpy as np
from gate_world import HOME, ROBOT, TOTALS, TURNING, GateWorld, places
from hypothesis import strategies as st
from hypothesis.stateful import rule

from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.gate.causes import Cause
from frame_ros.gate.command_gate import POLICY, TELEOPERATOR
from frame_ros.gate.episode import END, START
from frame_ros.gate.records import GateStatus, Moment, Reason
from frame_ros.gate.watchdogs import Heartbeat

gaps = st.sampled_from([0, 1, 5, 15, 20, 33, 33, 33, 50, 80, 99, 101, 150, 400])  # ms
shares = st.lists(st.sampled_from([1.0, 0.5, 0.05]), min_size=6, max_size=6)
subsets = st.sampled_from(
    [(0, 1, 2, 3, 4, 5)] * 4 + [(0, 1, 2, 3, 4), (5,), (0,), (5, 2, 0), (1, 2)]
)


class GateMachine(GateWorld):
    """Time passes in every rule; the gate is looked at once per period, but for stalls."""

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
        self.measures, self.is_blocked, self.off = True, False, np.zeros(6)
        self.beats = Heartbeat(is_acting=True) if self.beats else None
        self.wait(700)
        self.reset_gate()

    def reset_gate(self):
        """Returns whether the stop is released; then the arm may start again from where it is."""
        is_moving = self.gate.is_moving(self.now)
        is_released, _ = self.gate.reset(self.now)
        TOTALS.add('resets', is_released)
        TOTALS.add('resets while it brakes', is_released and is_moving)
        is_far = np.abs(self.gate.measured - self.goal)[:5].max() > 0.3
        TOTALS.add('resets elsewhere', is_released and is_far)
        if is_released:  # into whatever state: the arm starts from where it is
            self.rests[:], self.is_let_go[:] = 0, True
            shown = self.arm + self.lie  # believed now, however implausible it was
            self.measured = shown + self.turns_to(self.gate.measured, shown)
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
            self.pass_time(ms * MILLISECOND + 100_000)
            if k % 8 == 0:
                self.look()
            self.send(self.goal + 0.01 * np.array(to), range(6))

    @rule(
        shares=shares, strengths=shares, step=st.sampled_from([0.05, 0.1, math.inf]),
        tick=st.sampled_from([0.02, 0.05, math.inf]), tip=st.sampled_from([0.0, 0.0, 0.3, 0.05]),
        gap=gaps,
    )  # fmt: skip
    def limit_to(self, shares, strengths, step, tick, tip, gap):
        """The user lowers limits, or raises them to what they were at the start."""
        TOTALS.steps += 1
        self.wait(gap)
        TOTALS.add('limits set in motion', np.any(self.witness.speed))
        limits = replace(
            self.started,
            velocity=self.started.velocity * np.array(shares),
            acceleration=self.started.acceleration * np.array(strengths),
            step=np.minimum(self.started.step, step),
            tick=np.minimum(self.started.tick, tick),
        )
        self.limiter.limit_to(limits, tip)
        self.witness.limit_to(limits)

    @rule(
        to=places, share=st.sampled_from([1.0, 0.3]), strength=st.sampled_from([1.0, 0.3, 0.05]),
        count=st.integers(1, 20),
    )  # fmt: skip
    def limit_while_driving(self, to, share, strength, count):
        """The user lowers the limits of a fast arm, whose policy goes on."""
        self.drive(to, 4.0, [33] * 8, range(6))
        self.limit_to([share] * 6, [strength] * 6, math.inf, math.inf, 0.0, 1)
        TOTALS.add(
            'acceleration lowered in motion',
            (self.witness.strong > self.limits.acceleration * strength).any(),
        )
        self.drive(to, 4.0, [33] * count, range(6))

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
        self.pass_time(ms * MILLISECOND)
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
        kind=st.sampled_from(['jump', 'nan', 'second', 'range', 'drift', *['offset'] * 2, 'truth']),
        lie=places,
        count=st.integers(1, 20),
    )  # fmt: skip
    def measure_falsely(self, kind, lie, count):
        """Measurements that are not true: most of them cannot be."""
        TOTALS.steps += 1
        if kind in ('drift', 'truth', 'offset'):  # no such lie can be known at once
            room = min(float(self.limits.step[0]), 0.5)
            size = {'drift': 1.0, 'truth': 0.0, 'offset': 1.6 * room}[kind]
            self.off = size * np.array(lie)
            return self.wait(count * 20)
        shown = {
            'jump': self.measured + 1.5 * np.sign(np.array(lie) + 1e-9),
            'nan': np.full(6, math.nan),
            'second': self.measured + 0.3 * np.array(lie),
            'range': np.full(6, 9.0),
        }[kind]
        for _ in range(count):
            said = self.gate.on_joint_states(
                self.names, self.published(shown), self.now.clock, self.now,
                'another' if kind == 'second' else 'driver',
            )  # fmt: skip
            is_told = self.now.monotonic - self.seen < 100 * MILLISECOND
            assert said or not is_told, f'a measurement that cannot be true is taken: {kind}'
            if not said:
                self.measured, self.seen = shown, 0
            self.pass_time(2 * MILLISECOND)
            self.keep(self.gate.tick(self.now))
        return None

    @rule(measures=st.booleans(), is_acting=st.sampled_from([None, True, True]))
    def change_inputs(self, measures, is_acting):
        """Joint states and heartbeats come, or do not."""
        TOTALS.steps += 1
        self.measures = measures or not self.measures
        self.beats = None if is_acting is None else Heartbeat(is_acting=is_acting)
        self.wait(20)

    @rule(
        fall=places, share=st.sampled_from([0.0, 0.05, 0.5, 1.0]), ms=st.integers(560, 2500),
        rest=st.integers(100, 1500),
    )  # fmt: skip
    def start_driver_again(self, fall, share, ms, rest):
        """The driver is gone, the arm falls, and the driver is back and holds it where it is. One
        that turns stays: its driver might count it from another turn.
        """
        TOTALS.steps += 1
        self.measures, self.is_blocked = False, True
        self.wait(ms)
        fallen = np.clip(self.arm + share * np.array(fall), self.limits.lower, self.limits.upper)
        falls = np.arange(6) < (TURNING if self.chosen['turns'] else 5)
        self.arm, self.measures = np.where(falls, fallen, self.arm), True
        self.is_back[:5] = True
        self.wait(rest)
        self.is_back[:] = False

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
        stamp = self.now.clock + ahead * MILLISECOND
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

    @rule(
        speed=st.floats(0.5, 6.0),
        to=places,
        gap=st.sampled_from([0, 1, 5, 20, 40, 60]),
        is_commanded=st.booleans(),
    )
    def reset_while_braking(self, speed, to, gap, is_commanded):
        """A fast arm is stopped, and released before it is at rest."""
        self.drive(to, speed, [33] * 8, range(6))
        self.wait(1)
        self.keep(self.gate.stop(Reason(Cause.OPERATOR), self.now))
        self.wait(gap)
        if self.reset_gate() and is_commanded:
            self.send(self.goal, range(6))

    @rule(push=places, ms=st.integers(100, 1500), rest=st.sampled_from([0, 200, 400, 1000]))
    def move_by_hand(self, push, ms, rest):
        """A stopped arm is moved by hand, left there, and released."""
        TOTALS.steps += 1
        self.keep(self.gate.stop(Reason(Cause.OPERATOR), self.now))
        self.is_blocked = True
        for _ in range(ms // 20):
            self.arm = np.clip(
                self.arm + np.array(push) * 0.03, self.limits.lower, self.limits.upper
            )
            self.wait(20)
        self.wait(rest)
        if self.reset_gate():
            self.target = self.measured.copy()
            self.drive(push, 0.5, [33] * 5, range(6))
        self.is_blocked = False

    @rule(count=st.integers(5, 40))
    def stay(self, count):
        """A policy that wants to stay where it was sent, whatever is measured."""
        TOTALS.steps += 1
        for _ in range(count):
            self.send(self.wanted, range(6))
            self.wait(33)

    @rule(
        axis=st.integers(0, 2),
        sign=st.sampled_from([-1.0, 1.0]),
        speed=st.floats(0.05, 1.5),
        joints=subsets,
        count=st.integers(5, 40),
    )
    def reach_for_the_wall(self, axis, sign, speed, joints, count):
        """A policy that moves the tip along an axis, at `speed` m/s, through the wall."""
        TOTALS.steps += 1
        if self.gate.status == GateStatus.STOPPED:
            self.release()
        target = self.measured.copy()
        for _ in range(count):
            tip = ROBOT.forward(target[:5])[0]
            pull = np.array(
                [
                    (ROBOT.forward(target[:5] + 1e-4 * row)[0] - tip)[axis] / 1e-4
                    for row in np.eye(5)
                ]
            )
            step = sign * pull * speed * 0.033 / max(float(pull @ pull), 1e-3)
            target[:5] += np.clip(step, -0.15, 0.15)
            self.send(target, joints)
            self.wait(33)
        self.target = target

    @rule(back=st.sampled_from([0.6, 3.0, 600.0]), teleport=st.booleans(), to=places)
    def set_clock_back(self, back, teleport, to):
        """The simulator begins again, or the bag: the arm may be elsewhere."""
        TOTALS.steps += 1
        ns = round(back * SECOND)
        self.look()
        self.now = Moment(self.now.monotonic, self.now.clock - ns)
        if not self.chosen['is_simulated']:
            return
        TOTALS.add('clocks set back')
        self.witness.set_back(ns)
        self.seen = 0
        if teleport:
            self.arm = np.clip(HOME + np.array(to), self.limits.lower, self.limits.upper)
        self.look()
        self.wait(40)
