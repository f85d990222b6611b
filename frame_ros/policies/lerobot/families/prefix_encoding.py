# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""Encoding of images, instruction and state by a vision-language model, read while it acts."""

from __future__ import annotations

import functools
from typing import Any


class PrefixEncoding:
    """Reads the encoding of the observation off a network of LeRobot that integrates a flow.

    features: (E,) tensor, the mean over the tokens of images, instruction and state of the
    vision-language model's last layer, without padding; None: nothing was encoded.
    """

    def __init__(self, network: Any, encoder: Any) -> None:
        """network: LeRobot's, which embeds the prefix. encoder: its vision-language model."""
        self.features: Any = None
        self._is_token: Any = None
        network.embed_prefix = functools.partial(self._embed, network.embed_prefix)
        encoder.forward = functools.partial(self._encode, encoder.forward)

    def _embed(self, embed: Any, *arguments: Any, **options: Any) -> Any:
        embedded = embed(*arguments, **options)
        self._is_token, self.features = embedded[1], None
        return embedded

    def _encode(self, forward: Any, *arguments: Any, **options: Any) -> Any:
        encoded = forward(*arguments, **options)
        inputs = options.get('inputs_embeds')
        # Prefix and actions; a step of the flow brings actions alone.
        if inputs is not None and inputs[0] is not None and inputs[1] is None:
            hidden, is_token = encoded[0][0][0].float(), self._is_token[0]
            if len(hidden) == len(is_token):
                self.features = is_token.float() @ hidden / is_token.sum()
        return encoded
