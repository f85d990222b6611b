# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The gate's limits on the wire, through random transitions: no output breaks one.

    python benchmarks/gate_transitions.py [--minutes 10] [--seed 0]

A gate in a process of its own, and around it an arm that follows its commands with a lag, a policy,
two operators and trouble: takeovers, stops, resets, STOP events, episodes, heartbeats and
joint states that end and begin, joint states that lie, second publishers, commands that jump, come
in jerks, leave joints out, stalls of the whole process, and that it is deactivated and activated.

Every message on joint_commands is checked, in every state, by when it was published. The gate
states the times of its stream to lie behind the clock by at most its slot (`jitter`); publishing
takes up to DELAY more. An output is a violation if there are no such times for it and those before
it with which the joint keeps to its limits of position, speed and acceleration.
"""

from __future__ import annotations

import argparse
import math
import random
import signal
import sys
import threading
import time
from collections import Counter
from typing import Any

import numpy as np
import rclpy
from gate import HOME, JOINTS, gate
from gate_flood import Operator
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from parts.bars import Bars, parse
from parts.gate_wire import WireCheck
from rclpy.qos import QoSDurabilityPolicy, QoSProfile
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool

from frame_ros.gate.limits.command_limits import JointLimits, limits_of
from frame_ros.msg import EpisodeEvent, GateState, PolicyHeartbeat
from frame_ros.nodes.runtime.polled import PolledSubscription
from frame_ros.robots import load_robot

SLOT, DELAY = 0.02, 0.005  # s: the gate's parameter `jitter`, and see above
POLICY_RATE, STATE_RATE, HEARTBEAT_RATE = 50.0, 100.0, 20.0
LAG = 0.04  # s of the arm
LATCHED = QoSProfile(depth=50, durability=QoSDurabilityPolicy.TRANSIENT_LOCAL)


class World:
    """Everything around a gate; `turn` publishes what is due."""

    def __init__(self, rng: random.Random) -> None:
        self.node, self._rng = rclpy.create_node('world'), rng
        self.stranger = rclpy.create_node('stranger')
        joints, commands = 'joint_states', 'policy_commands'
        self._joints = self.node.create_publisher(JointState, joints, 10)
        self._commands = {
            'policy': self.node.create_publisher(JointState, commands, 10),
            'person': self.node.create_publisher(JointState, 'teleop_commands', 10),
            'stranger': self.stranger.create_publisher(JointState, commands, 10),
        }
        self._lies = self.stranger.create_publisher(JointState, joints, 10)
        self._beats = self.node.create_publisher(PolicyHeartbeat, 'policy_heartbeat', 10)
        self.takeover = self.node.create_publisher(Bool, 'takeover', LATCHED)
        self.events = self.node.create_publisher(EpisodeEvent, 'episode_events', LATCHED)
        self.outputs: list[tuple[float, tuple[str, ...], list[float]]] = []
        self.states: Counter[str] = Counter()
        self.state = GateState.IDLE
        self._heard = PolledSubscription(self.node, JointState, 'joint_commands', 200)
        self._gate_state = PolledSubscription(self.node, GateState, 'gate_state', LATCHED)
        self.place = dict(zip(JOINTS, HOME, strict=True))
        self.goal = dict(self.place)
        self.aim = dict(self.place)  # of who drives
        self.wanted = dict(self.place)
        self.speed = 1.0  # rad/s of who drives
        self.is_on = dict.fromkeys(
            ('policy', 'person', 'beats', 'joints', 'stranger', 'lies'), True
        )
        self.is_on |= {'stranger': False, 'lies': False}
        self.left_out: set[str] = set()
        self.jitter = 0.0
        self._due = dict.fromkeys(('command', 'joints', 'beat'), 0.0)
        self._at = time.monotonic()

    def turn(self) -> None:
        """Takes what has come, moves the arm, publishes what is due."""
        for message, info in self._heard.take(200):
            named = tuple(message.name), list(message.position)
            self.outputs.append((info['source_timestamp'] / 1e9, *named))
            self.goal.update(zip(*named, strict=True))
        for message, _ in self._gate_state.take(50):
            self.state = message.state
            self.states[f'{message.state} {message.cause}'.strip()] += 1
        now = time.monotonic()
        passed, self._at = now - self._at, now
        share = 1.0 - math.exp(-passed / LAG)
        for name in JOINTS:
            self.place[name] += share * (self.goal[name] - self.place[name])
            step = min(abs(self.aim[name] - self.wanted[name]), self.speed * passed)
            self.wanted[name] += math.copysign(step, self.aim[name] - self.wanted[name])
        if self._is_due('joints', STATE_RATE, now):
            self._measure()
        if self._is_due('beat', HEARTBEAT_RATE, now) and self.is_on['beats']:
            self._beats.publish(PolicyHeartbeat(is_acting=True))
        if self._is_due('command', POLICY_RATE, now):
            self._due['command'] += self._rng.uniform(0.0, self.jitter)
            self._command()

    def _is_due(self, what: str, rate: float, now: float) -> bool:
        if now < self._due[what]:
            return False
        self._due[what] = max(self._due[what] + 1.0 / rate, now - 0.1)
        return True

    def _message(self, places: dict[str, float]) -> JointState:
        message = JointState(name=list(places), position=list(places.values()))
        message.header.stamp = self.node.get_clock().now().to_msg()
        return message

    def _measure(self) -> None:
        if self.is_on['joints']:
            self._joints.publish(self._message(self.place))
        if self.is_on['lies']:
            name = self._rng.choice(JOINTS)
            lie = self.place | {name: self.place[name] + self._rng.choice((-1.5, 0.5, 1.5))}
            self._rng.choice((self._joints, self._lies)).publish(self._message(lie))

    def _command(self) -> None:
        for who in ('policy', 'person', 'stranger'):
            if self.is_on[who]:
                wanted = {n: p for n, p in self.wanted.items() if n not in self.left_out}
                self._commands[who].publish(self._message(wanted))

    def event(self, kind: int) -> None:
        """An event, sometimes without a stamp."""
        event = EpisodeEvent(type=kind, episode_id='e1', source='world', text='trial')
        if kind != EpisodeEvent.STOP or self._rng.random() < 0.5:
            event.header.stamp = self.node.get_clock().now().to_msg()
        self.events.publish(event)

    def resume(self) -> None:
        """The driving source begins where the arm is."""
        self.wanted = dict(self.place)


class Trouble:
    """One transition after the other, at random."""

    def __init__(self, world: World, operator: Operator, process: Any, rng: random.Random) -> None:
        self._world, self._operator, self._process, self._rng = world, operator, process, rng
        self._change = operator.node.create_client(ChangeState, 'gate/change_state')
        self.done: Counter[str] = Counter()
        self._has_taken_over = False
        self._kinds = [name for name in dir(self) if name.startswith('do_')]

    def next(self) -> None:
        """The next; a reset more often where the gate is stopped."""
        stopped = self._world.state == GateState.STOPPED and self._rng.random() < 0.6
        kind = 'do_reset' if stopped else self._rng.choice(self._kinds)
        self.done[kind[3:]] += 1
        getattr(self, kind)()

    def do_takeover(self) -> None:
        """The person takes over, or gives back."""
        self._has_taken_over = not self._has_taken_over
        self._world.takeover.publish(Bool(data=self._has_taken_over))

    def do_stop(self) -> None:
        """The operator stops the arm."""
        self._operator.stop()

    def do_reset(self) -> None:
        """The operator resets; everything works, and who drives begins where the arm is."""
        world = self._world
        world.is_on |= dict.fromkeys(('policy', 'person', 'beats', 'joints'), True)
        world.is_on |= {'stranger': False, 'lies': False}
        if self._rng.random() < 0.7:
            world.resume()
        self._operator.ask_for_reset()

    def do_event(self) -> None:
        """An episode begins or ends, or somebody stops it."""
        kinds = (EpisodeEvent.START, EpisodeEvent.START, EpisodeEvent.END, EpisodeEvent.STOP)
        self._world.event(self._rng.choice(kinds))

    def do_switch(self) -> None:
        """Something that comes ends, or comes again."""
        what = self._rng.choice(('policy', 'person', 'beats', 'joints'))
        self._world.is_on[what] = not self._world.is_on[what]

    def do_lie(self) -> None:
        """Joint states lie for a moment, or a second policy commands."""
        what = self._rng.choice(('lies', 'stranger'))
        self._world.is_on[what] = not self._world.is_on[what]

    def do_aim(self) -> None:
        """The driving source goes elsewhere, slowly or far too fast."""
        self._world.speed = self._rng.choice((0.3, 1.0, 3.0, 10.0, 100.0))
        for name in self._rng.sample(JOINTS, 3):
            self._world.aim[name] = self._rng.uniform(-1.6, 1.6)

    do_aim_more = do_aim_again = do_aim  # what a policy does most of the time

    def do_leave_out(self) -> None:
        """Commands are for some of the joints only."""
        count = self._rng.choice((0, 0, 1, 3))
        self._world.left_out = set(self._rng.sample(JOINTS, count))

    def do_jitter(self) -> None:
        """Commands come in jerks."""
        self._world.jitter = self._rng.choice((0.0, 0.0, 0.03, 0.08))

    def do_resume(self) -> None:
        """The driving source begins where the arm is."""
        self._world.resume()

    def do_push(self) -> None:
        """Somebody pushes the arm, slowly enough to be true."""
        name = self._rng.choice(JOINTS)
        self._world.place[name] += self._rng.uniform(-0.05, 0.05)

    def do_restart(self) -> None:
        """The gate is deactivated, and activated again."""
        self._ask(Transition.TRANSITION_DEACTIVATE)
        pause = self._rng.choice((0.02, 0.1, 0.5))
        threading.Timer(pause, self._ask, (Transition.TRANSITION_ACTIVATE,)).start()

    def _ask(self, transition: int) -> None:
        request = ChangeState.Request()
        request.transition.id = transition
        self._change.call_async(request)

    def do_stall(self) -> None:
        """The gate's process stands still."""
        self._process.send_signal(signal.SIGSTOP)
        threading.Timer(
            self._rng.choice((0.03, 0.1, 0.5, 1.5)), self._process.send_signal, (signal.SIGCONT,)
        ).start()


