# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The verdict of a comparison of two policies, in words and as an exit status for scripts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from frame_ros.core.errors import ValueRangeError
from frame_ros.core.meanings import MeaningEnum
from frame_ros.core.plain_text import counted

LEVEL = 0.05


class Verdict(MeaningEnum):
    """Outcomes of a comparison of the first policy with the second."""

    BETTER = 'better', 'the first is better'
    WORSE = 'worse', 'the first is worse'
    CROSSING = 'crossing', 'they differ, but which is better depends on the figure'
    INDISTINGUISHABLE = (
        'indistinguishable',
        'no difference was found, though there were enough episodes for one that matters',
    )
    UNDERPOWERED = 'underpowered', 'too few episodes to find a difference that matters'
    NOT_COMPARABLE = 'not_comparable', 'the episodes differ in more than the policy'

    @property
    def exit_status(self) -> int:
        """Exit status of a command that was asked for the verdict of one pair. None is 0: a script
        that forgot to ask for a pair does not read a verdict; 1 and 2 are errors.
        """
        return EXIT_STATUSES[self]

    @property
    def reversed(self) -> Verdict:
        """The verdict on the second policy compared with the first."""
        swapped = {Verdict.BETTER: Verdict.WORSE, Verdict.WORSE: Verdict.BETTER}
        return swapped.get(self, self)


EXIT_STATUSES = {verdict: 10 + place for place, verdict in enumerate(Verdict)}


@dataclass(frozen=True)
class Judgement:
    """A verdict with its reasons.

    Attributes:
        reason: the numbers that it rests on, or the facts that differ, in words.
        needed: number of pairs or episodes that an underpowered comparison needs, in the unit that
            the reason names; None if it is not known, or for another verdict.
        detectable: smallest difference that the pairs or episodes at hand would find, where none
            was found; None if it is not known, or none is.
    """

    verdict: Verdict
    reason: str
    needed: int | None = None
    detectable: float | None = None

    def words(self, first: str, second: str) -> str:
        """Returns the verdict on two policies without its reason."""
        return {
            Verdict.BETTER: f'{first} is better than {second}',
            Verdict.WORSE: f'{first} is worse than {second}',
            Verdict.CROSSING: f'{first} and {second} differ, and cross',
            Verdict.INDISTINGUISHABLE: f'{first} and {second} cannot be distinguished',
            Verdict.UNDERPOWERED: (
                f'Too few episodes to say if {first} is better or worse than {second}'
            ),
            Verdict.NOT_COMPARABLE: f'{first} and {second} are not comparable',
        }[self.verdict]

    def text(self, first: str, second: str) -> str:
        """Returns the verdict on two policies as a sentence."""
        return f'{self.words(first, second)}: {self.reason}'


@dataclass(frozen=True)
class Sensitivity:
    """Differences, as shares, that a test can find.

    Attributes:
        detectable: the smallest that the episodes at hand find with the power; None: not even the
            largest.
        margin: the smallest that matters.
    """

    detectable: float | None
    margin: float
    power: float

    @property
    def text(self) -> str:
        """'find a difference of 72 points or more with power 80 %'."""
        if self.detectable is None:
            return f'find no difference with power {100 * self.power:.0f} %'
        return (
            f'find a difference of {_points(self.detectable)} or more with power '
            f'{100 * self.power:.0f} %'
        )

    @property
    def aim(self) -> str:
        """'one of 10 points'."""
        return f'one of {_points(self.margin)}'


def sensitivity_of(
    needed: Callable[[float], float | None], have: int, margin: float, power: float
) -> Sensitivity:
    """Returns what `have` pairs or episodes find, to a point.

    needed: difference -> the number that finds it; it falls about with the square of the
        difference. None: no number does.
    """
    percent = max(1, min(99, round(100 * margin)))
    while percent < 100 and not (number := needed(percent / 100) or math.inf) <= have:
        if have <= 0:
            guess = 100
        elif math.isinf(number):  # it says nothing of how much more is enough
            guess = 0
        else:
            guess = math.ceil(0.97 * percent * math.sqrt(number / have))
        percent = max(percent + 1, min(guess, 99) if percent < 99 else 100)
    while 1 < percent < 100 and (needed((percent - 1) / 100) or math.inf) <= have:
        percent -= 1
    return Sensitivity(None if percent == 100 else percent / 100, margin, power)


