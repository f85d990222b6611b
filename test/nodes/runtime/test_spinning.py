# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Ends of a node's process: by a signal, by itself, by an error of the user."""

import re
import signal
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from patience import PATIENCE

pytest.importorskip('rclpy')

from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock

from frame_ros.nodes.runtime.clock_watch import clock_watched
from frame_ros.nodes.runtime.spinning import poll_with_services

PROGRAM = """
import sys, threading, time
from std_msgs.msg import String
from rclpy.node import Node
from frame_ros.core.errors import SetupError
from frame_ros.nodes.runtime.spinning import run_node

class Example(Node):
    def __init__(self):
        super().__init__('example')
        self.exit_code = None
        self.out = self.create_publisher(String, 'out', 1)
        if 'wrong' in sys.argv:
            raise SetupError('the value 3 is wrong; 2 is right')
        if 'thread' in sys.argv:
            threading.Thread(target=self.fail, name='worker', daemon=True).start()
        if 'ends' in sys.argv:
            self.create_timer(0.05, self.end)
        print('ready', flush=True)

    def end(self):
        self.exit_code = 7

    def fail(self):
        time.sleep(0.3)
        raise ZeroDivisionError('planted')

    def destroy_node(self):
        print('closing', flush=True)
        time.sleep(0.3)
        self.out.publish(String(data='the context is still valid'))
        super().destroy_node()
        print('closed', flush=True)

def poll(node, stop):
    while not stop.wait(0.02):
        pass

if 'ours' in sys.argv:
    __name__ = 'frame_ros.nodes.example'
sys.exit(run_node(Example, spin=poll if 'polls' in sys.argv else None))
"""


