# SPDX-FileCopyrightText: 2026 The frame_ros authors
# SPDX-License-Identifier: Apache-2.0
"""The topic of each role in a bag, and the options that metrics nodes published in it."""

from __future__ import annotations

from collections.abc import Mapping

from frame_ros.bags.reader import Bag
from frame_ros.bags.streams.table import STREAMS
from frame_ros.core.input_files import load_json

SETTINGS_TOPIC = 'metrics_config'


def read_settings(bag: Bag) -> dict[str, list[tuple[int, str]]]:
    """Returns namespace ('' for the root) -> receive times (ns) and settings, JSON, that a metrics
    node there published, in recorded order, at least one."""
    settings: dict[str, list[tuple[int, str]]] = {}
    for name, topic in bag.topics.items():
        if not name.endswith(f'/{SETTINGS_TOPIC}'):
            continue
        if topic.message_type == 'std_msgs/msg/String' and topic.types:
            found = [(received, message.data) for received, message in bag.messages(name)]
            if found:
                settings[name[: -len(SETTINGS_TOPIC) - 1]] = found
    return settings


def used_topics(settings: str) -> dict[str, str]:
    """Returns role -> topic of the settings, if they have them."""
    try:
        topics = load_json(settings)['topics']
        return {role: name for role, name in topics.items() if name and isinstance(name, str)}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


# Values that a simulator knows and no sensor measured: used only if the run's own settings name
# them, or the caller.
TRUTH = 'ground_truth'


class TopicMap:
    """The topic of each role in one bag.

    Args:
        bag: the bag.
        namespace: namespace of the robot, '' for none; None: the one with most roles, of equal
            ones that of the given topics.
        topics: role or kind -> absolute topic, which takes precedence.

    Attributes:
        namespaces: those in which the bag has poses, actions, inferences or live metrics; if none,
            joint states. A metrics node's topics are of its namespace.
        settings: published by the metrics node of the chosen namespace, see `read_settings`.
    """

    def __init__(
        self, bag: Bag, namespace: str | None = None, topics: Mapping[str, str] | None = None
    ) -> None:
        self._given = dict(topics or {})
        self._names = [name for name, topic in bag.topics.items() if len(topic)]
        settings = read_settings(bag)
        self._used = {prefix: used_topics(texts[-1][1]) for prefix, texts in settings.items()}
        self.namespaces = self._find_namespaces()
        if namespace is None:
            namespace = self._fullest()
        self.namespace = '/' + namespace.strip('/') if namespace.strip('/') else ''
        self.settings = settings.get(self.namespace, [])
        self._report = bag.report

    def find(self, role: str) -> str | None:
        """Returns the topic of a role or kind; None if the bag has none. A given one takes
        precedence, then the one that the metrics node used, then those of the usual names. Topics
        shared by all robots are at the root.
        """
        if role in self._given:
            return self._given[role] if self._given[role] in self._names else None
        found = self._find_in(self.namespace, role)
        if found is None and role == 'event':
            found = self._find_in('', role)
        found = found or self._deeper(STREAMS[role].topics)
        used = self._used.get(self.namespace, {}).get(role, found)
        if found is not None and found != used:
            self._report(f'{role}: the metrics node used {used}; not in the bag, {found} is taken')
        return found

    def robot_of(self, topic: str) -> str | None:
        """Returns the namespace of the robot that a topic is of; None: it is of none of them."""
        found = [n for n in self.namespaces if topic.startswith(f'{n}/')]
        return max(found, key=len, default=None)

    def other_robots(self) -> str:
        """Returns that there are several robots, and which one this is; '' if there is one."""
        others = [n or '/' for n in self.namespaces if n != self.namespace]
        if not others:
            return ''
        return f'the bag holds several robots: this is {self._shown()}; others: {", ".join(others)}'

    def misplaced(self, role: str, topic: str) -> str:
        """Returns that a topic given for a role is of another robot than all else; '' if not."""
        robot, chosen = self.robot_of(topic), self._shown()
        if not robot or robot == self.namespace:
            return ''
        return (
            f'{topic}, given as {role}, is of {robot}, all else of {chosen}: --namespace '
            f'{robot} takes that of this robot, --namespace {chosen} leaves it so'
        )

    def _shown(self) -> str:
        return self.namespace or '/'

    def truth_of(self, role: str) -> str | None:
        """Returns the simulator's topic of a role, which `find` never takes by itself."""
        names = (f'{self.namespace}/{TRUTH}/{name}' for name in STREAMS[role].topics)
        return next((name for name in names if name in self._names), None)

    def _find_in(self, namespace: str, role: str) -> str | None:
        usual = [f'{namespace}/{n}' for n in STREAMS[role].topics]
        used = self._used.get(namespace, {}).get(role)
        candidates = usual if used is None else [used, *usual]
        return next((name for name in candidates if name in self._names), None)

    def _deeper(self, candidates: tuple[str, ...]) -> str | None:
        """Returns the only such topic below the robot's namespace, as of a driver, if any."""
        for name in candidates:
            found = [
                n
                for n in self._names
                if n.startswith(f'{self.namespace}/') and n.endswith(f'/{name}')
            ]
            found = [n for n in found if not (self._is_of_other_robot(n) or f'/{TRUTH}/' in n)]
            if len(found) == 1:
                return found[0]
        return None

    def _is_of_other_robot(self, name: str) -> bool:
        longer = [n for n in self.namespaces if len(n) > len(self.namespace)]
        return any(name.startswith(f'{namespace}/') for namespace in longer)

    def _find_namespaces(self) -> list[str]:
        used = {prefix: set(topics.values()) for prefix, topics in self._used.items()}
        found = {prefix for prefix, topics in used.items() if topics.intersection(self._names)}
        names = set(self._names).difference(*used.values())
        for marks in (
            ('ee_pose', 'joint_commands', 'policy_inference', 'quality_metrics'),
            ('joint_states',),
        ):
            found |= {
                n[: -len(mark) - 1] for n in names for mark in marks if n.endswith('/' + mark)
            }
            if found:
                return sorted(found)
        return []

    def _fullest(self) -> str:
        def roles(namespace: str) -> int:
            return sum(self._find_in(namespace, role) is not None for role in STREAMS)

        given = [self.robot_of(topic) for topic in self._given.values() if topic in self._names]
        return max(self.namespaces, key=lambda n: (roles(n), given.count(n)), default='')
