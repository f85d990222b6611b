# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The record of a metric: all that the package knows of it, declared with its formula.

Registry, exports, message fields, summaries, report rows, `frame-ros metrics`, the reference pages
and the torch classes are derived from these records.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from frame_ros.metrics.constants import WINDOW

OURS = 'frame_ros'

CATEGORIES = ('task', 'trajectory', 'safety', 'efficiency', 'uncertainty', 'confidence')

# How an episode's value follows from samples that each hold for one moment.
MEAN, SMALLEST, LARGEST = 'mean', 'smallest', 'largest'

# The samples that metrics difference, or integrate over time.
CONTROL_STEPS, DISTANCES, CONTACTS, INFERENCES = (
    'control steps', 'distances', 'contacts', 'inferences',
)  # fmt: skip

# What every difference of positions has in common.
RATE = (
    'It depends on how often the motion is sampled: compare only at one control rate, and state '
    'that rate. '
)


@dataclass(frozen=True)
class Reason:
    """A reason for which a metric is NaN.

    Attributes:
        text: as it is shown.
        lack: what an episode lacks when this is the reason, one of `Lack`; '' for the reason that
            is left when nothing is lacking.
    """

    text: str
    lack: str = ''


class Lack:
    """The things that an episode, or its last step, may lack."""

    STEP = 'step'
    SAMPLES = 'samples'
    POSE = 'pose'
    POSES = 'poses'
    REFERENCE = 'reference'
    CONTACT = 'contact'
    DISTANCE = 'distance'
    INFERENCE = 'inference'
    TOKENS = 'tokens'
    CHOSEN_TOKENS = 'chosen tokens'
    REPHRASINGS = 'rephrasings'
    SAMPLED_CHUNKS = 'sampled chunks'
    OVERLAP = 'overlapping chunk'
    ACTIONS = 'executed actions'
    FEATURES = 'features'
    CALIBRATION = 'calibration'
    TASK = 'task'
    TARGET = 'target'


NO_STEP = Reason('the episode has no control step (no joint_commands)', Lack.STEP)
NO_POSE = Reason('no end-effector pose at the last step', Lack.POSE)
NO_POSES = Reason('no end-effector pose in this episode', Lack.POSES)
TOO_FEW_STEPS = Reason('too few steps since the beginning or a gap', Lack.SAMPLES)
NO_PATH = Reason('the path has no length')
NO_REFERENCE = Reason('no reference trajectory is given', Lack.REFERENCE)
NO_CONTACT = Reason('no contact sensing at the last step', Lack.CONTACT)
NO_DISTANCE = Reason('no distance was measured', Lack.DISTANCE)
NO_INFERENCE = Reason('no inference in this episode', Lack.INFERENCE)
NO_TOKENS = Reason('no tokens: this policy yields no token probabilities', Lack.TOKENS)
NO_TRUTH = Reason('no ground-truth actions')
NO_SAMPLES = Reason('one chunk per inference, no samples', Lack.SAMPLED_CHUNKS)
NO_OVERLAP = Reason(
    'no chunk before it predicts a step of this one, or by how many steps it follows is not known',
    Lack.OVERLAP,
)
NO_CALIBRATION = Reason('no calibration file is loaded', Lack.CALIBRATION)
TOO_FEW_ACTIONS = Reason(
    f'fewer than {WINDOW} actions were executed since the beginning or a gap', Lack.ACTIONS
)

# What all metrics of a message need.
_NEEDED = {
    'quality': NO_STEP,
    'safety': NO_STEP,
    'efficiency': NO_STEP,
    'confidence': NO_INFERENCE,
}


@dataclass(frozen=True)
class Chart:
    """A panel of a report, shared by the metrics that name it."""

    title: str
    is_logarithmic: bool = False
    is_from_zero: bool = True


@dataclass(frozen=True)
class Line:
    """A metric's line in a chart: its label, and which form of the metric it shows."""

    chart: Chart
    label: str
    form: str = ''


class PoseSample(NamedTuple):
    """A pose of the TCP as live metrics take it.

    Attributes:
        stamp: ns.
        dt: s since the pose before; NaN at the first.
        position: x, y, z, m.
        orientation: quaternion x, y, z, w.
    """

    stamp: int
    dt: float
    position: tuple[float, ...]
    orientation: tuple[float, ...]


@dataclass(frozen=True)
class Live:
    """The way in which a metric's streaming class is made and fed, sample by sample.

    Attributes:
        stream: 'pose' (a PoseSample of each control step), 'action' (the D values of one),
            'contact' (stamp in ns, and the values of `SafetyState.update_contact`), 'proximity'
            (stamp in ns, m), 'inference' (those of `inference_values`).
        feed: hands one sample to the streaming object.
        make: makes that object from the options of the metric pipeline; None: the class does,
            without arguments.
    """

    stream: str
    feed: Callable[..., None]
    make: Callable[[Any], Any] | None = None


@dataclass(frozen=True)
class TorchForm:
    """The way from a batch form to a TorchMetrics class that is its mean over episodes.

    Attributes:
        arrays: arguments of `update`; the batch form takes them in this order.
        options: arguments of the constructor, those of the batch form, with its defaults.
        mask: name of the argument of `update` that says what is padding.
        first: steps without a value where the batch form gives one a step, of which an episode's
            value is the mean; None: it gives one an episode.
        minimum: least number of samples under the options, where it is not the metric's.
        unit: under the options, where it is not the metric's.
        plot_bounds: least and greatest value of a plot; None: open.
    """

    arrays: tuple[str, ...]
    options: tuple[str, ...] = ()
    mask: str = 'mask'
    first: int | None = None
    minimum: Callable[[Mapping[str, Any]], int] | None = None
    unit: Callable[[Mapping[str, Any]], str] | None = None
    plot_bounds: tuple[float | None, float | None] = (0.0, None)