def start(*words):
    return subprocess.Popen(
        [sys.executable, '-c', PROGRAM, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize('number', [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize('words', [(), ('polls',)], ids=['executor', 'polls'])
def test_a_signal_closes_the_node_and_a_second_one_does_not_disturb_it(ros_domain, number, words):
    process = start(*words)
    assert process.stdout.readline() == 'ready\n'
    process.send_signal(number)
    assert process.stdout.readline() == 'closing\n'
    process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, 'closed\n')
    assert 'Traceback' not in err


def test_a_node_that_ends_by_itself_gives_the_exit_code(ros_domain):
    process = start('ends')
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (7, 'ready\nclosing\nclosed\n')
    assert 'Traceback' not in err


@pytest.mark.parametrize('words', [(), ('polls',)], ids=['executor', 'polls'])
def test_a_thread_that_fails_ends_the_node_with_an_error(ros_domain, words):
    """It had stood still for its user, whose launch file saw it run."""
    process = start('thread', 'ours', *words)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (1, 'ready\nclosing\nclosed\n')
    assert 'planted' in err
    assert 'the thread worker has failed (ZeroDivisionError): the node ends' in err


def test_a_failed_thread_ends_the_node_also_where_nobody_reads_its_errors(ros_domain):
    """As of a node whose launch was killed: the pipe of its standard error has no reader."""
    process = start('thread', 'ours', 'polls')
    process.stderr.close()
    try:
        assert process.wait(PATIENCE) in (1, 120)  # 120: Python could not write all, either
    finally:
        process.kill()
    assert process.stdout.read() == 'ready\nclosing\nclosed\n'


def test_a_thread_of_others_that_fails_ends_nothing(ros_domain):
    process = start('thread')
    assert process.stdout.readline() == 'ready\n'
    assert 'Exception in thread worker' in process.stderr.readline()
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, 'closing\nclosed\n')
    assert 'the node ends' not in err


def test_an_error_of_the_user_is_one_line(ros_domain):
    process = start('wrong')
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (1, '')
    assert re.fullmatch(
        r'\[FATAL\] \[[\d.]+\] \[Example\]: the value 3 is wrong; 2 is right\n', err
    )


def test_a_polling_node_answers_all_that_waits_at_its_next_look(ros_context):
    """Many requests at once: one executor turn per look would take seconds."""
    node = Node('server')
    answered = []
    timers = [node.create_timer(0.0, lambda i=i: answered.append(i)) for i in range(20)]
    stop = threading.Event()
    looks = []

    def look():
        looks.append(len(set(answered)))
        stop.set()

    poll_with_services(node, stop, lambda: None, lambda: None, look)
    assert len(timers) == 20 and looks == [20]
    node.destroy_node()


def test_simulated_time_is_up_to_date_at_every_poll(ros_context):
    node = Node('follower', parameter_overrides=[Parameter('use_sim_time', value=True)])
    clock = Node('clock')
    publisher = clock.create_publisher(Clock, '/clock', 10)
    stop = threading.Event()
    seen, sent, end = [], 0, time.monotonic() + PATIENCE

    def poll():
        nonlocal sent
        seen.append(node.get_clock().now().nanoseconds)
        if time.monotonic() > end or seen[-1] >= 30_000_000:
            stop.set()
        if seen[-1] == sent * 1_000_000:  # the last one has arrived: the next
            sent += 1
            publisher.publish(Clock(clock=Time(nanosec=sent * 1_000_000)))

    poll_with_services(node, stop, poll, lambda: time.sleep(0.005))
    values = sorted(set(seen))
    assert values[-1] >= 30_000_000, 'the time stood still'
    for other in (node, clock):
        other.destroy_node()


def test_a_node_without_its_simulated_time_says_so(ros_domain):
    process = start('--ros-args', '-p', 'use_sim_time:=true')
    warning = process.stderr.readline()
    assert '[WARN]' in warning and 'use_sim_time is set, but nobody publishes /clock' in warning
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, 'ready\nclosing\nclosed\n')
    assert 'use_sim_time' not in err


@pytest.mark.parametrize('is_simulated', [True, False])
def test_simulated_time_that_is_late_or_stands_still(ros_context, capfd, is_simulated):
    node = Node('waiting', parameter_overrides=[Parameter('use_sim_time', value=is_simulated)])
    clock = Node('paused')
    publisher = clock.create_publisher(Clock, '/clock', 10)

    def spin(stamp, is_over):
        while not is_over():
            publisher.publish(Clock(clock=stamp))
            ros_context.spin_once(node, timeout_sec=0.05)

    while is_simulated and not node.count_publishers('/clock'):
        time.sleep(0.01)
    # Read when the thread that writes is gone: what it wrote while it is read would be lost.
    with clock_watched(node, patience=0.2):
        end = time.monotonic() + (2.0 if is_simulated else 0.5)
        spin(Time(), lambda: time.monotonic() >= end)
        spin(Time(sec=7), lambda: all(each.name != 'clock' for each in threading.enumerate()))
    said = capfd.readouterr().err
    assert said.count('use_sim_time is set') == int(is_simulated)
    if is_simulated:
        warning = said.index('/clock has 1 publisher(s), but the time was still 0')
        assert said.index('the time has come on /clock') > warning
    for other in (node, clock):
        other.destroy_node()


EXITING = """
import atexit, os, signal, sys, time
from rclpy.node import Node
from frame_ros.nodes.runtime.spinning import run_node

def at_exit():
    os.kill(os.getpid(), signal.SIGINT)  # as the second of a launch in a terminal
    time.sleep(0.1)
    print('at exit', flush=True)

class Stopped(Node):
    def __init__(self):
        super().__init__('stopped')
        os.kill(os.getpid(), signal.SIGINT)

atexit.register(at_exit)
sys.exit(run_node(Stopped))
"""


def test_a_second_interrupt_does_not_tear_what_runs_at_exit(ros_domain):
    ended = subprocess.run(
        [sys.executable, '-c', EXITING], capture_output=True, text=True, timeout=60
    )
    assert (ended.returncode, ended.stdout) == (0, 'at exit\n')
    assert 'KeyboardInterrupt' not in ended.stderr


def test_an_interrupt_while_libraries_load_is_no_traceback(ros_domain):
    """Ctrl-C soon after `ros2 launch`, which each of its nodes gets."""
    command = [sys.executable, '-X', 'importtime', '-m', 'frame_ros.nodes.kinematics']
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as node:
        for line in node.stderr:
            if line.rstrip().endswith(' rclpy.impl'):  # many others follow
                node.send_signal(signal.SIGINT)
                break
        said = node.stderr.read()
        assert node.wait(PATIENCE) == 0, said
    assert 'KeyboardInterrupt' not in said


def test_a_process_that_ends_does_not_search_for_garbage(monkeypatch):
    from frame_ros.nodes import start

    frozen = []
    monkeypatch.setattr(start.gc, 'freeze', lambda: frozen.append(True))
    monkeypatch.setattr(start.importlib, 'import_module', lambda name: SimpleNamespace(main=end))
    with pytest.raises(SystemExit):
        start.start('example')
    assert frozen == [True]


def end():
    sys.exit(1)
