# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The meaning of a model's tokens: a declaration, as data.

A map states how the tokens that a model emits become actions in the range that it was trained on,
and which step of the chunk and which action dimension each belongs to. Values left open (None) are
read from the checkpoint.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import UnionType
from typing import Any, ClassVar, Union, get_args, get_origin, get_type_hints

from frame_ros.core.errors import PolicyError
from frame_ros.core.input_files import load_json, read_text

VALUES = ('centres', 'points')
ITEMS = ('vocabulary', 'number')
# Limit of the generated text of a chunk, unless a map gives one.
MOST_TOKENS = 512


@dataclass(frozen=True)
class Bins:
    """Equal bins of [-1, 1], each a token of the vocabulary.

    Attributes:
        bins: how many tokens.
        zero_token: id of the token of the lowest bin; None: the last token of the vocabulary.
        direction: +1 or -1, from there to the id of the next higher bin.
        values: 'centres': the bins are between `bins` equal edges, so that there is one centre
            fewer than tokens and the last token shares the highest; 'points': the bins are `bins`
            equal points.
    """

    bins: int = 256
    zero_token: int | None = None
    direction: int = -1
    values: str = 'centres'

    def __post_init__(self) -> None:
        _at_least('bins', self.bins, 2 if self.values == 'points' else 3)
        _one_of('direction', self.direction, (1, -1))
        _one_of('values', self.values, VALUES)


@dataclass(frozen=True)
class BinTokens(Bins):
    """A fixed number of tokens per action dimension, dimension by dimension, step by step.

    Attributes:
        horizon: H, steps.
        dimensions: D.
        tokens_per_dimension: n; several are the digits of one number to the base of `bins`, the
            most significant first, over bins^n equal bins.
    """

    kind: ClassVar[str] = 'bins'
    horizon: int = 1
    dimensions: int = 7
    tokens_per_dimension: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least('horizon', self.horizon, 1)
        _at_least('dimensions', self.dimensions, 1)
        _at_least('tokens_per_dimension', self.tokens_per_dimension, 1)
        if self.tokens_per_dimension > 1 and self.values != 'points':
            raise PolicyError("several tokens per dimension need values 'points' in the token map")


@dataclass(frozen=True)
class ListTokens(Bins):
    """Lists in the generated text, one a step: [item, item, ...], with any tokens an item.

    Attributes:
        items: 'vocabulary': each item is the name of a token in the vocabulary, whose bin counts,
            and lists of numbers alone are passed over; 'number': each item is the value itself.
        most_tokens: of the whole text.
    """

    kind: ClassVar[str] = 'list'
    horizon: int = 1
    dimensions: int = 7
    items: str = 'vocabulary'
    most_tokens: int = MOST_TOKENS

    def __post_init__(self) -> None:
        super().__post_init__()
        _at_least('horizon', self.horizon, 1)
        _at_least('dimensions', self.dimensions, 1)
        _at_least('most_tokens', self.most_tokens, 1)
        _one_of('items', self.items, ITEMS)


@dataclass(frozen=True)
class SpatialTokens:
    """Three tokens a step: a cell of a grid of translations, one of rotations, and the gripper.

    Attributes:
        horizon: H; None: the checkpoint's `action_chunk_size`.
        first_token: id of the first cell of the translations, which those of the rotations and the
            gripper's two follow; None: that of '<ACTION00000>'.
        edges: theta, phi, r, roll, pitch, yaw -> edges of the cells; None: the checkpoint's
            `bin_policy`.
        is_spherical: translations are polar angle, azimuth and length; None: as the checkpoint
            says.
        names_first: the dimension of a token that covers three is the first of them; otherwise it
            has none, -1.
    """

    kind: ClassVar[str] = 'spatial'
    dimensions: ClassVar[int] = 7
    horizon: int | None = None
    first_token: int | None = None
    edges: Mapping[str, Any] | None = None
    is_spherical: bool | None = None
    names_first: bool = False

    def __post_init__(self) -> None:
        if self.horizon is not None:
            _at_least('horizon', self.horizon, 1)


