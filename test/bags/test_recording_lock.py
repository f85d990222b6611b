# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The mark in a folder that is recorded into, of several recorders."""

import fcntl

from frame_ros.bags import recording_lock
from frame_ros.bags.recording_lock import RecordingLock, is_being_recorded


def test_a_mark_that_another_recorder_removes_meanwhile_is_made_again(tmp_path, monkeypatch):
    first, second = RecordingLock(), RecordingLock()
    first.hold(tmp_path)
    lock = fcntl.flock

    def lock_after_the_other_has_ended(file, kind):
        monkeypatch.undo()
        first.release()
        lock(file, kind)

    monkeypatch.setattr(recording_lock.fcntl, 'flock', lock_after_the_other_has_ended)
    second.hold(tmp_path)
    assert is_being_recorded(tmp_path)
    second.release()
    assert not is_being_recorded(tmp_path)
