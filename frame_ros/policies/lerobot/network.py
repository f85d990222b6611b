# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""A checkpoint's network, with every weight in its place or an error."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Sequence
from typing import Any

from frame_ros.core.errors import CheckpointError
from frame_ros.policies.checkpoint import CheckpointFolder
from frame_ros.policies.lerobot.families.family import Family

# What LeRobot prints, and no more, where the weights of some families do not fit.
NOT_LOADED = 'Could not load state dict'

LOCAL_FOLDERS = (
    'Nothing is downloaded: copy configuration, tokenizer and processor of {base} (not its '
    'weights, they are in the checkpoint) into a local folder and name it by vlm_folder, '
    'base_model_folder or tokenizer_folder; docs/policies.md says which'
)


def load_network(
    checkpoint: CheckpointFolder, config: Any, family: type[Family]
) -> tuple[Any, list[str]]:
    """LeRobot's policy with all its weights, and notes on weights that it does not use.

    Raises:
        CheckpointError: the network cannot be built, or weights are missing or do not fit.
        ImportError: LeRobot lacks a package for it.
    """
    from lerobot.policies.factory import get_policy_class

    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            model = get_policy_class(checkpoint.policy_type).from_pretrained(
                checkpoint.path, config=config
            )
    except Exception as error:  # torch, safetensors, transformers and LeRobot raise their own
        raise describe_failure(error, checkpoint, config, 'weights') from error
    if NOT_LOADED in printed.getvalue():
        reason = printed.getvalue().partition(NOT_LOADED)[2].lstrip(': ')
        raise CheckpointError(
            f'the weights of {checkpoint.path} do not fit its config.json: {reason.strip()}'
        )
    return model, _compare_weights(checkpoint, model, family)


def describe_failure(
    error: Exception, checkpoint: CheckpointFolder, config: Any, what: str
) -> Exception:
    """The error to raise for one of LeRobot's: ImportError where a package is missing,
    CheckpointError for all else. what: was being loaded, 'weights' or 'processors'.
    """
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ImportError):
            return ImportError(str(cause))
        # So does transformers say that it did not find a model's configuration or tokenizer.
        if type(cause) is OSError and cause.errno is None:
            base = getattr(config, 'vlm_model_name', '') or getattr(config, 'base_model_path', '')
            return CheckpointError(
                f'{checkpoint.path} cannot be loaded: {cause}\n'
                + LOCAL_FOLDERS.format(base=base or 'the model that it is built on')
            )
        cause = cause.__cause__
    return CheckpointError(
        f'the {what} of {checkpoint.path} cannot be loaded, or do not fit its config.json: {error}'
    )


def _compare_weights(checkpoint: CheckpointFolder, model: Any, family: type[Family]) -> list[str]:
    """LeRobot loads what it finds; what is missing would stay random."""
    stored = family.weight_names(checkpoint.weight_names)
    expected = dict(model.state_dict())
    # Of two names for one tensor the file holds one.
    loaded = {tensor.data_ptr() for name, tensor in expected.items() if name in stored}
    missing = sorted(
        name
        for name, tensor in expected.items()
        if name not in stored and not (tensor.numel() and tensor.data_ptr() in loaded)
    )
    if missing:
        raise CheckpointError(
            f'{checkpoint.path} lacks {len(missing)} of {len(expected)} weights, which would stay '
            f'random: {_some(missing)}'
        )
    unexpected = sorted(stored - set(expected))
    if not unexpected:
        return []
    return [
        f'{len(unexpected)} weights are not used by this version of LeRobot: {_some(unexpected)}'
    ]


def _some(names: Sequence[str], count: int = 5) -> str:
    return ', '.join(names[:count]) + (
        f', ... ({len(names) - count} more)' if len(names) > count else ''
    )
