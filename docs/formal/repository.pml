/* SPDX-License-Identifier: Apache-2.0
 *
 * The life of repositories under one name: creators, deleters, a reader that gives up what was
 * abandoned, the cleaner. README.md says what is claimed.
 *
 * The names are those of src/lochan/refs. The record of the name is (state, uid); uid is the unique
 * identifier of an incarnation, 0 where there is no record. What belongs to an incarnation is its
 * first commit and its branch. Every step that reads or writes the store is one transition.
 *
 * Creators and deleters may die between any two of their steps, and a creator may be slow. Two
 * minutes are not counted: `late[u]` may come true at any moment, as a clock that is wrong would
 * have it (R20).
 */

#define CREATORS 2
#define DELETERS 2
#define UIDS (CREATORS + 1)     /* each creator draws one; 0 is none */

mtype = { ABSENT, INITIAL, ACTIVE, DELETING };

mtype state = ABSENT;           /* the record in graveler */
byte uid;
bit commit_row[UIDS], branch_row[UIDS];
bit noted[UIDS];                /* graveler_deleted */

bit late[UIDS];                 /* everybody takes the creation for abandoned */
bit asked[UIDS];                /* ghost: somebody read this incarnation in order to delete it */
bit created[UIDS];              /* ghost: its creation was acknowledged */

/* R2: an active repository has its commit and its branch. */
inline active_is_whole() {
    assert(state != ACTIVE || (commit_row[uid] && branch_row[uid]))
}

/* R1: who has created the name is alone with it, but for incarnations that somebody deletes. */
inline is_alone(me) {
    assert(!created[CREATORS + 1 - me] || asked[CREATORS + 1 - me])
}

/* R16: a record changes or goes only by those who meant its incarnation. */
inline may_end(u) {
    assert(u == 0 || asked[u] || late[u])
}

/* refs/deletion.py, end_repository: from the record (s, u) that was read. */
inline end_repository(s, u) {
#ifdef H12_SET                          /* the mark is a plain set of the record that was read */
    d_step { if :: uid != u -> may_end(uid) :: else fi; state = DELETING; uid = u }
#else
    d_step {                            /* mark_deleting: set_if on the record that was read */
        if
        :: uid == u && state == s -> state = DELETING
        :: else
        fi
    }
    if                                  /* its next look: gone, or gone on to another state */
    :: uid != u || state != DELETING -> goto not_ours
    :: else
    fi;
#endif
    if :: goto not_ours :: skip fi;     /* whoever deletes may die here, and after the note */
    noted[u] = 1;                       /* note_deleted */
    if :: goto not_ours :: skip fi;
#ifdef H12_DELETE                       /* the record goes, whatever it is */
    d_step { may_end(uid); state = ABSENT; uid = 0 }
#else
    d_step {                            /* delete_if on the deleting record */
        if
        :: uid == u && state == DELETING -> may_end(u); state = ABSENT; uid = 0
        :: else
        fi
    }
#endif
not_ours:
    atomic { s = 0; u = 0 }             /* what is no longer used tells no states apart */
}

/* ------------------------------------------------------------------ refs/creation.py */
proctype creator(byte me) {
    mtype s;
    byte u;
claim:
    atomic {                            /* set_if(None) */
        if
        :: state == ABSENT -> state = INITIAL; uid = me; goto claimed
        :: else -> s = state; u = uid
        fi
    }
    if                                  /* _help_away */
    :: s == ACTIVE || (s == INITIAL && !late[u]) -> goto refused  /* NotUnique */
    :: else
    fi;
    end_repository(s, u);
    goto claim;
claimed:
    commit_row[me] = 1;
    if :: goto refused :: skip fi;      /* it may die here */
    branch_row[me] = 1;
    if :: goto refused :: skip fi;
#ifdef H13                              /* activation by a plain set */
    atomic { state = ACTIVE; uid = me; created[me] = 1; active_is_whole() }
#else
    atomic {                            /* _activate: set_if on our own record */
        if
        :: uid == me && state == INITIAL ->
            state = ACTIVE; created[me] = 1; active_is_whole(); is_alone(me); goto done
        :: else
        fi
    }
    noted[me] = 1;                      /* our rows may have come after the cleaner */
#endif
done:
refused:
    atomic { s = 0; u = 0; me = 0 }
}

/* ------------------------------------------------------------------ refs/deletion.py */
proctype deleter() {
    mtype s;
    byte u;
    atomic {
        s = state; u = uid;
        if
        :: s == ABSENT || (s == INITIAL && !late[u]) -> goto gone
        :: else -> asked[u] = 1
        fi
    }
    end_repository(s, u);
gone:
    atomic { s = 0; u = 0 }
}

/* ------------------------------------------------------------------ refs/repositories.py */
/* get_repository at a moment when two minutes have passed, or seem to have. */
proctype getter() {
    byte u;
end:
    atomic { state == INITIAL -> u = uid; late[u] = 1 }
    d_step {                            /* mark_deleting */
        if
        :: uid == u && state == INITIAL -> state = DELETING
        :: else
        fi;
        u = 0
    }
}

/* ------------------------------------------------------------------ refs/cleaner.py */
#define LIVES(u) (uid == u && state != DELETING)        /* _refuse_living */
#define CAN_SWEEP(u) (noted[u] && (commit_row[u] || branch_row[u]) && !LIVES(u))

proctype cleaner() {
    byte u;
end:
    do
    :: atomic { CAN_SWEEP(1) -> u = 1 } goto sweep
    :: atomic { CAN_SWEEP(2) -> u = 2 } goto sweep
    od;
sweep:
    atomic { commit_row[u] = 0; active_is_whole() }
    atomic { branch_row[u] = 0; active_is_whole(); u = 0 }
    goto end
}

/* When nothing moves any more: nothing is left that no name and no note leads to (R9, R15). */
proctype quiescence() {
    byte u;
    timeout;
    d_step {
        active_is_whole();
        u = 1;
        do
        :: u < UIDS ->
            assert(u == uid || noted[u] || (!commit_row[u] && !branch_row[u]));
            assert(!created[u] || u == uid || asked[u]);        /* R16 once more */
            u++
        :: else -> break
        od
    }
}

init {
    atomic {
        byte n = 1;
        do :: n <= CREATORS -> run creator(n); n++ :: else -> break od;
        n = 0;
        do :: n < DELETERS -> run deleter(); n++ :: else -> break od;
        run getter();
        run cleaner();
        run quiescence();
    }
}
