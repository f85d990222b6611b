# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Bags of trials, in the campaign's folder."""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import attrs

from frame_ros.bags.recording_lock import RecordingLock
from frame_ros.core.errors import FrameRosError, SetupError
from frame_ros.core.options import option, options
from frame_ros.evaluation.scene_trials.policy_options import TrialPolicyOptions
from frame_ros.evaluation.scene_trials.result import TrialResult
from frame_ros.scenes.description.scene import Scene
from frame_ros.scenes.recording.details import EpisodeDetails
from frame_ros.scenes.recording.pictures import IMAGES
from frame_ros.scenes.scene_rollout import ENDING_RULE, SceneEpisode
from frame_ros.scenes.tasks.rules import OWN_RULE

EPISODES = 'episodes'
RECORD = ('none', 'failed', 'all')
_LONGEST = 60  # characters of a part of a bag's name


@options
class RecordOptions:
    """Bags of trials."""

    record: str = option(
        'none', "trials that are written as bags too, into the campaign's episodes", choices=RECORD
    )
    camera_images: str = option(
        'raw',
        'pictures in these bags, of those that the policy got: raw, which compresses well as they '
        'are drawn; jpeg, as <topic>/compressed; none',
        choices=IMAGES,
    )


@attrs.frozen(kw_only=True)
class TrialRecording:
    """Writes bags of trials.

    Attributes:
        folder: of the campaign.
        options: which trials, and how.
        facts: of every bag.
    """

    folder: Path
    options: RecordOptions
    facts: Mapping[str, str]

    @classmethod
    def of(
        cls, folder: Path, chosen: RecordOptions | None, policy: TrialPolicyOptions
    ) -> TrialRecording | None:
        """Returns that of a campaign; None if none of its trials is recorded."""
        if chosen is None or chosen.record == 'none':
            return None
        facts = {'policy': policy.label} if policy.label else {}
        if 'quality' in policy.policy_options:  # by which reports distinguish scripted ones
            facts['quality'] = str(policy.policy_options['quality'])
        return cls(folder=folder, options=chosen, facts=facts)

    @contextmanager
    def marked(self) -> Iterator[None]:
        """Marks the folder of the bags as one that is recorded into, for `frame-ros clean`.

        Raises:
            SetupError: it cannot be made.
        """
        mark = RecordingLock()
        try:
            mark.hold(self.folder / EPISODES)
        except OSError as error:
            raise SetupError(f'{self.folder / EPISODES} cannot be made: {error}') from error
        try:
            yield
        finally:
            mark.release()

    def wants(self, result: TrialResult) -> bool:
        """Returns whether a trial is one of those that have a bag; one that does not count is not.
        A trial has failed by the rule by which it would have ended.
        """
        rule = OWN_RULE if OWN_RULE in result.steps else ENDING_RULE
        is_chosen = self.options.record == 'all' or not result.is_success(rule)
        return result.is_valid and is_chosen

    def details(self) -> EpisodeDetails:
        """Returns what collects the details of the next trial."""
        return EpisodeDetails(self.options.camera_images)

    def write(
        self, result: TrialResult, scene: Scene, found: SceneEpisode, details: EpisodeDetails
    ) -> TrialResult:
        """Writes the bag of a trial, if it is one of those that are recorded.

        Returns:
            The result, with its episode; without, and with a warning in the log, if the bag could
            not be written.
        """
        from frame_ros.scenes.recording.bag import write_episode_bag

        episode = found.episode
        if episode is None or not self.wants(result):
            return result
        name = f'{EPISODES}/{bag_name(result)}'
        facts = {
            **self.facts, 'task': scene.task.kind, 'object': scene.target.type,
            'repeat': str(result.repeat), 'mutation': result.mutation, 'base': result.base,
            'note': result.note,
        }  # fmt: skip
        try:
            write_episode_bag(self.folder / name, episode, details, facts)
        except FrameRosError as error:
            logging.getLogger(__name__).warning('%s: no bag: %s', result.scene, error)
            return result
        return attrs.evolve(result, episode=name)


def bag_name(result: TrialResult) -> str:
    """Returns the name of a trial's bag, another one for each key of a result."""
    parts = (result.scene, result.policy, str(result.repeat))
    safe = [re.sub(r'[^A-Za-z0-9.-]+', '_', part).strip('._')[:_LONGEST] for part in parts]
    digest = hashlib.sha256('\0'.join(map(str, result.key)).encode()).hexdigest()
    return '_'.join([*filter(None, safe), digest[:8]])
