"""Holders: who may hold which topic in an assignment of the same balance, and who owns what."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from compare.reasons.blocks import topic_levels

if TYPE_CHECKING:
    from groups.arrays import Bools, Int64
    from optimal.solution import Solution

NO_PRICE = np.iinfo(np.int64).max


class Holders:
    """Who may hold and who owns what, by the certificate of a solution.

    A member may hold a topic that it reads where no reader of the topic has a lower level. Members
    that read alike and have one level are a kind: they may hold the same topics.

    Attributes
    ----------
    kind : (members,) of each member its kind
    pairs : (kind, topic) of all that may be held, by kind: two int64 columns; topics without
        partitions are left out
    cheapest : (topics,) least price of those that may hold the topic
    topic, owner, count : (classes,) int64, owned partitions by topic and owner
    at_home : (classes,) bool, whether the owner may hold the topic
    """

    def __init__(self, solution: Solution) -> None:
        self.group = group = solution.group
        self.level, self.price = solution.proof.columns()
        of_topic = topic_levels(group, self.level)
        size = max(len(group.members), 1)

        keys = np.stack((group.subscription_row, self.level))
        (rows, levels), self.kind = np.unique(keys, axis=1, return_inverse=True)
        self.kind = self.kind.reshape(-1)
        lengths = np.diff(group.subscription_indptr)[rows]
        kinds = np.repeat(np.arange(len(rows)), lengths)
        starts = np.cumsum(lengths) - lengths
        at = np.arange(lengths.sum()) - np.repeat(starts, lengths)
        topics = group.subscription_topics[group.subscription_indptr[rows[kinds]] + at]
        may = (levels[kinds] == of_topic[topics]) & (group.partitions[topics] > 0)
        self.pairs = kinds[may], topics[may].astype(np.int64)

        of_kind = np.full(len(rows), NO_PRICE)
        np.minimum.at(of_kind, self.kind, self.price)
        self.cheapest = np.full(len(group.topics), NO_PRICE)
        np.minimum.at(self.cheapest, self.pairs[1], of_kind[self.pairs[0]])

        held = np.flatnonzero(group.owner >= 0)
        classes = group.topic[held].astype(np.int64) * size + group.owner[held]
        found, self.count = np.unique(classes, return_counts=True)
        self.topic, self.owner = found // size, found % size
        self.at_home = self.level[self.owner] == of_topic[self.topic]

    def counted_at(self, price: int) -> Bools:
        """Return for each class whether it is counted where the owner has this price."""
        here = self.price[self.owner] == price
        counted: Bools = here & self.at_home & (self.cheapest[self.topic] < price)
        return counted

    def parts(self, inside: Bools, joining: Bools) -> tuple[Int64, Int64]:
        """Put members together that may hold the same topic, directly or along others.

        Parameters
        ----------
        inside : (members,) who is looked at
        joining : (topics,) which topics put together; each has holders inside

        Returns
        -------
        (members,) number of the part, -1 outside; (topics,) that of the joining topics, else -1
        """
        has_inside = np.bincount(self.kind[inside], minlength=self.kind.max(initial=-1) + 1) > 0
        kept = joining[self.pairs[1]] & has_inside[self.pairs[0]]
        kinds, topics = (column[kept] for column in self.pairs)
        root = list(range(len(has_inside)))

        def top(kind: int) -> int:
            while root[kind] != kind:
                root[kind] = root[root[kind]]
                kind = root[kind]
            return kind

        first: dict[int, int] = {}
        for kind, topic in zip(kinds.tolist(), topics.tolist(), strict=True):
            root[top(kind)] = top(first.setdefault(topic, kind))
        tops = np.array([top(kind) for kind in range(len(root))], np.int64)
        joined = np.zeros(len(root), bool)
        joined[kinds] = True
        alone = len(root) + np.arange(len(inside))
        label = np.where(joined[self.kind], tops[self.kind], alone)
        names, part = np.unique(label[inside], return_inverse=True)
        of_member = np.full(len(inside), -1, np.int64)
        of_member[inside] = part
        of_topic = np.full(len(joining), -1, np.int64)
        listed = np.array(list(first), np.int64)
        of_topic[listed] = np.searchsorted(names, tops[[first[t] for t in first]])
        return of_member, of_topic
