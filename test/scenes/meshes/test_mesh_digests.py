# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Digests of mesh folders, by which campaigns notice changes."""

from types import SimpleNamespace

import pytest

from frame_ros.core.errors import SetupError
from frame_ros.scenes.description.mesh_digests import (
    folder_digests,
    libraries_digests,
    library_digests,
    mesh_digests,
)


def test_objects_of_one_name_in_two_libraries_are_both_noticed(tmp_path):
    folders = [tmp_path / library / 'mug' for library in ('a', 'b')]
    for path in folders:
        path.mkdir(parents=True)
        (path / 'visual.obj').write_text(f'v {path.parent.name}')
    before = folder_digests(folders)
    for path in folders:
        (path / 'visual.obj').write_text('v changed')
        after = folder_digests(folders)
        changed = [name for name in after if after[name] != before[name]]
        assert changed == [f'{path}/visual.obj']
        before = after
    assert list(folder_digests(folders[:1])) == ['mug/visual.obj']


def test_a_library_that_is_not_there_is_refused_in_words(tmp_path):
    with pytest.raises(SetupError, match='there is no folder .*gone; it holds a folder for each'):
        library_digests(str(tmp_path / 'gone'))
    for name, file in (('mug', 'visual.obj'), ('pictures', 'mug.png')):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).write_text('v 0 0 0')
    assert list(library_digests(str(tmp_path))) == ['mug/visual.obj']
    assert library_digests('') == {}


def test_objects_next_to_those_of_scenes_are_noticed_too(tmp_path):
    for name in ('mug', 'can'):
        (tmp_path / name).mkdir()
        (tmp_path / name / 'visual.obj').write_text('v 0 0 0')
    thing = SimpleNamespace(shape=SimpleNamespace(mesh=str(tmp_path / 'mug')))
    scenes = [SimpleNamespace(objects=[thing, SimpleNamespace(shape=None)])]
    assert list(mesh_digests(scenes)) == ['mug/visual.obj']
    assert sorted(libraries_digests(scenes)) == ['can/visual.obj', 'mug/visual.obj']
    assert libraries_digests([]) == {}
