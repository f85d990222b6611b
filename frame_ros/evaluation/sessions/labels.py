# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The policies of a session's trials, once its labels are open."""

from __future__ import annotations

from collections.abc import Mapping

from frame_ros.core.errors import SetupError
from frame_ros.evaluation.sessions.folder import SessionFolder
from frame_ros.evaluation.sessions.journal import trials_of
from frame_ros.evaluation.sessions.running import was_opened
from frame_ros.evaluation.sessions.schedule import Schedule


def labelled_attributes(
    attributes: Mapping[str, str], labels: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Returns the attributes of an episode with those of its trial, which it names as its policy;
    others as they are.
    """
    return {**attributes, **labels.get(attributes.get('policy', ''), {})}


def open_labels_of(folder: SessionFolder) -> dict[str, dict[str, str]]:
    """Returns id of a trial that began -> attributes of its episode: the policy, the trial, and how
    it was marked.

    Raises:
        SetupError: the labels are closed, or the key does not fit its commitment.
    """
    events = folder.journal.events()
    if not was_opened(events):
        raise SetupError(
            f'the labels of {folder.path} are closed; frame-ros session open {folder.path} opens '
            'them'
        )
    begun = Schedule.after(folder.key(), events).begun
    return {
        id: {'policy': begun[id].what.policy, 'trial': id, 'mark': trial.outcome}
        for id, trial in trials_of(events).items()
    }
