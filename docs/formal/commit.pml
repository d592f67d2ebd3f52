/* SPDX-License-Identifier: Apache-2.0
 *
 * Writers, readers, committers and the cleaner on one branch. README.md says what is claimed.
 *
 * The names are those of the code in src/lochan/operations. Every step that reads or writes the
 * store is one transition; what lies between two of them is local. Ghost variables (acked, begun,
 * floor) are seen by assertions alone.
 *
 * A branch record is (head, lo, st). Tokens are numbered in the order in which they were drawn, so
 * the staging token is st and the sealed tokens are lo .. st-1: newest last here, newest first in
 * the code. Commits take the oldest sealed tokens, so the list is always an interval (G12).
 *
 * Key k of token t is row[t*KEYS+k]; 0 is no row. Values are the numbers of writes, which grow: of
 * two values of a key the larger is the younger. MERGED is a key that only a merge writes.
 */

#ifndef COMMITTERS
#define COMMITTERS 2
#endif
#define WRITES 2
#define KEYS 2
#define MERGED 2
#define TREE 3                  /* keys of a tree: 0, 1, MERGED */
#define TOKENS (COMMITTERS + 1) /* each committer seals at most once */
#define COMMITS (COMMITTERS + 2)
#define TOMBSTONE(v) (v == 2)   /* with DELETES: write 2 deletes what write 1 put */

byte head, lo, st;              /* the branch record */
byte row[TOKENS * KEYS];
bit noted[TOKENS];              /* cleanup-tokens; a note lasts longer than any request */
byte tree[COMMITS * TREE];      /* commit records with their trees; commit 0 is empty */
byte commits;

byte acked[KEYS], begun[KEYS];  /* ghosts: the youngest write that was acknowledged, or begun */
bit merge_acked;
byte begun_commits;

hidden byte i, found;           /* used within one step */

#ifdef DELETES
#define KEY(v) 0
#else
#define KEY(v) ((v) - 1)
#endif

/* What a record (h, l, s) shows for key k, all at once: for assertions. */
inline shown(h, l, s, k, answer) {
    answer = 0; i = s + 1;
    do
    :: i > l && answer == 0 -> i--; answer = row[i * KEYS + k]
    :: else -> break
    od;
    if :: answer == 0 -> answer = tree[h * TREE + k] :: else fi
}

/* G7: what was acknowledged is staged or committed, after every step that could take it away. */
inline nothing_is_lost() {
    shown(head, lo, st, 0, found); assert(found >= acked[0]);
    shown(head, lo, st, 1, found); assert(found >= acked[1]);
    assert(tree[head * TREE + MERGED] >= merge_acked)
}

/* ------------------------------------------------------------------ operations/stage.py */
proctype writer() {
    byte t, v, k, now;
    v = 1;
    do
    :: v > WRITES -> break
    :: else ->
        k = KEY(v);
        if :: t = st :: skip fi;        /* branches.seen: a record of any age (G13) */
again:
#ifdef H8                               /* the check joins a read that is already under way */
        now = st;
#endif
#ifdef H4                               /* a delete that looks whether there is anything to do */
        if
        :: TOMBSTONE(v) ->
            d_step { shown(head, lo, st, k, found); now = found }
            if :: now == 0 || TOMBSTONE(now) -> goto check :: else fi
        :: else
        fi;
#endif
        atomic { begun[k] = v; row[t * KEYS + k] = v }  /* staging.set */
check:
        atomic {                        /* branches.fresh */
#ifndef H8
            now = st;
#endif
            if
            :: now == t -> acked[k] = v
            :: else -> t = now; goto again
            fi
        }
        v++
    od;
    atomic { t = 0; v = 0; k = 0; now = 0 }
}

/* ------------------------------------------------------------------ operations/view.py */
#ifdef READER
/* One pass is enough. A reader that must look again begins with a fresh record, and so does one
 * that is called at that moment, of which more is asked. */
