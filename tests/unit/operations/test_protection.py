# SPDX-License-Identifier: Apache-2.0
"""Branch protection: what rules refuse, when they bind, and that nobody's change is overwritten."""

from collections.abc import Callable
from contextlib import suppress
from itertools import count

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lochan.environment import RealEnvironment
from lochan.errors import InvalidInput, LochanError, PredicateFailed, Refused, RepositoryNotFound
from lochan.faults import Crashed, Fault
from lochan.kv.drivers.memory import MemoryStore
from lochan.kv.faulty import Faulty, fail_nth
from lochan.model.ids import BranchName, CommitId, ObjectKey, RepositoryId, StorageNamespace
from lochan.model.instant import EPOCH
from lochan.model.records import BlockedAction, BranchProtectionRule, Commit, Repository
from lochan.operations.allowed import Action, is_allowed
from lochan.operations.branches import create_branch, delete_branch
from lochan.operations.commit import CommitRequest, commit
from lochan.operations.delete_objects import delete_objects
from lochan.operations.hard_reset import hard_reset
from lochan.operations.lake import Lake
from lochan.operations.merge import MergeRequest, merge
from lochan.operations.protection import (
    MOST_RULES,
    get_branch_protection,
    set_branch_protection,
)
from lochan.operations.put_object import put_object
from lochan.operations.reset import reset, reset_object, reset_prefix
from lochan.operations.transplant import TransplantRequest, cherry_pick, revert
from lochan.refs.deletion import delete_repository
from lochan.testing.simulation import World, explore
from support.lakes import MAIN, Stage, open_stage
from support.reset_scenes import ResetScene, Y

DEV = BranchName("dev")
KEY = ObjectKey(b"a")
WRITES = (BlockedAction.STAGING_WRITE,)
COMMITS = (BlockedAction.COMMIT,)
FAULTS = [fault for fault in Fault if fault not in {Fault.OK, Fault.ZOMBIE}]


def rule(pattern: str, *blocked: BlockedAction) -> BranchProtectionRule:
    return BranchProtectionRule(pattern, blocked or tuple(BlockedAction))


def protect(stage: Stage, *rules: BranchProtectionRule) -> None:
    set_branch_protection(stage.lake, stage.repository, rules)


def elsewhere(stage: Stage) -> Stage:
    """Give the same lake as another server sees it."""
    lake = Lake.of(stage.lake.store, stage.lake.environment, stage.lake.storage)
    return Stage(lake, stage.repository, stage.storage)


def put(stage: Stage, branch: BranchName = MAIN, body: bytes = b"1") -> None:
    put_object(stage.lake, stage.repository, branch, KEY, body)


def record(stage: Stage, branch: BranchName = MAIN, body: bytes = b"1") -> Commit:
    put(stage, branch, body)
    return commit(stage.lake, stage.repository, branch, CommitRequest("ada", "x"))


def head(stage: Stage, branch: BranchName = MAIN) -> CommitId:
    return stage.lake.branches.fresh(stage.repository, branch).record.commit_id


def test_rules_are_kept_by_pattern_and_their_checksum_tells_them_apart() -> None:
    stage = open_stage()
    assert get_branch_protection(stage.lake, stage.repository).checksum == ""
    one = set_branch_protection(
        stage.lake, stage.repository, [rule("release-*"), rule("main", *COMMITS)]
    )
    assert [each.pattern for each in one.rules] == ["main", "release-*"]
    assert get_branch_protection(elsewhere(stage).lake, stage.repository) == one
    two = set_branch_protection(
        stage.lake, stage.repository, [rule("release-*"), rule("main", *WRITES)]
    )
    assert one.checksum != two.checksum
    assert set_branch_protection(stage.lake, stage.repository, []).checksum == ""


def test_a_change_that_expects_other_rules_changes_nothing() -> None:
    stage = open_stage()
    set_branch_protection(stage.lake, stage.repository, [rule("main")], expected="")
    before = get_branch_protection(stage.lake, stage.repository)
    for expected in ("", "0" * 64):
        with pytest.raises(PredicateFailed, match="were changed") as told:
            set_branch_protection(stage.lake, stage.repository, [], expected=expected)
        assert told.value.code == "protection-changed"
    assert get_branch_protection(stage.lake, stage.repository) == before
    set_branch_protection(stage.lake, stage.repository, [], expected=before.checksum)


