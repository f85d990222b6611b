# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""requirements/locked/ holds what the set-up installs: the pins of the other files, with hashes."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / 'scripts'))
try:
    import lock_requirements as lock
except ImportError as error:  # of pip's own modules, which other versions have elsewhere
    pytest.skip(f'needs the pip of the set-up: {error}', allow_module_level=True)
finally:
    sys.path.pop(0)


def pins(*files: str) -> set[str]:
    return {line for file in files for line in lock.pins_of(lock.REQUIREMENTS / file)}


@pytest.mark.parametrize('step', lock.STEPS)
def test_each_package_is_pinned_as_elsewhere_and_has_hashes(step):
    is_alone = step in lock.ALONE
    steps = [step] if is_alone else [each for each in lock.STEPS if each not in lock.ALONE]
    every = pins(*(file for each in steps for file in lock.STEPS[each]))
    found = lock.locked_pins(step)
    assert set(found) <= every
    entries = (lock.LOCKED / f'{step}.txt').read_text().replace('\\\n', '').splitlines()
    entries = [line for line in entries if not line.startswith('#')]
    assert len(entries) == len(found) > (10 if is_alone else 50)
    for entry in entries:
        assert re.search(r'(\s+--hash=sha256:[0-9a-f]{64})+$', entry), entry


@pytest.mark.parametrize('step', lock.STEPS)
def test_what_a_step_asks_for_is_in_its_locked_file(step):
    asked = {
        line.strip()
        for file in lock.STEPS[step]
        for line in (lock.REQUIREMENTS / file).read_text().splitlines()
        if line.strip() and line[0] not in '#-' and lock.name_of(line) not in lock.ELSEWHERE
    }
    assert asked and asked <= set(lock.locked_pins(step))


def test_the_set_up_installs_by_hash():
    text = (ROOT / 'scripts' / 'setup.sh').read_text()
    assert text.count('--require-hashes -r') == 3
    assert 'install_pinned ros' in text and 'install_pinned tools' in text
    text = (ROOT / 'scripts' / 'franka_sim_environment.sh').read_text()
    assert 'requirements/locked/franka-sim.txt' in text and '--require-hashes -r "$LOCKED"' in text
