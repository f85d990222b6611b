# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The shell that env.bash makes: command, nodes, messages, one metadata folder, loopback."""

import os
import re
import socket
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from patience import PATIENCE

from frame_ros.bringup.supervisor import free_domain

ROOT = Path(__file__).resolve().parent.parent
IN_CHECKOUT = ROOT / 'install' / 'frame_ros'


def overlay() -> Path | None:
    """The folder of colcon's install: a workspace that is sourced, or the checkout's own."""
    prefixes = [Path(path) for path in os.environ.get('AMENT_PREFIX_PATH', '').split(os.pathsep)]
    for prefix in [*prefixes, IN_CHECKOUT]:
        if (prefix / 'share' / 'frame_ros' / 'package.xml').is_file():
            return prefix
    return None


OVERLAY = overlay()
in_overlay = pytest.mark.skipif(OVERLAY is None, reason='no colcon overlay of frame_ros')
with_set_up = pytest.mark.skipif(
    not (IN_CHECKOUT.is_dir() and (ROOT / '.venv').is_dir()), reason='the checkout is not set up'
)


def run_in_shell(script: str, **environment: str) -> subprocess.CompletedProcess:
    """Runs a bash script that has sourced env.bash, from an environment without any ROS in it."""
    kept = {name: os.environ[name] for name in ('PATH', 'HOME', 'ROS_DISTRO') if name in os.environ}
    return subprocess.run(
        ['bash', '-euo', 'pipefail', '-c', f'source "{ROOT}/env.bash"; {script}'],
        env=kept | {'ROS_DOMAIN_ID': os.environ['ROS_DOMAIN_ID']} | environment,
        capture_output=True,
        text=True,
        cwd='/',
        timeout=PATIENCE,
    )


@with_set_up
def test_env_bash_gives_the_command_the_messages_and_the_sources():
    done = run_in_shell(
        'command -v frame-ros; python -c "import frame_ros, frame_ros.msg, frame_ros.srv, rclpy;'
        'print(frame_ros.__file__)"'
    )
    assert done.returncode == 0, done.stderr
    command, package = done.stdout.split()
    assert Path(command) == IN_CHECKOUT / 'bin' / 'frame-ros'
    assert Path(package) == ROOT / 'frame_ros' / '__init__.py'


@in_overlay
def test_the_overlay_has_one_metadata_folder_with_the_command():
    (folder,) = OVERLAY.glob('lib/python3*/site-packages/frame_ros*-info')
    distribution = metadata.Distribution.at(folder)
    (script,) = distribution.entry_points.select(group='console_scripts')
    assert (script.name, script.value) == ('frame-ros', 'frame_ros.cli:main')
    assert f'<version>{distribution.version}</version>' in (ROOT / 'package.xml').read_text()
    extras = distribution.metadata.get_all('Provides-Extra')
    assert {'sim', 'torch', 'lerobot', 'all'} <= set(extras)


@in_overlay
def test_the_overlay_holds_every_node_and_what_ros_users_look_for():
    nodes = {path.parent.name for path in (ROOT / 'frame_ros/nodes').glob('*/__main__.py')}
    installed = {
        path.name for path in (OVERLAY / 'lib' / 'frame_ros').iterdir() if os.access(path, os.X_OK)
    }
    assert nodes == installed
    for folder in ('launch', 'config', 'rviz', 'urdf'):
        assert (OVERLAY / 'share' / 'frame_ros' / folder).is_dir()


@with_set_up
def test_env_bash_refuses_a_ros_that_it_was_not_set_up_for():
    done = run_in_shell('true', ROS_DISTRO='humble')
    assert done.returncode != 0
    assert "'humble' is sourced" in done.stderr and 'setup' in done.stderr


