# SPDX-License-Identifier: Apache-2.0
"""Move a branch: commits of what is staged, and commits made otherwise, many at once.

Requests for one branch of one process take turns. While one batch is under way the next gathers, so
that a contended branch does not do work again and again: each request has a commit record of its
own, and one compare-and-swap publishes the chain of them. Other processes are met without locks:

    1. seal       if anybody commits, the staging token joins the sealed ones (CAS 1)
    2. build      the tree with all sealed tokens applied, validated (H1; see staged_tree)
    3. chain      the first commit takes that tree, the others of the batch add their message; then
                  come merges and such, each on the one before
    4. publish    commit records, clean-up notes, then CAS 2: the head moves and the tokens go

When CAS 2 is lost the branch tells why. Later seals: try again. An earlier commit took the older of
our tokens: the validated tree is used again, on the new head. A later commit took them all: the
data is committed, and an empty commit carries our message. A reset of some keys: they are taken out
of the tree. A reset of everything: begin again. The head was moved otherwise: build again.

Sealed tokens that hold data while nobody in the batch commits are somebody's work, under way or
not. A chain with a merge takes every one of them, those too that came after it began, and carries
what they hold along, uncommitted, under the new head (H7; decision 9): a commit that kept one of
its tokens would believe that only commits had moved the head, and use a tree again that knows
nothing of the merge.
"""

from collections.abc import Sequence

from lochan.errors import Conflict, InvalidInput, LochanError, Refused
from lochan.model.ids import BranchName
from lochan.model.records import Branch, Commit, Repository
from lochan.operations.allowed import require_allowed
from lochan.operations.branch_reads import BranchRead
from lochan.operations.lake import Lake
from lochan.operations.publish import Chain
from lochan.operations.request import Answer, Make, Request, Said
from lochan.operations.seal import seal
from lochan.operations.staged_tree import StagedTree, after_resets, build
from lochan.operations.view import tokens_of, tree_under
from lochan.staging.sealed import Overlap, trim

ATTEMPTS = 100  # at most n for n concurrent commits (G10)


def move(lake: Lake, repository: Repository, name: BranchName, request: Request) -> Commit:
    """Have a request met, together with others that ask at the same time.

    Raises: what `make` raises; InvalidInput (code no-changes); NotFound; Conflict when others
    always came first, which leaves everything as it was; Refused.
    """
    require_allowed(request.began.repository, name, request.action, force=request.force)
    key = (repository.unique_identifier, name)
    lake.moves.take(key, request, lambda batch: _move(lake, repository, name, batch))
    if isinstance(request.answer, Commit):
        return request.answer
    assert request.answer is not None  # noqa: S101 - a batch without error answers every request
    raise request.answer


def _move(lake: Lake, repository: Repository, name: BranchName, batch: Sequence[Request]) -> None:
    """Meet a batch: see the head of this file."""
    stored = _begin(lake, repository, name, batch)
    mine, resets = stored.record.sealed_tokens, stored.record.resets
    tree: StagedTree | None = None
    for _ in range(ATTEMPTS):
        found = trim(mine, stored.record.sealed_tokens)
        if stored.record.resets != resets:  # what was forgotten must not come back
            # That all are there still says that some keys were reset, if there are any tokens.
            if not mine or found.overlap is not Overlap.NOBODY:
                stored = _begin(lake, repository, name, batch)
                mine, tree = stored.record.sealed_tokens, None
                found = trim(mine, mine)
            resets = stored.record.resets
        if tree is not None:
            tree = after_resets(lake, repository, stored.record, tree, found.overlap)
        if found.newer and any(request.make is not None for request in batch):
            mine, tree = stored.record.sealed_tokens, None  # nothing may stay sealed here (H7)
            found = trim(mine, mine)
        if tree is None or not tree.holds(
            stored.record, tree_under(lake, repository, stored.record), found.overlap
        ):
            mine = found.left
            tree, stored = build(lake, repository, name, stored, mine)
            continue
        chain = Chain(lake, repository, stored)
        answers = _meet(chain, batch, tree, stored)
        if _leaves_all(answers, tree, chain) or chain.publish(found.left, found.newer):
            for request, answer in zip(batch, answers, strict=True):
                request.answer = answer
            return
        stored = lake.branches.fresh(repository, name)
    message = f"branch {name!r} was changed by others {ATTEMPTS} times; try again"
    raise Conflict(message, code="contended", branch=name)


def _begin(
    lake: Lake, repository: Repository, name: BranchName, batch: Sequence[Request]
) -> BranchRead:
    """Seal what is staged if anybody wants to commit it; gives the branch after that."""
    if any(request.make is None for request in batch):
        seal(lake, repository, name)
    return lake.branches.fresh(repository, name)


def _meet(
    chain: Chain, batch: Sequence[Request], tree: StagedTree, read: BranchRead
) -> list[Answer]:
    """Chain what a batch asks for, commits of what is staged first; errors are answers, too.

    What is staged and nobody here may commit is carried along.
    """
    staged = tree.id != chain.tip.head.meta_range_id
    answers = {request: refusal for request in batch if (refusal := _refusal(request, read))}
    for request in batch:
        if request.make is None and request not in answers:
            changed = staged or _committed_by_others(request.began.record, read.record)
            answers[request] = _commit(chain, request, tree, changed=changed)
    if chain.tip.head.meta_range_id != tree.id:
        chain.carry(tree.id)
    for request in batch:
        if request.make is not None and request not in answers:
            answers[request] = _advance(chain, request.said, request.make)
    return [answers[request] for request in batch]


def _leaves_all(answers: Sequence[Answer], tree: StagedTree, chain: Chain) -> bool:
    """Say whether a batch leaves the branch as it is, since nobody got a commit.

    Sealed rows that change nothing go all the same (H11), unless everybody was refused.
    """
    if any(isinstance(answer, Commit) for answer in answers):
        return False
    changes = tree.id != chain.tip.head.meta_range_id
    return changes or all(isinstance(answer, Refused) for answer in answers)


def _refusal(request: Request, read: BranchRead) -> Answer | None:
    """Ask the repository's rules, by a record as fresh as the branch's (H14)."""
    try:
        require_allowed(read.repository, read.record.branch_id, request.action, force=request.force)
    except Refused as refused:
        return refused
    return None


def _commit(chain: Chain, request: Request, tree: StagedTree, *, changed: bool) -> Answer:
    """Commit the staged tree; where it is committed already, never hide that the data is safe."""
    head, said = chain.tip.head, request.said
    if tree.id == head.meta_range_id and not request.allow_empty:
        if not changed:
            return InvalidInput("nothing to commit: nothing staged differs", code="no-changes")
        if not said.message and not said.metadata:
            return head
    return chain.add_staged(tree.id, said)


def _committed_by_others(began: Branch, now: Branch) -> bool:
    """Say whether a commit since then took tokens; tokens that went without one were reset.

    Where anything was reset meanwhile nobody can tell, and nobody is told that.
    """
    taken = not set(tokens_of(began)) <= set(tokens_of(now))
    return taken and began.commit_id != now.commit_id and began.resets == now.resets


def _advance(chain: Chain, said: Said, make: Make) -> Answer:
    try:
        candidate = make(chain.tip)
    except LochanError as error:
        return error
    return chain.add(candidate, said)
