# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A checkpoint by LeRobot's own calls, as its evaluation and recording make them."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from frame_ros.core.lerobot_import import import_lerobot, offline
from frame_ros.policies.environment_state import environment_state
from frame_ros.policies.protocol import Observation

# How far the outputs of one network may be apart, computed in batches of different sizes: the order
# of the float32 sums (1e3 terms of order 1, each rounded by 6e-8) depends on batch and processor.
ORDER_OF_SUMS = 2e-5


def assert_same_outputs(actual: np.ndarray, expected: np.ndarray) -> None:
    """Holds outputs of one network for the same input equal, on any processor."""
    np.testing.assert_allclose(actual, expected, rtol=ORDER_OF_SUMS, atol=ORDER_OF_SUMS)


class DirectLeRobot:
    """Model and processors; cameras keep their names, joints are in rad, object and goal make the
    environment state if the observation has them.
    """

    def __init__(self, folder: str | Path) -> None:
        import_lerobot()
        import draccus
        from lerobot.configs.policies import PreTrainedConfig
        from lerobot.policies.factory import get_policy_class, make_pre_post_processors

        with offline(), contextlib.redirect_stdout(io.StringIO()):
            # As PreTrainedConfig.from_pretrained, without its parser of command lines.
            self.config = draccus.decode(
                PreTrainedConfig, json.loads((Path(folder) / 'config.json').read_text())
            )
            self.model = get_policy_class(self.config.type).from_pretrained(
                folder, config=self.config
            )
            self.preprocess, self.postprocess = make_pre_post_processors(
                policy_cfg=self.config, pretrained_path=str(folder)
            )

    def batch(self, observation: Observation) -> dict[str, Any]:
        """Prepared and preprocessed."""
        import torch
        from lerobot.policies.utils import prepare_observation_for_inference

        inputs = {
            f'observation.images.{name}': image.copy() for name, image in observation.images.items()
        }
        inputs['observation.state'] = observation.joint_positions.astype(np.float32)
        if observation.poses:
            inputs['observation.environment_state'] = environment_state(observation)
        prepared = prepare_observation_for_inference(
            inputs, torch.device('cpu'), task=observation.instruction
        )
        return self.preprocess(prepared)

    def select_action(self, observation: Observation) -> np.ndarray:
        """(D,), the action of this step; LeRobot keeps its own queue."""
        import torch

        with torch.inference_mode():
            return self.finish(self.model.select_action(self.batch(observation)))[0]

    def finish(self, actions: Any) -> np.ndarray:
        """Postprocessed."""
        return self.postprocess(actions).detach().numpy()