def test_setup_refuses_a_python_without_wheels_and_says_what_fits(tmp_path):
    old = tmp_path / 'python'
    old.write_text('#!/bin/sh\necho "is Python 3.9: too old"\n')
    old.chmod(0o755)
    done = subprocess.run(
        [ROOT / 'scripts' / 'find_python.sh'],
        env={'PATH': os.environ['PATH'], 'PYTHON': str(old)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1 and not done.stdout
    assert (
        f'{old} is Python 3.9' in done.stderr and '3.11' in done.stderr and 'PYTHON=' in done.stderr
    )


def test_find_python_takes_the_python_that_runs_these_tests():
    done = subprocess.run(
        [ROOT / 'scripts' / 'find_python.sh'],
        env={'PATH': os.environ['PATH'], 'PYTHON': os.path.realpath(sys.executable)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == os.path.realpath(sys.executable)


@pytest.mark.parametrize(
    ('found', 'pins'),
    [
        ('3.12 1.26.4', 'ros-sourced.txt'),
        ('3.12 2.2.6', 'ros-sourced-numpy2.txt'),
        ('3.14 2.4.1', 'ros-sourced-numpy2.txt'),
        ('3.10 1.26.4', ''),
        ('3.15 2.5.0', ''),
        ('3.14 3.0.0', ''),
    ],
)
def test_the_pins_beside_a_sourced_ros_are_those_of_its_numpy(tmp_path, found, pins):
    python = tmp_path / 'python3'
    python.write_text(f'#!/bin/sh\necho "{found}"\n')
    python.chmod(0o755)
    done = subprocess.run(
        [ROOT / 'scripts' / 'sourced_pins.sh', python], capture_output=True, text=True
    )
    assert done.stdout.strip() == pins
    assert done.returncode == (0 if pins else 1)
    if pins:
        assert (ROOT / 'requirements' / pins).is_file()
    else:
        assert found.split()[0] in done.stderr and found.split()[1] in done.stderr


PROBE = """
import os, rclpy
rclpy.init()
node = rclpy.create_node('probe')
inodes = set()
for fd in os.listdir('/proc/self/fd'):
    name = os.readlink(f'/proc/self/fd/{fd}') if os.path.lexists(f'/proc/self/fd/{fd}') else ''
    if name.startswith('socket:['):
        inodes.add(name[8:-1])
for kind in ('udp', 'udp6'):
    for line in open(f'/proc/net/{kind}').readlines()[1:]:
        fields = line.split()
        if fields[9] in inodes:
            print(kind, *fields[1].split(':'))
rclpy.shutdown()
"""


@pytest.mark.usefixtures('ros_domain')
@pytest.mark.skipif(not Path('/proc/net/udp').exists(), reason='needs /proc/net/udp')
def test_a_node_receives_on_loopback_only():
    profile, domain = str(ROOT / 'config' / 'fastdds_loopback.xml'), free_domain()
    done = subprocess.run(
        [sys.executable, '-c', PROBE],
        env=os.environ
        | {
            'FASTRTPS_DEFAULT_PROFILES_FILE': profile,
            'FASTDDS_DEFAULT_PROFILES_FILE': profile,
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
            'ROS_DOMAIN_ID': str(domain),
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr
    # The ports that DDS receives on in this domain. What else is bound sends only, with LOCALHOST's
    # time to live of 0, and from a port of the system's choice.
    ports = range(7400 + 250 * domain, 7400 + 250 * (domain + 1))
    sockets = [line.split() for line in done.stdout.splitlines()]
    bound = {address(kind, host) for kind, host, port in sockets if int(port, 16) in ports}
    # 239.255.0.1: DDS's multicast group, which the whitelist joins on the loopback interface only.
    assert '127.0.0.1' in bound
    assert bound <= {'127.0.0.1', '239.255.0.1'}


def address(kind: str, hexadecimal: str) -> str:
    """The address as /proc/net writes it: four bytes in the machine's order."""
    assert kind == 'udp', f'an IPv6 socket is bound: {hexadecimal}'
    return socket.inet_ntoa(int(hexadecimal, 16).to_bytes(4, sys.byteorder))


def test_versions_are_pinned_exactly():
    for path in (ROOT / 'requirements').glob('*.txt'):
        for line in path.read_text().splitlines():
            if line and line[0] not in '#-':
                assert re.fullmatch(r'[\w.\-]+(\[[\w,]+\])?==[\w.]+(; [a-z_]+ .*)?', line), (
                    f'{path.name}: {line}'
                )


def test_each_file_of_requirements_names_its_pythons():
    """check_constraints.py asks the index about them, and about what they include."""
    text = {path.name: path.read_text() for path in (ROOT / 'requirements').glob('*.txt')}
    included = {name for each in text.values() for name in re.findall(r'^-[rc] (.*)$', each, re.M)}
    without = {name for name, each in text.items() if not re.search(r'^# Pythons: 3', each, re.M)}
    assert without <= included
    accepted = re.search(r'for version in (.*); do', (ROOT / 'scripts/find_python.sh').read_text())[
        1
    ]
    assert f'# Pythons: {accepted}\n' in text['ros.txt']


def test_progress_names_steps_and_log_and_ends_with_the_log_of_what_failed(tmp_path):
    script = f"""
        set -euo pipefail
        LOG={tmp_path}/log
        source {ROOT}/scripts/progress.sh
        works() {{ logged echo inside; }}
        fails() {{ logged sh -c 'echo the reason; exit 3'; }}
        run_step 1 2 'doing this' works
        run_step 2 2 'doing that' fails
    """
    done = subprocess.run(['bash', '-c', script], capture_output=True, text=True)
    assert done.returncode == 1
    first, second, *rest = done.stdout.splitlines()
    assert first == '[frame_ros] [1/2] doing this'
    assert re.fullmatch(r'\[frame_ros\] \[1/2\] doing this: \d+s', second)
    assert rest == ['[frame_ros] [2/2] doing that']
    assert 'the reason' in done.stderr and f'in full in {tmp_path}/log' in done.stderr


def test_progress_shows_what_is_done_and_no_warnings(tmp_path):
    log = tmp_path / 'log'
    script = f'LOG={log}; source {ROOT}/scripts/progress.sh; newest_line'
    for text, shown in (
        ("Collecting numpy\nWARNING: Location 'https://...' is ignored\n", 'Collecting numpy'),
        ('[ 40%] Building C object\ngmake[3]: Leaving directory\n', '[ 40%] Building C object'),
        ('WARNING: nothing else\n', ''),
    ):
        log.write_text(text)
        done = subprocess.run(['bash', '-c', script], capture_output=True, text=True)
        assert done.stdout.strip() == shown


BUILD = """
    set -euo pipefail
    ROOT={folder} VENV={folder}/.venv STAMPS={folder}/stamps LOG={folder}/log ros=$1
    cd "$ROOT"
    source {scripts}/progress.sh
    source {scripts}/overlay.sh
    is_fresh() {{ [ -f "$STAMPS/$1" ] && [ "$(cat "$STAMPS/$1")" = "$2" ]; }}
    stamp() {{ echo "$2" >"$STAMPS/$1"; }}
    digest() {{ sha256sum | cut -d' ' -f1; }}
    colcon() {{ mkdir -p install; touch install/setup.bash; }}
    echo "$ros" >"$STAMPS/venv"
    overlay_is_fresh || build_overlay
"""


def test_an_overlay_keeps_nothing_that_is_gone(tmp_path):
    for name in ('msg', 'srv', 'frame_ros', 'launch', 'config', 'rviz', 'urdf', '.venv/bin'):
        (tmp_path / name).mkdir(parents=True)
    for name in ('scripts', 'stamps'):
        (tmp_path / name).mkdir(parents=True)
    for name in (
        'CMakeLists.txt',
        'package.xml',
        'setup.cfg',
        'scripts/frame-ros',
        'scripts/node.in',
    ):
        (tmp_path / name).touch()
    for name in ('.venv/bin/activate', 'stamps/venv', 'msg/A.msg', 'frame_ros/code.py'):
        (tmp_path / name).touch()
    script = BUILD.format(folder=tmp_path, scripts=ROOT / 'scripts')
    module = tmp_path / 'install' / 'module_that_is_gone.py'
    library = tmp_path / 'build' / 'libof_another_generator.so'

    def left_after(ros):
        subprocess.run(['bash', '-c', script, 'build', ros], check=True)
        found = {path.name for path in (module, library) if path.exists()}
        library.parent.mkdir(exist_ok=True)
        library.touch()
        module.touch()
        return found

    assert not left_after('wheels')
    assert left_after('wheels') == {module.name, library.name}, 'nothing has changed'
    (tmp_path / 'frame_ros' / 'code.py').write_text('changed')
    assert left_after('wheels') == {library.name}, 'a change of code compiles nothing again'
    assert not left_after('jazzy')
    (tmp_path / 'msg' / 'A.msg').rename(tmp_path / 'msg' / 'B.msg')
    assert not left_after('jazzy')