@pytest.mark.parametrize("pattern", ["", "a/b", "[ab]", "{a,b}", "a\n", "über", "x" * 257])
def test_a_pattern_that_could_not_be_meant_is_refused(pattern: str) -> None:
    stage = open_stage()
    with pytest.raises(InvalidInput, match="no pattern of branch names"):
        protect(stage, rule(pattern))


def test_rules_that_contradict_or_block_nothing_are_refused() -> None:
    stage = open_stage()
    with pytest.raises(InvalidInput, match="two rules"):
        protect(stage, rule("main"), rule("main", *COMMITS))
    with pytest.raises(InvalidInput, match="blocks nothing"):
        protect(stage, BranchProtectionRule("main", ()))
    with pytest.raises(InvalidInput, match="too many"):
        protect(stage, *(rule(f"b{number}") for number in range(MOST_RULES + 1)))


REPOSITORY = Repository(
    repository_id=RepositoryId("readings"),
    storage_namespace=StorageNamespace("mem://x"),
    default_branch=MAIN,
    creation_date=EPOCH,
)
NAMES = st.text("ab-", min_size=1, max_size=5).map(BranchName)


@given(NAMES, st.text("ab-*?", min_size=1, max_size=5))
def test_a_pattern_matches_letter_by_letter(name: BranchName, pattern: str) -> None:
    guarded = msgspec.structs.replace(REPOSITORY, branch_protection=(rule(pattern),))
    assert is_allowed(guarded, name, Action.WRITE) == (not matches(name, pattern))


def matches(name: str, pattern: str) -> bool:
    """Match by the definition: * is nothing, or one letter and * again."""
    if not pattern:
        return not name
    if pattern[0] == "*":
        return matches(name, pattern[1:]) or (name != "" and matches(name[1:], pattern))
    return name != "" and pattern[0] in {"?", name[0]} and matches(name[1:], pattern[1:])


Verb = Callable[[Stage, Commit], object]
VERBS: dict[str, Verb] = {
    "put": lambda stage, _: put(stage),
    "delete": lambda stage, _: delete_objects(stage.lake, stage.repository, MAIN, [KEY]),
    "reset": lambda stage, _: reset(stage.lake, stage.repository, MAIN),
    "reset prefix": lambda stage, _: reset_prefix(stage.lake, stage.repository, MAIN, b"a"),
    "reset object": lambda stage, _: reset_object(stage.lake, stage.repository, MAIN, KEY),
    "commit": lambda stage, _: commit(
        stage.lake, stage.repository, MAIN, CommitRequest("ada", "x", allow_empty=True)
    ),
    "revert": lambda stage, theirs: revert(
        stage.lake, stage.repository, MAIN, theirs, TransplantRequest("ada", allow_empty=True)
    ),
    "cherry-pick": lambda stage, theirs: cherry_pick(
        stage.lake, stage.repository, MAIN, theirs, TransplantRequest("ada", allow_empty=True)
    ),
    "hard reset": lambda stage, theirs: hard_reset(stage.lake, stage.repository, MAIN, theirs),
    "delete branch": lambda stage, _: delete_branch(stage.lake, stage.repository, MAIN),
    "merge": lambda stage, theirs: merge(
        stage.lake, stage.repository, MAIN, theirs, MergeRequest("ada", allow_empty=True)
    ),
}
WRITERS = {"put", "delete", "reset", "reset prefix", "reset object"}
COMMITTERS = {"commit", "revert", "cherry-pick"}
BOTH = {"hard reset", "delete branch"}


@pytest.mark.parametrize("blocked", [WRITES, COMMITS], ids=["writes", "commits"])
@pytest.mark.parametrize("verb", VERBS)
def test_a_protected_branch_refuses_what_its_rule_blocks(
    verb: str, blocked: tuple[BlockedAction, ...]
) -> None:
    stage = open_stage()
    create_branch(stage.lake, stage.repository, DEV, head(stage))
    theirs = record(stage, DEV)
    protect(stage, rule("ma*", *blocked), rule("dev"))
    refused = BOTH | (WRITERS if blocked == WRITES else COMMITTERS)
    before = head(stage)
    if verb in refused:
        with pytest.raises(Refused, match="protected branch 'main'") as told:
            VERBS[verb](stage, theirs)
        assert told.value.code == "protected-branch"
        assert head(stage) == before
    else:
        VERBS[verb](stage, theirs)