def run(world: World, trouble: Trouble, seconds: float, rng: random.Random) -> None:
    """Random transitions for so long."""
    end, due = time.monotonic() + seconds, 0.0
    while (now := time.monotonic()) < end:
        world.turn()
        if now >= due:
            trouble.next()
            due = now + rng.choice((0.0, 0.02, 0.1, 0.3, 1.0))
        time.sleep(0.002)


def violations(world: World, limits: JointLimits) -> list[str]:
    """Returns what the outputs did that they must not."""
    joints = {name: WireCheck(limits, i, SLOT + DELAY) for i, name in enumerate(limits.names)}
    found = []
    for at, names, places in world.outputs:
        for name, place in zip(names, places, strict=True):
            problem = joints[name].see(place, at)
            if problem:
                found.append(f'at {at - world.outputs[0][0]:.3f} s: {problem}')
    return found


def main() -> int:
    """Runs all of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--minutes', type=float, default=10.0)
    parser.add_argument('--seed', type=int, default=0)
    options = parse(parser, minutes=0.1)
    rng = random.Random(options.seed)
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    world, operator, bars = World(rng), Operator(), Bars(options)
    with gate(**{'limits.jitter': str(SLOT)}) as process:
        operator.wait()
        trouble = Trouble(world, operator, process, rng)
        run(world, trouble, 60.0 * options.minutes, rng)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        world.turn()
    print('transitions:', ', '.join(f'{n} {c}' for n, c in sorted(trouble.done.items())))
    print('states:', ', '.join(f'{n}: {c}' for n, c in sorted(world.states.items())))
    limits = limits_of(load_robot('so101'))
    found = violations(world, limits)
    for text in found[:20]:
        print('violation', text)
    whole = [places for _, names, places in world.outputs if len(names) == len(JOINTS)]
    moved = np.round(np.ptp(whole, axis=0), 2) if whole else 'none was sent to all joints'
    print(f'{len(world.outputs)} outputs; range of each joint, rad:', moved)
    bars.at_most('violations', len(found), 0)
    bars.at_least('outputs per second', len(world.outputs) / (60.0 * options.minutes), 10.0)
    operator.close()
    return bars.exit_status()


if __name__ == '__main__':
    sys.exit(main())
