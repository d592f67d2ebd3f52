# SPDX-License-Identifier: Apache-2.0
"""Random snapshots and changes to them, and how many of them a run tries."""

import os

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from lochan.committed import Cuts
from support.record_strategies import Rows, few

# The campaigns and the run on the twin try more and fewer: `python -m pytest` with this set.
SCALE = "LOCHAN_TEST_SCALE"

odd_keys = [b"", b"\x00", b"a\x00", b"a\xff", b"a\xff\xff", b"\xff", b"\xff\xff", b"\xff/"]
keys = st.one_of(st.text("ab/", max_size=5).map(str.encode), st.sampled_from(odd_keys))
values = st.integers(0, 60).map(lambda size: b"v" * size)
kept = st.tuples(few, values)
kept_or_removed = st.tuples(st.one_of(few, st.just(b"")), values)

# Hypothesis likes small dictionaries, and a tree of one range shows little: ask for large ones too.
trees: st.SearchStrategy[Rows] = st.one_of(
    st.dictionaries(keys, kept, max_size=6),
    st.dictionaries(keys, kept, min_size=20, max_size=60),
)
changes: st.SearchStrategy[Rows] = st.one_of(
    st.dictionaries(keys, kept_or_removed, max_size=4),
    st.dictionaries(keys, kept_or_removed, min_size=8, max_size=30),
)
# Mostly hash cuts; hash and size cuts mixed; size cuts alone; a range for every record; one range.
cuts = st.sampled_from(
    [Cuts(3, 10_000), Cuts(5, 150), Cuts(1_000_000, 90), Cuts(1, 1), Cuts(1_000_000, 1_000_000)]
)
places = st.lists(st.integers(0, 30), max_size=3)


def examples(count: int) -> settings:
    """Try so many examples, as scaled for this run."""
    scaled = max(1, round(count * float(os.environ.get(SCALE, "1"))))
    unhurried = [HealthCheck.too_slow, HealthCheck.data_too_large]
    return settings(max_examples=scaled, deadline=None, suppress_health_check=unhurried)
