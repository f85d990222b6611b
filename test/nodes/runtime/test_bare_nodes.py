# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Every node as `ros2 run frame_ros <node>` starts it, without a parameter: it works, or waits and
says for what.
"""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

rclpy = pytest.importorskip('rclpy')

from frame_ros.bringup.declared_nodes import topics_of  # noqa: E402
from frame_ros.nodes.runtime.endpoints import quality_of  # noqa: E402

PACKAGE = Path(__file__).resolve().parents[3] / 'frame_ros'
# Node that cannot run without a parameter -> what it says; see its own test below.
NEEDING = {'scene_overlay': 'the parameter scenes_file is empty'}
NODES = sorted({path.parent.name for path in PACKAGE.glob('nodes/*/__main__.py')} - set(NEEDING))
WITH_LEROBOT = ('robot_driver', 'teleoperator')
# Node that waits unconfigured -> what for.
WAITING = {**dict.fromkeys(WITH_LEROBOT, 'needs its port'), 'monitor': 'no threshold'}
OF_EVERY_NODE = re.compile(
    r'/(rosout|parameter_events)'
    r'|/(?P<node>\w+)/(\w+_parameters\w*|get_type_description|get_parameter_types|change_state'
    r'|get_(available_)?states?|get_available_transitions|get_transition_graph|transition_event)'
)
ABSOLUTE = ('/tf', '/clock', '/diagnostics')
DEADLINE = 120.0  # s, for what must come at all: LeRobot's first import takes long


@pytest.fixture()
def probe(ros_domain):
    context = rclpy.Context()
    rclpy.init(context=context)
    node = rclpy.create_node('probe', context=context)
    yield node
    node.destroy_node()
    rclpy.try_shutdown(context=context)


@pytest.mark.parametrize('name', NODES)
def test_a_node_without_parameters_runs_and_ends_cleanly(probe, name, tmp_path):
    if name in WITH_LEROBOT:
        pytest.importorskip('lerobot')
        pytest.importorskip('scservo_sdk')
    log = tmp_path / 'log'
    with log.open('w') as file:
        process = subprocess.Popen(
            [sys.executable, '-m', f'frame_ros.nodes.{name}'],
            cwd=tmp_path,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, 'PYTHONUNBUFFERED': '1'},
        )
        try:
            is_there = wait_for(lambda: name in probe.get_node_names(), process)
            if name in WAITING:
                wait_for(lambda: WAITING[name] in log.read_text(), process)
                wait_for(lambda: 'waits unconfigured' in log.read_text(), process)
            assert is_there, log.read_text()
            check_topics(probe, name, process)
            process.send_signal(signal.SIGINT)
            assert process.wait(DEADLINE) == 0, log.read_text()
        finally:
            process.kill()
            process.wait()
    assert 'Traceback' not in log.read_text() and 'FATAL' not in log.read_text()


@pytest.mark.parametrize('name', NEEDING)
def test_a_node_that_needs_a_parameter_says_so_and_ends(name, ros_domain, tmp_path):
    command = [sys.executable, '-m', f'frame_ros.nodes.{name}']
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=DEADLINE)
    assert done.returncode != 0 and 'Traceback' not in done.stderr
    assert NEEDING[name] in done.stderr + done.stdout


def test_a_monitor_with_thresholds_has_the_topics_that_it_declares(probe, tmp_path):
    given = ['-p', 'threshold_from:=fixed', '-p', 'thresholds:=[0.5]', '-p', 'halts_gate:=true']
    process = subprocess.Popen(
        [sys.executable, '-m', 'frame_ros.nodes.monitor', '--ros-args', *given], cwd=tmp_path
    )
    try:
        assert wait_for(lambda: 'monitor' in probe.get_node_names(), process)
        check_topics(probe, 'monitor', process, is_at_work=True)
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 0
    finally:
        process.kill()
        process.wait()


def check_topics(probe, name, process, is_at_work=False):
    """The graph shows of the node what it declares: no more, and all without a condition
    once it is at work.
    """
    declared = topics_of(name)
    if is_at_work or name not in WAITING:
        assert wait_for(lambda: not missing(probe, name, declared), process), name
    for kind, found in graph(probe, name).items():
        for endpoint, types in found:
            fitting = [each for each in getattr(declared, kind) if each.matches(endpoint, name)]
            assert any(each.type in (*types, '') for each in fitting), (kind, endpoint, types)
    for topic in (each for each in declared.publishes if '{' not in each.name):
        for info in probe.get_publishers_info_by_topic(topic.name):
            if info.node_name == name:
                offered, wanted = info.qos_profile, quality_of(topic)
                assert offered.durability == wanted.durability, topic
                assert offered.reliability == wanted.reliability, topic


def missing(probe, name, declared):
    """Endpoints that the node declares without a condition, and the graph does not show."""
    return [
        (kind, each.name)
        for kind, found in graph(probe, name).items()
        for each in getattr(declared, kind)
        if not each.condition and not any(each.matches(endpoint, name) for endpoint, _ in found)
    ]


def graph(probe, name):
    """Topics and services of a node, without those of every node."""
    return {
        kind: [
            (plain(endpoint), types) for endpoint, types in of(name, '/') if is_own(endpoint, name)
        ]
        for kind, of in {
            'publishes': probe.get_publisher_names_and_types_by_node,
            'subscribes': probe.get_subscriber_names_and_types_by_node,
            'serves': probe.get_service_names_and_types_by_node,
            'calls': probe.get_client_names_and_types_by_node,
        }.items()
    }


def is_own(endpoint, name):
    found = OF_EVERY_NODE.fullmatch(endpoint)
    return found is None or found['node'] not in (None, name)


def plain(endpoint):
    return endpoint if endpoint.startswith(ABSOLUTE) else endpoint.lstrip('/')


def wait_for(condition, process):
    """Returns whether it came true while the process ran."""
    end = time.monotonic() + DEADLINE
    while not condition() and process.poll() is None:
        assert time.monotonic() < end, 'it did not happen'
        time.sleep(0.05)
    return process.poll() is None
