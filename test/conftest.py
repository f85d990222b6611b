# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Fixtures of all tests: ROS domains of their own, on loopback only."""

import atexit
import faulthandler
import gc
import itertools
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import settings

from frame_ros.bringup.supervisor import DOMAINS, free_domain

# The machines that run this may be busy: how long one example takes says nothing.
settings.register_profile('frame_ros', deadline=None)
settings.load_profile('frame_ros')

ROOT = Path(__file__).resolve().parent.parent

# Helpers lie beside the tests that use them most; those of any room can be imported by all.
for folder in sorted({path.parent for path in (ROOT / 'test').rglob('*.py')}):
    sys.path.append(str(folder))

# The one domain of all tests, where a domain has to be chosen by hand; empty: each has its own.
# Of parts of the tests side by side (scripts/test.sh: number/count) and of their processes each has
# domains of its own.
PART, PARTS = map(int, os.environ.get('FRAME_ROS_TEST_PART', '0/1').split('/'))
WORKER = int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0').removeprefix('gw'))
WORKERS = int(os.environ.get('PYTEST_XDIST_WORKER_COUNT', '1'))
PART_DOMAINS = DOMAINS[PART::PARTS]
OWN_DOMAINS = PART_DOMAINS[WORKER % len(PART_DOMAINS) :: WORKERS]
SEARCHES, WHOLE_SEARCH = itertools.count(1), 16  # of modules of tests
ONLY_DOMAIN = os.environ.get('FRAME_ROS_TEST_DOMAIN', '')


def next_domain() -> str:
    """A domain in which nothing of an earlier test lives: neither node nor process."""
    return ONLY_DOMAIN or str(free_domain(OWN_DOMAINS))


def end_default_context() -> None:
    """Shuts down what rclpy.init began in this process, also where the test that called it failed
    before its own end was set: every later rclpy.init would fail.
    """
    if rclpy := sys.modules.get('rclpy'):
        rclpy.try_shutdown()


# Set before anything imports rclpy; rclpy.init reads it, child processes inherit it.
# Processes that tests start are of the sources, too.
os.environ['PYTHONPATH'] = f'{ROOT}:{os.environ.get("PYTHONPATH", "")}'.rstrip(':')
os.environ['ROS_DOMAIN_ID'] = next_domain()
os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
os.environ['FASTRTPS_DEFAULT_PROFILES_FILE'] = str(ROOT / 'config' / 'fastdds_loopback.xml')
os.environ['FASTDDS_DEFAULT_PROFILES_FILE'] = os.environ['FASTRTPS_DEFAULT_PROFILES_FILE']
os.environ.setdefault('OMP_NUM_THREADS', '1')
os.environ.setdefault('MUJOCO_GL', 'egl')
# A shell that runs tests in the background has them, and what they start, ignore SIGINT.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
# The user's own cache is neither read nor filled.
os.environ['FRAME_ROS_CACHE'] = tempfile.mkdtemp(prefix='frame_ros_cache_')
atexit.register(shutil.rmtree, os.environ['FRAME_ROS_CACHE'], ignore_errors=True)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item) -> None:
    """Ends the process where a test takes longer than pytest's `faulthandler_timeout`, which would
    only print where it stands; of processes side by side another one goes on.
    """
    limit = float(item.config.getini('faulthandler_timeout'))
    file = item.config.stash[fault_handler_stderr_fd_key]
    faulthandler.dump_traceback_later(limit, file=file, exit=True)


@pytest.hookimpl(hookwrapper=True)
def pytest_collection() -> Iterator[None]:
    """Looks for garbage after all is collected, not meanwhile."""
    gc.disable()
    yield
    end_garbage()
    gc.enable()


def end_garbage() -> None:
    """Ends what was left to be collected, and leaves out what stays wherever garbage is looked for
    from now on: to go through all of it took longer than the tests of most modules. Now and then
    all of it is gone through, as some of that has become garbage.
    """
    if next(SEARCHES) % WHOLE_SEARCH == 0:
        gc.unfreeze()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope='module', autouse=True)
def domain_of_module() -> None:
    """A domain for each module. What tests of another one left ends before."""
    end_default_context()
    end_garbage()
    os.environ['ROS_DOMAIN_ID'] = next_domain()


@pytest.fixture(scope='module')
def ros_in_module(domain_of_module) -> None:
    """For nodes that the tests of a module share; skips them where rclpy is not installed."""
    pytest.importorskip('rclpy')


@pytest.fixture()
def ros_domain(ros_in_module, monkeypatch) -> Iterator[int]:
    """A domain for one test, whose nodes and processes all find each other in it."""
    domain = next_domain()
    monkeypatch.setenv('ROS_DOMAIN_ID', domain)
    yield int(domain)
    end_default_context()


@pytest.fixture()
def ros_context(ros_domain):
    """rclpy initialised in this process for one test, in a domain of its own."""
    import rclpy

    rclpy.init()
    return rclpy