def _points(share: float) -> str:
    number = f'{100 * share:.3g}'
    return f'{number} point' if number == '1' else f'{number} points'


def judge(
    p: float,
    differences: Sequence[float],
    *,
    have: int,
    needed: float | None,
    differing_facts: Sequence[str] = (),
    level: float = LEVEL,
    unit: str = 'pairs',
    counts: tuple[int, int] | None = None,
    sensitivity: Sensitivity | None = None,
) -> Judgement:
    """Returns the verdict of any test, by these rules, the first that holds:

    1. a fact other than the policy differs, or there are no episodes: not comparable;
    2. p is at most the level: better or worse if all differences have one sign (0 is of neither),
       else crossing, also if all are 0;
    3. fewer episodes than needed, or the number needed is not known: underpowered;
    4. else indistinguishable.

    The number needed is that for the smallest difference that matters, which is stated before the
    data are seen. The power for the difference observed follows from p and says nothing more.

    Args:
        p: two-sided, adjusted for the other comparisons that are made.
        differences: estimates of how much better the first is, positive: better; one, or several
            figures that must agree. NaN: not known, which counts as none.
        have: number of pairs, or of episodes of the policy that has fewer.
        needed: the number that finds the smallest difference that matters with the power wanted;
            infinite if no number does; None if not known.
        differing_facts: in words, such as 'object: 3 against 4'.
        level: of the test, in (0, 1).
        unit: of `have` and `needed`, in words.
        counts: of the first and the second, where `have` is the smaller one; in the reason where
            they differ, of a unit with 'of each policy'.
        sensitivity: of the test with the episodes at hand, for the reason.

    Raises:
        ValueRangeError: p is outside 0 to 1, or level is not within.
    """
    if not 0.0 < level < 1.0:
        raise ValueRangeError(f'level is {level}; a value between 0 and 1 is expected')
    facts = list(differing_facts)
    if have <= 0 and not facts:
        facts = [f'there are no {unit}']
    if facts:
        return Judgement(Verdict.NOT_COMPARABLE, '; '.join(facts))
    if not 0.0 <= p <= 1.0:
        raise ValueRangeError(f'p is {p}; a value from 0 to 1 is expected')
    at_hand = _of_unit(have, unit, counts)
    if p <= level:
        verdict = direction_of(differences)
        return Judgement(verdict, f'p = {p:.3g} with {at_hand}, at most {level:g}')
    each = ' of each' if counts is not None and counts[0] != counts[1] else ''
    return _undecided(f'p = {p:.3g} with {at_hand}', have, needed, sensitivity, each)


def _of_unit(have: int, unit: str, counts: tuple[int, int] | None) -> str:
    """'20 episodes of each policy', '2 episodes of the first and 1 of the second policy'."""
    noun, _, rest = unit.partition(' ')
    first, second = counts or (have, have)
    if first != second:
        rest = rest.replace('each policy', f'the first and {second:,} of the second policy', 1)
    return f'{counted(first, noun.removesuffix("s"))} {rest}'.rstrip()


def _undecided(
    found: str, have: int, needed: float | None, sensitivity: Sensitivity | None, each: str
) -> Judgement:
    """Returns the verdict where no difference was found. found: the test in words. each: what
    follows the number needed.
    """
    least, aim = None, ''
    if sensitivity:
        found += f', which {sensitivity.text}'
        least, aim = sensitivity.detectable, f' for {sensitivity.aim}'
    if needed is None:
        reason = f'{found}; the number needed is not known'
        return Judgement(Verdict.UNDERPOWERED, reason, None, least)
    if math.isinf(needed):
        return Judgement(Verdict.UNDERPOWERED, f'{found}; no number is enough{aim}', None, least)
    number = math.ceil(needed)
    if have < needed:
        reason = f'{found}; {number:,}{each} are needed{aim}'
        return Judgement(Verdict.UNDERPOWERED, reason, number, least)
    reason = f'{found}; {number:,}{each} are enough{aim}'
    return Judgement(Verdict.INDISTINGUISHABLE, reason, None, least)


def direction_of(differences: Sequence[float]) -> Verdict:
    """Returns better or worse if all differences have one sign, else crossing; 0 and NaN are of
    neither.
    """
    signs = {math.copysign(1.0, each) for each in differences if each and not math.isnan(each)}
    if len(signs) != 1:
        return Verdict.CROSSING
    return Verdict.BETTER if signs == {1.0} else Verdict.WORSE
