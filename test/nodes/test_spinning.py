# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""How a node's process ends: by a signal, by itself, by an error of the user."""

import signal
import subprocess
import sys

import pytest

pytest.importorskip('rclpy')

PROGRAM = """
import sys, time
from std_msgs.msg import String
from rclpy.node import Node
from frame_ros.errors import SetupError
from frame_ros.nodes.spinning import run_node

class Example(Node):
    def __init__(self):
        super().__init__('example')
        self.exit_code = None
        self.out = self.create_publisher(String, 'out', 1)
        if 'wrong' in sys.argv:
            raise SetupError('the value 3 is wrong; 2 is right')
        if 'ends' in sys.argv:
            self.create_timer(0.05, self.end)
        print('ready', flush=True)

    def end(self):
        self.exit_code = 7

    def destroy_node(self):
        print('closing', flush=True)
        time.sleep(0.3)
        self.out.publish(String(data='the context is still valid'))
        super().destroy_node()
        print('closed', flush=True)

def poll(node, stop):
    while not stop.wait(0.02):
        pass

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
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (0, 'closed\n')
    assert 'Traceback' not in err


def test_a_node_that_ends_by_itself_gives_the_exit_code(ros_domain):
    process = start('ends')
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (7, 'ready\nclosing\nclosed\n')
    assert 'Traceback' not in err


def test_an_error_of_the_user_is_one_line(ros_domain):
    process = start('wrong')
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (1, '')
    assert err == 'Example: the value 3 is wrong; 2 is right\n'