def test_rel_H14_a_rule_binds_every_server_at_once_and_frees_it_at_once() -> None:
    here = open_stage()
    there = elsewhere(here)
    put(there)  # now it has seen the branch, without a rule
    protect(here, rule("*"))
    with pytest.raises(Refused):
        put(there)
    with pytest.raises(Refused):
        record(elsewhere(here))
    protect(here)
    put(there)
    record(there)


def test_rel_H14_who_begins_after_a_rule_was_stored_is_refused_in_every_order() -> None:
    def ruler(scene: ResetScene, lake: Lake) -> None:
        set_branch_protection(lake, scene.repository, [rule("main")])
        scene.answers["stored"] = True

    def writer(scene: ResetScene, lake: Lake) -> bool:
        lake.branches.seen(scene.repository, MAIN)
        bound = "stored" in scene.answers
        scene.put(lake, Y)
        return bound

    def committer(scene: ResetScene, lake: Lake) -> bool:
        lake.branches.seen(scene.repository, MAIN)
        bound = "stored" in scene.answers
        scene.commit(lake)
        return bound

    def make(world: World) -> ResetScene:
        return ResetScene(world, ruler=ruler, writer=writer, committer=committer)

    def check(scene: ResetScene) -> object:
        told = scene.answers["writer"], scene.answers["committer"]
        assert True not in told, "it began after the rule was acknowledged"
        return told

    seen = explore(make, check, limit=500)
    print(seen, dict(seen.outcomes))
    assert seen.wrong is None, seen
    assert len(seen.outcomes) >= 3


def test_of_two_who_expect_the_same_rules_one_changes_them() -> None:
    def ruler(name: str) -> Callable[[ResetScene, Lake], object]:
        def story(scene: ResetScene, lake: Lake) -> str:
            rules = [rule(name)]
            return set_branch_protection(lake, scene.repository, rules, expected="").checksum

        return story

    def make(world: World) -> ResetScene:
        return ResetScene(world, one=ruler("a"), two=ruler("b"))

    def check(scene: ResetScene) -> str:
        (kept,) = get_branch_protection(scene.lake, scene.repository).rules
        lost = scene.answers["two" if kept.pattern == "a" else "one"]
        assert lost is PredicateFailed
        return kept.pattern

    seen = explore(make, check)
    assert seen.wrong is None, seen
    assert set(seen.outcomes) == {"a", "b"}


def test_a_rule_follows_the_repository_and_not_its_name() -> None:
    stage = open_stage()
    delete_repository(stage.lake.store, stage.lake.environment, stage.repository.repository_id)
    with pytest.raises(RepositoryNotFound):
        protect(stage, rule("main"))
    with pytest.raises(RepositoryNotFound):
        get_branch_protection(stage.lake, stage.repository)


@pytest.mark.parametrize("fault", FAULTS)
def test_rel_H15_rules_whose_answer_was_lost_are_stored_or_not(fault: Fault) -> None:
    world = RealEnvironment()
    for number in count(1):
        stage = open_stage(MemoryStore(world), world)
        protect(stage, rule("one"))
        before = get_branch_protection(stage.lake, stage.repository).checksum
        faulty = Faulty(stage.lake.store, fail_nth(number, fault), world)
        lake = Lake.of(faulty, world, stage.lake.storage)
        done = False
        with suppress(LochanError, Crashed):
            set_branch_protection(lake, stage.repository, [rule("two")], expected=before)
            done = True
        found = get_branch_protection(stage.lake, stage.repository).rules
        stored = found == (rule("two"),)
        assert stored or found == (rule("one"),)
        assert stored == done or (stored and fault is Fault.CRASH_AFTER)
        if faulty.calls < number:
            assert done
            return


@pytest.mark.parametrize("action", Action)
def test_a_branch_of_a_pipeline_takes_what_its_jobs_publish_and_nothing_else(
    action: Action,
) -> None:
    owned = msgspec.structs.replace(REPOSITORY, branch_owners={MAIN: "thumbs"})

    assert is_allowed(owned, MAIN, action) == (action is Action.PUBLISH)
    assert is_allowed(owned, MAIN, action, force=True)
    assert is_allowed(owned, DEV, action)
