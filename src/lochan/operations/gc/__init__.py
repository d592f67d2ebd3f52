# SPDX-License-Identifier: Apache-2.0
"""Collect garbage: find the objects that nothing shows any more, and remove them, twice sure.

        list      every object under data/, first of all: what comes later is no candidate
        mark      what is staged, then what commits hold, then the log of copies (H19)
        condemn   an object that is old and not marked is written down, and nothing else is done
        remove    what was condemned a grace ago, and is found dead again, goes to the trash
        empty     what has been in the trash for a grace, and is not marked even now, goes for good

A grace lies between the two looks, and no story takes that long. So a story that was on its way at
the first look is over at the second one, where what it has made is seen. And a story that begins
after the first look finds nothing to bring back: an object that was dead is named by no row, and
every commit that shows it is marked as expired, on which nobody builds (`lochan.refs.expired`); one
that a late story has made since is marked, too, and then the object waits anew. What is handed over
by address or as a tree is looked at first (`still_there`, `tree_objects`). So what is dead stays
dead. This is why a mark may miss what moves while it looks, without harm, and why nothing here
takes a lock that a writer would feel.

Whatever cannot be read ends a run before anything is removed: a tree that is missing is not empty.
Objects outside of data/, imported ones among them, are never touched, nor is metadata.

Reading order: expiry (which commits rules keep), roots, marks (the objects of a range, remembered),
mark, listing, condemned, trash, lease, abandoned (branches that were left behind), collect (a run),
empty, undo; then held, still_there, tree_objects, sweeping: what others ask. docs/formats/gc.md.
"""