@dataclass(frozen=True, kw_only=True)
class Metric:
    """One metric.

    Attributes:
        id: the papers' abbreviation in lower case, also its name on topics, in tables and in JSON.
        name: in words.
        unit: SI; '1' is dimensionless, 'action' the unit of the action.
        higher_is_better: None if neither is.
        minimum_samples: of its stream, before which it is NaN.
        source: paper and equation.
        category: one of CATEGORIES.
        reasons: why it is NaN; the first that applies to an episode is its reason.
        formula: plain text, one equation a line.
        shows: what a value says.
        misleads: when it says something else.
        variants: the named variants, and how they differ; '' if there is one form.
        batch: computes it from arrays; None: nothing does.
        streaming: class that computes it sample by sample; None: there is none.
        live: how the streaming class is fed from the streams of a robot; None: only by a state that
            computes several metrics together.
        fused: class of the engine that computes it together with others, in attributes that bear
            its field names; None: the metric pipeline feeds the streaming class itself.
        torch: name of its class in `frame_ros.metrics.torch`; '': there is none.
        torch_form: how that class follows from the batch form; None: it is written by hand.
        messages: kinds of metric message that carry it (quality, safety, efficiency, confidence).
        has_three_forms: whether its first message carries a window's mean, `_step` and `_mean` of
            it; others carry the window's mean.
        of_moments: MEAN, SMALLEST or LARGEST if a sample holds for one moment and an episode's
            value is made of all of them; '' if it accumulates.
        raw_unit: its unit where actions are not normalised by bounds, if that changes it.
        counts_when_static: whether the value of an episode that hardly moved is comparable.
        sampled_at: the samples that it differences or integrates over; '' if it does neither.
        options: names of the options of the metrics node that change it.
        changed_in: version of the definitions (constants.VERSION) that last changed its meaning.
        axis: its place among the default axes of a fingerprint, from 1; 0: it is none.
        line: where a report draws it over time.
    """

    id: str
    name: str
    unit: str
    higher_is_better: bool | None
    category: str
    reasons: tuple[Reason, ...]
    formula: str
    shows: str
    misleads: str
    variants: str = ''
    minimum_samples: int = 1
    source: str = OURS
    batch: Callable[..., Any] | None = None
    streaming: type | None = None
    live: Live | None = None
    fused: type | None = None
    torch: str = ''
    torch_form: TorchForm | None = None
    messages: tuple[str, ...] = ()
    has_three_forms: bool = False
    of_moments: str = ''
    raw_unit: str = ''
    counts_when_static: bool = True
    sampled_at: str = ''
    options: tuple[str, ...] = ()
    changed_in: int = 1
    axis: int = 0
    line: Line | None = None

    @property
    def message(self) -> str:
        """The kind of metric message that carries it; empty: none does."""
        return self.messages[0] if self.messages else ''

    @property
    def fields(self) -> tuple[str, ...]:
        """Its field names in the first message that carries it."""
        return self.fields_of(self.message)

    def fields_of(self, kind: str) -> tuple[str, ...]:
        """Returns its field names in one kind of message."""
        if kind not in self.messages:
            return ()
        has_forms = self.has_three_forms and kind == self.message
        return (self.id, *(f'{self.id}{f}' for f in ('_step', '_mean') if has_forms))

    @property
    def episode_field(self) -> str:
        """The field whose last value is the episode's, unless the metric is of moments."""
        return f'{self.id}_mean' if self.has_three_forms else self.id

    @property
    def aggregate(self) -> str:
        """MEAN, SMALLEST or LARGEST of an episode's samples; '' if the value accumulates."""
        return MEAN if self.has_three_forms else self.of_moments

    @property
    def is_fed(self) -> bool:
        """Returns whether the metric pipeline feeds its streaming class sample by sample."""
        return self.live is not None and self.streaming is not None and self.fused is None

    @property
    def function(self) -> str:
        """Name of the batch form in `frame_ros.metrics`; '' if there is none."""
        return self.batch.__name__ if self.batch else ''

    @property
    def streaming_name(self) -> str:
        """Name of the streaming class in `frame_ros.metrics`; '' if there is none."""
        computes = self.streaming or self.fused
        return computes.__name__ if computes else ''

    @property
    def unavailable(self) -> str:
        """All reasons for NaN, in words."""
        return ', or '.join(dict.fromkeys(reason.text for reason in self._all_reasons()))

    def reason(self, lacks: Collection[str], kind: str = '') -> str:
        """Returns why it is NaN in an episode.

        Args:
            lacks: what the episode lacks, values of `Lack`.
            kind: of the message that carries it; '' for its first.
        """
        for reason in self._all_reasons(kind):
            if not reason.lack or reason.lack in lacks:
                return reason.text
        return self.reasons[-1].text

    def _all_reasons(self, kind: str = '') -> tuple[Reason, ...]:
        needed = _NEEDED.get(kind or self.message)
        return (needed, *self.reasons) if needed else self.reasons


# A metric of each kind of message.
quality_metric = partial(Metric, category='trajectory', messages=('quality',))
safety_metric = partial(Metric, category='safety', messages=('safety',))
efficiency_metric = partial(Metric, category='efficiency', messages=('efficiency',))
