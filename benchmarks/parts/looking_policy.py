# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A pick-and-place policy that finds the cube in a camera's image, by small networks trained here.

It looks once, at the start of an episode, with the arm at home, and then moves as the scripted
policy does to where it saw the cube. Where the bin is it is told.

    python benchmarks/parts/looking_policy.py FOLDER     # trains, some minutes of one core
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file

from frame_ros.core.options import option, options
from frame_ros.policies.protocol import Inference, Observation
from frame_ros.policies.scripted.pick_place import ScriptedOptions, ScriptedPickPlace
from frame_ros.scenes import PickPlaceSimulation

Array = NDArray[np.float64]
CAMERA, SIZE, HALVED = 'front', (320, 240), 2
# Of the halved image: rows and columns that show where objects lie.
ROWS, COLUMNS, STRIDE = (52, 120), (16, 152), 2
MEMBERS, IMAGES, STEPS, BATCH, FIRST_SEED = 4, 1200, 600, 16, 800_000
SPREAD, WINDOW = 1.0, 2  # cells: of the target about the cube, and read about the peak
FILE = 'members.safetensors'


class CubeFinder(torch.nn.Module):
    """Images (B, 3, rows, columns) of 0 to 1 -> (B, cells) logits of where the cube's centre is,
    and (B, 2 x 24) features.
    """

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.Sequential(
            torch.nn.Conv2d(3, 16, 5, STRIDE, 2), torch.nn.ReLU(),
            torch.nn.Conv2d(16, 24, 3, 1, 1), torch.nn.ReLU(),
            torch.nn.Conv2d(24, 24, 3, 1, 2, 2), torch.nn.ReLU(),
        )  # fmt: skip
        self.last = torch.nn.Conv2d(24, 1, 1)

    def forward(self, images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The logits and the features."""
        inner = self.layers(images - 0.5)
        pooled = torch.cat([inner.mean(dim=(2, 3)), inner.amax(dim=(2, 3))], dim=1)
        return self.last(inner).flatten(1), pooled


def cropped(image: NDArray[np.uint8]) -> torch.Tensor:
    """(3, rows, columns) of an image (240, 320, 3), averaged over 2 x 2 pixels."""
    height, width = (n // HALVED for n in image.shape[:2])
    halved = image.reshape(height, HALVED, width, HALVED, 3).mean(axis=(1, 3)) / 255.0
    part = halved[slice(*ROWS), slice(*COLUMNS)]
    return torch.tensor(part, dtype=torch.float32).permute(2, 0, 1)


class Geometry:
    """The camera as it stood when the networks were trained: cells of the grid <-> the table."""

    def __init__(self, simulation: PickPlaceSimulation) -> None:
        self._lens = simulation.intrinsics(CAMERA, *SIZE)
        self._eye, self._rotation = simulation.camera_pose(CAMERA)
        self.height = simulation.robot.table.cube_size / 2
        self.shape = tuple((stop - start) // STRIDE for start, stop in (ROWS, COLUMNS))

    def cell(self, position: Array) -> Array:
        """(2,) row and column, not whole, of a point (3,) m in the base frame."""
        ray = self._rotation.T @ (position - self._eye)
        pixel = self._lens.focal * ray[:2] / ray[2] + (self._lens.cx, self._lens.cy)
        halved = (pixel[::-1] + 0.5) / HALVED - 0.5
        return (halved - (ROWS[0], COLUMNS[0])) / STRIDE

    def place(self, cell: Array) -> Array:
        """(2,) m, x and y of a cube on the table that is seen at a cell."""
        halved = cell * STRIDE + (ROWS[0], COLUMNS[0])
        pixel = ((halved + 0.5) * HALVED - 0.5)[::-1]
        ray = np.append((pixel - (self._lens.cx, self._lens.cy)) / self._lens.focal, 1.0)
        along = self._rotation @ ray
        return (self._eye + along * (self.height - self._eye[2]) / along[2])[:2]


def peak(logits: torch.Tensor, shape: Sequence[int]) -> Array:
    """(2,) row and column of the maximum of logits (cells,), between cells by its neighbours."""
    grid = torch.softmax(logits, 0).reshape(*shape).double().numpy()
    row, column = np.unravel_index(int(grid.argmax()), grid.shape)
    rows = np.arange(max(row - WINDOW, 0), min(row + WINDOW + 1, shape[0]))
    columns = np.arange(max(column - WINDOW, 0), min(column + WINDOW + 1, shape[1]))
    part = grid[np.ix_(rows, columns)] / grid[np.ix_(rows, columns)].sum()
    return np.array((part.sum(axis=1) @ rows, part.sum(axis=0) @ columns))


def train(folder: Path, images: int = IMAGES, steps: int = STEPS) -> None:
    """Trains the members on scenes of seeds that no trial has, and saves them."""
    simulation = PickPlaceSimulation()
    geometry = Geometry(simulation)
    seen, cells = [], []
    for seed in range(FIRST_SEED, FIRST_SEED + images):
        simulation.reset(seed)
        seen.append(cropped(simulation.render(CAMERA, *SIZE).rgb))
        cells.append(geometry.cell(simulation.object_pose()[:3]))
    simulation.close()
    targets = _targets(np.array(cells), geometry.shape)
    weights = {}
    for member in range(MEMBERS):
        network = _trained(torch.stack(seen), targets, steps, member)
        weights.update({f'{member}.{n}': v for n, v in network.state_dict().items()})
    folder.mkdir(parents=True, exist_ok=True)
    save_file(weights, str(folder / FILE))


def _targets(cells: Array, shape: Sequence[int]) -> torch.Tensor:
    """(N, cells) probabilities, a normal distribution about each (2,) cell."""
    rows, columns = np.indices(shape)
    squares = (rows - cells[:, :1, None]) ** 2 + (columns - cells[:, 1:, None]) ** 2
    exponents = torch.tensor(-0.5 * squares / SPREAD**2, dtype=torch.float32).flatten(1)
    return torch.softmax(exponents, dim=1)


def _trained(images: torch.Tensor, targets: torch.Tensor, steps: int, seed: int) -> CubeFinder:
    """A member: its own start, and its own draw of the images with replacement."""
    generator = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    own = torch.randint(len(images), (len(images),), generator=generator)
    network = CubeFinder()
    optimiser = torch.optim.Adam(network.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)
    for step in range(steps):
        batch = own[torch.randint(len(own), (BATCH,), generator=generator)]
        logits, _ = network(images[batch])
        loss = torch.nn.functional.cross_entropy(logits, targets[batch])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
        if step % 100 == 0 or step == steps - 1:
            print(f'member {seed}, step {step}: loss {loss.item():.3f}', flush=True)
    return network


@options
class LookingOptions(ScriptedOptions):
    """Options of the policy."""

    folder: str = option('', 'of the trained members')


class LookingPickPlace(ScriptedPickPlace):
    """The scripted motion to where the members see the cube on average; each makes a sample."""

    Options = LookingOptions
    name = 'looking'
    feature_source = 'pooled layers of the first member'

    def __init__(self, options: LookingOptions | None = None) -> None:
        options = options or LookingOptions()
        weights = load_file(str(Path(options.folder) / FILE))
        self._members = []
        for member in range(MEMBERS):
            network = CubeFinder().eval()
            prefix = f'{member}.'
            own = {n.removeprefix(prefix): v for n, v in weights.items() if n.startswith(prefix)}
            network.load_state_dict(own)
            self._members.append(network)
        self._geometry = Geometry(PickPlaceSimulation())
        super().__init__(options)

    @property
    def cameras(self) -> tuple[str, ...]:  # type: ignore[override]
        """The camera until it has looked."""
        return () if self._seen else (CAMERA,)

    def reset(self, seed: int | None = None) -> None:
        """As of the scripted policy; looks again."""
        self._seen: list[Array] = []
        super().reset(seed)

    def infer(self, observation: Observation) -> Inference:
        """As of the scripted policy, with the cube where it was seen."""
        if not self._seen:
            self._look(observation.images[CAMERA])
        mean = np.mean(self._seen, axis=0)
        poses = {**observation.poses, 'object': self._pose_at(mean)}
        self._goal = poses['goal']
        found = super().infer(replace(observation, poses=poses))
        return replace(found, features=self._features)

    def _look(self, image: NDArray[np.uint8]) -> None:
        with torch.inference_mode():
            results = [member(cropped(image)[None]) for member in self._members]
        shape = self._geometry.shape
        self._seen = [self._geometry.place(peak(logits[0], shape)) for logits, _ in results]
        self._features = results[0][1][0].double().numpy()

    def _pose_at(self, place: Array) -> Array:
        """A cube there, but within reach, that lies so that the wrist need not turn."""
        distance = float(np.hypot(*place))
        near = place * np.clip(distance, *self._arm.reach) / max(distance, 1e-9)
        height = self._geometry.height
        yaw = self._arm.azimuth(np.append(near, height)) + self._arm.unrolled
        return np.array((*near, height, 0.0, 0.0, np.sin(yaw / 2), np.cos(yaw / 2)))

    def _start(self, stamp: int, make: Callable[[np.random.Generator], Any]) -> None:
        """Also begins one plan to each member's place, in place of other draws of the flaws."""
        super()._start(stamp, make)
        assert self._plan is not None
        start = self._plan.rows[0][0]
        self._others = [
            self._plan_pick(self._sample_rng, start, self._pose_at(place), self._goal)
            for place in self._seen
        ]

    def _samples(self, chunk: Array) -> Array:
        return np.stack([self._chunk_of(plan) for plan in self._others])

    def _react(self, stamp: int, target: Array, goal: Array) -> None:
        """It does not look again, so it sees nothing to react to."""


if __name__ == '__main__':
    torch.set_num_threads(1)
    train(Path(sys.argv[1]))
