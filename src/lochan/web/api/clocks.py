# SPDX-License-Identifier: Apache-2.0
"""Clocks: a commit's place as numbers, and what two commits are to each other by them.

Ours, not lakeFS's. No history is walked for any answer (`lochan.refs.kinship`).
"""

from lochan.access.actions import LIST_COMMITS, READ_COMMIT
from lochan.model import records
from lochan.operations.open_commits.commit_name import Numbers, finished_commit
from lochan.refs import kinship
from lochan.shapes.clocks import (
    Clock,
    CommitClocks,
    CommitClocksQuery,
    HistorySpans,
    HistorySpansQuery,
    Kinship,
    KinshipQuery,
    Span,
)
from lochan.web.call import Call
from lochan.web.needs import Need
from lochan.web.route import Routes

ROUTES = Routes("clocks")

_PATH = "/repositories/{repository}/clocks"
_REPOSITORY = "arn:lakefs:fs:::repository/{repository}"


@ROUTES.get(
    _PATH + "/commit",
    needs=Need(READ_COMMIT, _REPOSITORY),
    query=CommitClocksQuery,
    answers={200: CommitClocks},
)
def get_clocks(call: Call) -> CommitClocks:
    """Give a commit's clock, and both its names."""
    found = _commit(call, call.asked(CommitClocksQuery).commit)
    return CommitClocks(
        ID=Numbers.of(call.lake, call.repository).name(found),
        id=found.id,
        clocks=shown_clocks(found.clocks),
    )


@ROUTES.get(
    _PATH + "/kinship",
    needs=Need(READ_COMMIT, _REPOSITORY),
    query=KinshipQuery,
    answers={200: Kinship},
)
def get_kinship(call: Call) -> Kinship:
    """Tell which of two commits is behind the other, where they parted, and how far they are."""
    asked = call.asked(KinshipQuery)
    one, other = _commit(call, asked.one), _commit(call, asked.other)
    related = kinship.Kinship.of(call.lake.store, call.repository)
    base = related.merge_base(one, other)
    ahead, behind = related.ahead_behind(one, other)
    return Kinship(
        one=one.id,
        other=other.id,
        one_is_ancestor=related.is_ancestor(one, other, or_self=True),
        other_is_ancestor=related.is_ancestor(other, one, or_self=True),
        merge_base=base.id if base else None,
        ahead=ahead,
        behind=behind,
    )


@ROUTES.get(
    _PATH + "/history",
    needs=Need(LIST_COMMITS, _REPOSITORY),
    query=HistorySpansQuery,
    answers={200: HistorySpans},
)
def get_history_spans(call: Call) -> HistorySpans:
    """Tell which places lie between two commits, one range a line."""
    asked = call.asked(HistorySpansQuery)
    to = _commit(call, asked.to_commit)
    since = _commit(call, asked.from_commit) if asked.from_commit else None
    related = kinship.Kinship.of(call.lake.store, call.repository)
    spans = related.history(to, since, strict=asked.strict)
    shown = [Span(branch=span.lineage, first=span.first, last=span.last) for span in spans]
    return HistorySpans(commits=sum(span.length for span in spans), spans=shown)


def shown_clocks(clocks: tuple[records.Clock, ...]) -> list[Clock]:
    """Show the components of a clock."""
    return [Clock(branch=clock.branch, commit=clock.commit) for clock in clocks]


def _commit(call: Call, name: str) -> records.Commit:
    return finished_commit(call.lake, call.repository, name)