@dataclass(frozen=True)
class FastTokens:
    """FAST: the discrete cosine transform of the chunk, rounded, in tokens of a byte-pair encoding.

    No token belongs to a step or a dimension.

    Attributes:
        first_token, last_token: ids of the range in the model's vocabulary.
        direction: +1: `first_token` is token 0 of FAST's own vocabulary; -1: `last_token` is.
        folder: of FAST's tokenizer.json and processor_config.json; None: `fast` below the
            checkpoint.
        horizon, dimensions: H, D; None: as that folder says.
        is_relaxed: too few or too many coefficients are filled up with 0 or cut, instead of
            refused.

    Source: Pertsch et al., FAST: Efficient Action Tokenization for Vision-Language-Action Models.
    """

    kind: ClassVar[str] = 'fast'
    first_token: int = 0
    last_token: int = 0
    direction: int = 1
    folder: str | None = None
    horizon: int | None = None
    dimensions: int | None = None
    is_relaxed: bool = False
    most_tokens: int = MOST_TOKENS

    def __post_init__(self) -> None:
        for name in ('horizon', 'dimensions'):
            if getattr(self, name) is not None:
                _at_least(name, getattr(self, name), 1)
        _one_of('direction', self.direction, (1, -1))
        _at_least('most_tokens', self.most_tokens, 1)
        if not 0 <= self.first_token < self.last_token:
            raise PolicyError(
                f'the token map has first_token {self.first_token} and last_token '
                f'{self.last_token}; the first must be below the last'
            )


@dataclass(frozen=True)
class LatentTokens:
    """A fixed number of codes for a separate network; none belongs to a step or dimension."""

    kind: ClassVar[str] = 'latent'
    count: int = 4  # TN
    first_token: int = 0  # id of code 0
    codes: int = 16  # how many there are

    def __post_init__(self) -> None:
        _at_least('count', self.count, 1)
        _at_least('codes', self.codes, 2)
        _at_least('first_token', self.first_token, 0)


TokenMap = BinTokens | ListTokens | SpatialTokens | FastTokens | LatentTokens
KINDS: dict[str, type] = {
    each.kind: each for each in (BinTokens, ListTokens, SpatialTokens, FastTokens, LatentTokens)
}


def token_map(declared: Mapping[str, Any] | str | Path | TokenMap) -> TokenMap:
    """Makes a map from its declaration: a mapping with `kind`, one of KINDS, and that kind's
    fields.

    It may also be the path of a JSON file with such an object.

    Raises:
        PolicyError: the file cannot be read, the kind or a field is unknown, or a field has an
            impossible value.
    """
    if isinstance(declared, (BinTokens, ListTokens, SpatialTokens, FastTokens, LatentTokens)):
        return declared
    if isinstance(declared, (str, Path)):
        declared = _read(Path(declared).expanduser())
    if not isinstance(declared, Mapping):
        raise PolicyError(
            f'a token map is {type(declared).__name__}; an object with `kind` and its fields, or '
            'the path of a JSON file with one, is expected'
        )
    given = {str(key): value for key, value in declared.items()}
    kind = KINDS.get(str(given.pop('kind', '')))
    if kind is None:
        raise PolicyError(
            f'the token map is of kind {declared.get("kind")!r}; known: {", ".join(KINDS)}'
        )
    known = {field.name for field in fields(kind)}
    if unknown := sorted(set(given) - known):
        raise PolicyError(
            f'a token map of kind {kind.kind!r} has no {", ".join(unknown)}; it has '  # type: ignore[attr-defined]
            f'{", ".join(sorted(known))}'
        )
    hints = get_type_hints(kind)
    for name, value in given.items():
        _check_type(name, value, hints[name])
    made: TokenMap = kind(**given)
    return made


def _read(path: Path) -> Any:
    try:
        return load_json(read_text(path))
    except (OSError, ValueError) as error:
        raise PolicyError(f'the token map {path} is not readable as JSON: {error}') from error


def _check_type(name: str, value: Any, hint: Any) -> None:
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    plain = tuple(get_origin(kind) or kind for kind in kinds)
    if not isinstance(value, plain) or (isinstance(value, bool) and bool not in plain):
        names = ' or '.join('null' if kind is type(None) else kind.__name__ for kind in plain)
        raise PolicyError(f'{name} of the token map is {value!r}; {names} is expected')


def _at_least(name: str, value: int, least: int) -> None:
    if value < least:
        raise PolicyError(f'{name} of the token map is {value}; {least} or more is expected')


def _one_of(name: str, value: Any, known: tuple[Any, ...]) -> None:
    if value not in known:
        raise PolicyError(
            f'{name} of the token map is {value!r}; one of {", ".join(map(repr, known))} is '
            'expected'
        )
