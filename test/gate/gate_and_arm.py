# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A command gate and an arm that obeys it, for tests."""

import numpy as np

from frame_ros.core.options import flatten, from_values
from frame_ros.core.time import MILLISECOND, SECOND
from frame_ros.gate.command_gate import POLICY, CommandGate
from frame_ros.gate.limits.command_limiter import CommandLimiter
from frame_ros.gate.limits.command_limits import limits_of
from frame_ros.gate.measured_turns import MeasuredTurns
from frame_ros.gate.options import GateRules
from frame_ros.gate.records import InterventionLog, Moment
from frame_ros.robots import load_robot

ROBOT = load_robot('so101')
LIMITS = limits_of(ROBOT, step=0.35, tick=0.2)
NAMES = LIMITS.names
HOME = np.array([0.0, -1.35, 1.25, 0.85, 0.0, 0.3])
PERIOD = 33 * MILLISECOND


def rules(**options):
    """Rules of a gate by plain names: on_velocity_limit, command_timeout."""
    names = flatten(GateRules())
    plain = {n.replace('reactions.', 'on_').replace('watchdogs.', ''): n for n in names}
    return from_values(GateRules, {plain[name]: value for name, value in options.items()})


class Bench:
    """A gate and an arm that follows it at once, 10 s after activation by both clocks.

    now: s since then. clock_runs: whether the robot's clock does. longest: s, of the limiter.
    started: limits that it is made with, if not LIMITS. home: (6,) where the arm is.
    """

    def __init__(
        self, follows=True, longest=0.1, limits=LIMITS, started=None, home=HOME, **options
    ):
        self.interventions, self.marks, self.announced = [], [], []
        self.is_simulated = options.pop('is_simulated', False)
        self.rules = rules(**options)
        self.limiter = CommandLimiter(started or LIMITS, longest=longest)
        self.limiter.limit_to(limits)
        self.turns = MeasuredTurns(self.limiter.started.is_endless)
        self.moment = Moment(1000 * SECOND, 5000 * SECOND)
        self.make_gate()
        self.joints, self.follows, self.clock_runs, self.measures = home.copy(), follows, True, True
        self.beats, self.sent = None, []
        self.wait(0.0)

    def make_gate(self):
        """Makes a gate with these limits, the first or another after it, and activates it."""
        self.gate = CommandGate(
            self.limiter,
            ROBOT.joint_names,
            self.rules,
            InterventionLog(self.interventions.append, self.marks.append),
            lambda kind, reason, moment: self.announced.append((kind, reason.cause)),
            self.is_simulated,
            self.turns,
        )
        self.gate.activate(self.moment)

    def wait(self, seconds, step=0.01):
        """Time passes in periods of the gate: joint states come, heartbeats if they are on."""
        end = self.moment.monotonic + round(seconds * SECOND)
        while True:
            if self.measures:
                self.measure(self.joints)
            if self.beats is not None:
                self.gate.on_heartbeat(self.beats, self.moment)
            self.keep(self.gate.tick(self.moment))
            if self.moment.monotonic >= end:
                return
            passed = min(round(step * SECOND), end - self.moment.monotonic)
            self.moment = Moment(
                self.moment.monotonic + passed, self.moment.clock + passed * self.clock_runs
            )

    def measure(self, joints, publisher='driver', names=NAMES):
        return self.gate.on_joint_states(names, joints, self.moment.clock, self.moment, publisher)

    def keep(self, output):
        if output is not None:
            self.sent.append((self.moment.monotonic, output))
            if self.follows:
                self.joints[[NAMES.index(n) for n in output.names]] = output.positions
        return output

    def command(self, positions, source=POLICY, names=NAMES, age=0.0, publisher='policy'):
        stamp = self.moment.clock - round(age * SECOND)
        return self.keep(
            self.gate.on_command(source, stamp, names, positions, self.moment, publisher)
        )

    def drive(self, count=10, speed=0.5, source=POLICY):
        """Commands of a good policy: joint 0 moves on at `speed` (rad/s), gently at first."""
        place = self.joints.copy()
        for k in range(count):
            place[0] += speed * PERIOD / SECOND * min(1.0, (k + 1) / 3)
            self.command(place.copy(), source)
            self.wait(PERIOD / SECOND)
        return place

    @property
    def status(self):
        return self.gate.status

    @property
    def said(self):
        return [(i.act, i.reason.cause, i.is_over) for i in self.interventions]
