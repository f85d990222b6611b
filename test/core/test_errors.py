# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Messages about missing packages: their commands must work where they are read."""

import re
from configparser import ConfigParser
from pathlib import Path

import pytest

from frame_ros.core import errors
from frame_ros.core.errors import install_hint

ROOT = Path(__file__).resolve().parents[2]


def extras() -> dict[str, list[str]]:
    metadata = ConfigParser()
    metadata.read(ROOT / 'setup.cfg')
    return {name: text.split() for name, text in metadata['options.extras_require'].items()}


@pytest.mark.parametrize('extra', extras())
def test_a_checkout_names_set_up_and_the_packages(extra, monkeypatch):
    monkeypatch.setattr(errors, 'CHECKOUT', ROOT)  # an overlay's copy may be the one imported
    hint = install_hint(extra)
    assert f'`make setup` in {ROOT}, or pip install' in hint
    assert all(repr(package) in hint for package in extras()[extra])


def test_an_installed_copy_names_the_packages_of_its_metadata(monkeypatch):
    lines = [
        'numpy>=1.26',
        "msgpack>=1.0.5; extra == 'remote'",
        'websockets>=13; extra == "remote"',
    ]
    monkeypatch.setattr(errors, 'CHECKOUT', None)
    monkeypatch.setattr('importlib.metadata.requires', lambda name: lines)
    assert install_hint('remote') == "pip install 'msgpack>=1.0.5' 'websockets>=13'"
    assert install_hint() == "pip install 'numpy>=1.26'"


def test_a_colcon_build_without_metadata_names_the_lists(monkeypatch):
    from importlib.metadata import PackageNotFoundError

    def requires(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(errors, 'CHECKOUT', None)
    monkeypatch.setattr('importlib.metadata.requires', requires)
    assert "the extra 'remote' of setup.cfg" in install_hint('remote')
    assert (ROOT / 'requirements' / 'ros-sourced.txt').is_file()


def test_every_extra_that_a_message_names_is_there():
    asked = {
        (path.name, name)
        for path in (ROOT / 'frame_ros').rglob('*.py')
        for name in re.findall(r"""install_hint\(['"](\w+)""", path.read_text())
    }
    assert len(asked) > 10
    assert {name for _, name in asked} <= set(extras())


def test_nothing_says_that_frame_ros_is_in_an_index():
    texts = [*(ROOT / 'frame_ros').rglob('*.py'), *(ROOT / 'docs').glob('*.md'), ROOT / 'README.md']
    wrong = [path for path in texts if re.search(r'pip install [\'"]?frame_ros', path.read_text())]
    assert not wrong