proctype reader() {
    byte h, l, s, seen_st, k, answer, floor;
    k = READER;                         /* which key it asks for: 0 or 1 */
    atomic { h = head; l = lo; s = st; seen_st = st } /* branches.seen, any time before the call */
    atomic { floor = acked[k]; answer = row[s * KEYS + k] } /* the call begins with its first get */
    do                                  /* find_record: one get a token, newest first */
    :: atomic { s > l && answer == 0 -> s--; answer = row[s * KEYS + k] }
    :: else -> break
    od;
    atomic {                            /* branches.fresh, is_same_view */
        if :: answer == 0 -> answer = tree[h * TREE + k] :: else fi;
        if
#ifdef H2                               /* no second look at the record */
        :: true ->
#else
#ifdef H3                               /* the staging token alone is compared */
        :: st == seen_st ->
#else
        :: st == seen_st && lo == l && head == h ->
#endif
#endif
            assert(answer >= floor);    /* G1 */
            assert(answer <= begun[k])  /* G2 */
        :: else
        fi;
        h = 0; l = 0; s = 0; k = 0; answer = 0; floor = 0; seen_st = 0
    }
}
#endif

/* ------------------------------------------------------------------ operations/move.py */
proctype mover(byte me; bit merging) {
    byte h, l, s, mlo, mhi, base, gone, k, t, made[TREE], floor[KEYS];
    bit has_tree;
    d_step {                            /* committers are alike: let them begin in one order */
        merging || begun_commits == me -> begun_commits = begun_commits + !merging;
        me = 0; floor[0] = acked[0]; floor[1] = acked[1]
    }
    d_step { mlo = lo; mhi = st }       /* _begin: a merge takes what is sealed, and seals nothing */
    if
    :: merging || (row[mhi * KEYS] == 0 && row[mhi * KEYS + 1] == 0) -> skip
    :: else -> d_step { st++; mlo = lo; mhi = st }              /* seal: CAS 1 */
    fi;
#ifdef CRASHES
    if :: goto ended :: skip fi;
#endif
again:
    atomic { h = head; l = lo; s = st } /* branches.fresh */
    if                                  /* trim(mine, sealed_tokens) */
    :: mlo < mhi && l >= mhi && !merging ->     /* Overlap.LATER: others committed all of ours */
        assert(tree[h * TREE] >= floor[0] && tree[h * TREE + 1] >= floor[1]);
        goto ended
#ifdef H7                               /* a merge leaves tokens sealed that came after its own */
    :: merging && l >= mhi -> atomic { mlo = l; mhi = l; has_tree = 0 }
#else
    :: merging && s != mhi -> atomic { mlo = l; mhi = s; has_tree = 0 } /* it takes them all */
#endif
    :: else
    fi;
    if
    :: has_tree && ((mlo < l && l < mhi) || h == base) -> skip  /* StagedTree.holds */
    :: else ->                          /* build: fold the tokens, apply them to the head's tree */
        if :: mlo < l && l < mhi -> mlo = l :: else fi;
        atomic {
            base = h; l = 0; s = 0; k = 0; t = mhi;
            made[0] = 0; made[1] = 0; made[MERGED] = tree[h * TREE + MERGED]
        }
        do                              /* one row a step; the head's tree never changes */
        :: atomic {
            k < KEYS ->
            if
            :: t > mlo -> t--; made[k] = row[t * KEYS + k]
            :: else
            fi;
            if
            :: made[k] == 0 && t <= mlo -> made[k] = tree[h * TREE + k]; k++; t = mhi
            :: made[k] != 0 -> k++; t = mhi
            :: else
            fi }
        :: atomic { k == KEYS -> k = 0; t = 0; break }
        od;
#ifdef H1                               /* the tree is believed whatever happened during the scan */
        has_tree = 1;
#else
        atomic {                        /* branches.fresh: did both stand still until now? */
            has_tree = (head == base && (lo == mlo || mlo == mhi));
            if
            :: has_tree
            :: else -> base = 0; made[0] = 0; made[1] = 0; made[MERGED] = 0
            fi
        }
#endif
        goto again
    fi;
    d_step {                            /* the oldest of mine that are still sealed: trim().left */
        gone = l;
#ifndef H10_LATE                        /* note_tokens, before the swap */
        i = l;
        do :: i < mhi -> noted[i] = 1; i++ :: else -> break od
#endif
    }
#ifdef CRASHES
    if :: goto ended :: skip fi;
#endif
    atomic {                            /* Chain.publish, swap: CAS 2 */
        if
        :: !(head == h && lo == l && st == s) -> goto again
        :: else
        fi;
        d_step {
            if :: mhi > l -> lo = mhi :: else fi;   /* trim().newer stays */
            if
            :: !merging && made[0] == tree[h * TREE] && made[1] == tree[h * TREE + 1] &&
               made[MERGED] == tree[h * TREE + MERGED] -> skip  /* no commit, but the tokens go */
            :: else ->
                commits++;              /* a merge and what it finished before are one step here */
#ifdef H6                               /* the parent is the head that the tree was built on */
                assert(base == commits - 1);
#else
                assert(h == commits - 1);       /* G15: no published commit leaves history */
#endif
                if :: merging -> made[MERGED] = 1; merge_acked = 1 :: else fi;
                i = 0;
                do
                :: i < TREE -> tree[commits * TREE + i] = made[i]; i++
                :: else -> break
                od;
                head = commits
            fi;
            nothing_is_lost();
            if                          /* G6 */
            :: merging
            :: else -> assert(tree[head * TREE] >= floor[0] && tree[head * TREE + 1] >= floor[1])
            fi
        }
    }
#ifdef H10_LATE                         /* notes after the swap: a crash between the two */
#ifdef CRASHES
    if :: goto ended :: skip fi;
#endif
    d_step {
        i = gone;
        do :: i < mhi -> noted[i] = 1; i++ :: else -> break od
    }
#endif
ended:
    atomic {                            /* what is no longer used tells no states apart */
        h = 0; l = 0; s = 0; mlo = 0; mhi = 0; base = 0; gone = 0; has_tree = 0; merging = 0;
        made[0] = 0; made[1] = 0; made[MERGED] = 0; floor[0] = 0; floor[1] = 0
    }
}

/* ------------------------------------------------------------------ refs/cleaner.py */
#ifdef H10_BLIND                        /* a note is believed without a look at the branch record */
#define IS_NAMED(t) false
#else
#define IS_NAMED(t) (lo <= t && t <= st)
#endif
#define CAN_SWEEP(t) (noted[t] && (row[t * KEYS] || row[t * KEYS + 1]) && !IS_NAMED(t))

proctype cleaner() {
    byte t;
end:
    do
    :: atomic { CAN_SWEEP(0) -> t = 0 } goto wipe
    :: atomic { CAN_SWEEP(1) -> t = 1 } goto wipe
#if COMMITTERS > 1
    :: atomic { CAN_SWEEP(2) -> t = 2 } goto wipe
#endif
#if COMMITTERS > 2
    :: atomic { CAN_SWEEP(3) -> t = 3 } goto wipe
#endif
    od;
wipe:
    row[t * KEYS] = 0;                  /* _wipe, row by row; the note outlives late writes */
    atomic { row[t * KEYS + 1] = 0; t = 0; d_step { nothing_is_lost() } }
    goto end
}

/* When nothing moves any more: no row lies under a token that neither branch nor note names. */
proctype quiescence() {
    byte t;
    timeout;
    d_step {
        nothing_is_lost();
        t = 0;
        do
        :: t < lo -> assert(noted[t] || (row[t * KEYS] == 0 && row[t * KEYS + 1] == 0)); t++
        :: else -> break
        od
    }
}

init {
    atomic {
        run writer();
#ifdef MERGE
        run mover(0, 1);
#endif
        byte n = 0;
        do :: n < COMMITTERS -> run mover(n, 0); n++ :: else -> break od;
#ifdef READER
        run reader();
#endif
#ifndef H7                              /* it is found sooner without */
        run cleaner();
#endif
#ifdef CRASHES
        run quiescence();
#endif
    }
}
