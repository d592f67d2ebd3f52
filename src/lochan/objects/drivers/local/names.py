# SPDX-License-Identifier: Apache-2.0
"""Addresses to file names and back, such that no address can reach out of the root.

    address                                  file under the root
    data/1fq0.../0h3k....csv.gz              data/1fq0.../0h3k....csv.gz
    _lakefs/3b5d...                          _lakefs/3b5d...
    a/b                                      ~keys/a~s/b
    a                                        ~keys/a
    a//..                                    ~keys/a~s/~n~s/~2e.

An address is split at slashes. Each segment becomes a name by these rules:

1. Bytes of its UTF-8 that are letters, digits or one of `_-.,=%+` or a blank stand for themselves,
   but a dot in front does not. Every other byte is `~` and two hex digits. Where the file system
   does not tell capital letters from small ones, capital letters are escaped as well.
2. The empty segment is `~n` (nothing).
3. Outside the trees, a folder's name ends in `~s` (slash), so that `a` and `a/b` can both be
   objects.
4. A name is cut after the first byte at which it has 180 characters or more. What stands before the
   cut is a folder whose name ends in `~m` (more), and what follows is a name in that folder, `~n`
   when nothing follows. The cut depends only on what stands before it; therefore all segments that
   begin alike lie in the same folder, and names sort as segments do.

`~` is followed by two hex digits or by one of n, s, m, k; so the names are injective, and a name
that these rules would not give (a file that somebody else put there) has no address.

The trees, `data/`, `_lakefs/` and `_work/`, are where others read and write files by physical path:
there rule 3 is left out, and a segment of common characters is its own name. The price is that in a
tree an address cannot be both an object and the folder of others; such a put is refused.

Names are at most 184 bytes, and paths can be longer than the system's limit for a path; therefore
files are reached folder by folder, never by a joined path, except where a caller asks for one.
"""

import re
from typing import NamedTuple

TREES = frozenset({"data", "_lakefs", "_work"})
KEYS = "~keys"  # the folder of all addresses outside the trees
PRIVATE = ".lochan"  # the driver's own folder; no name begins with a dot

_CUT = 180
_NOTHING = "~n"
_SLASH = "~s"
_MORE = "~m"
_ESCAPED = re.compile(r"~([0-9a-f]{2})")


class Place(NamedTuple):
    """Where an object lies: the folders from the root, then the file."""

    folders: tuple[str, ...]
    file: str


class Item(NamedTuple):
    """What a name in a folder stands for.

    `text` continues the address of the folder; a folder's text ends in the slash, unless it holds
    the rest of names that were cut.
    """

    text: bytes
    is_folder: bool


class Names:
    """The rules above, for a file system that keeps capital letters apart or not."""

    def __init__(self, *, folds_case: bool) -> None:
        """Escape capital letters if the file system folds them."""
        letters = "a-z" if folds_case else "A-Za-z"
        self._plain = re.compile(rf"[{letters}0-9_\-,=%+ ][{letters}0-9_\-.,=%+ ]*\Z")
        plain = re.compile(rf"[{letters}0-9_\-.,=%+ ]".encode())
        self._escapes = [
            chr(byte) if plain.match(bytes([byte])) else f"~{byte:02x}" for byte in range(256)
        ]

    def place(self, address: str) -> Place:
        """Say where the object of an address lies."""
        *segments, last = address.split("/")
        in_tree = bool(segments) and segments[0] in TREES
        folders: list[str] = [] if in_tree else [KEYS]
        end = "" if in_tree else _SLASH
        for segment in segments:
            folders.append(self._add(folders, segment) + end)
        file = self._add(folders, last)
        return Place(tuple(folders), file)

    def read(self, name: str, *, is_folder: bool, in_tree: bool) -> Item | None:
        """Say what a name found in a folder stands for; None when these rules do not give it."""
        if not is_folder:
            text = self._text(name)
            return None if text is None else Item(text, is_folder=False)
        if name.endswith(_MORE):
            text = self._text(name.removesuffix(_MORE), is_cut=True)
            return None if text is None else Item(text, is_folder=True)
        if not in_tree and not name.endswith(_SLASH):
            return None
        text = self._text(name if in_tree else name.removesuffix(_SLASH))
        return None if text is None else Item(text + b"/", is_folder=True)

    def _add(self, folders: list[str], segment: str) -> str:
        """Write a segment as a name; what is cut off goes to the folders."""
        if len(segment) < _CUT and self._plain.match(segment):
            return segment
        name = ""
        for byte in segment.encode():
            name += "~2e" if byte == ord(".") and not name else self._escapes[byte]
            if len(name) >= _CUT:
                folders.append(f"{name}{_MORE}")
                name = ""
        return name or _NOTHING

    def _text(self, name: str, *, is_cut: bool = False) -> bytes | None:
        """Read a name without its ending, and make sure that it is the one we would write."""
        if name == _NOTHING:
            return None if is_cut else b""
        if len(name) < _CUT and not is_cut and self._plain.match(name):
            return name.encode()
        if not name or not name.isascii():
            return None
        text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), name).encode("latin-1")
        written, first = "", True
        for byte in text:
            if len(written) >= _CUT:
                return None
            written += "~2e" if byte == ord(".") and first else self._escapes[byte]
            first = False
        is_long = len(written) >= _CUT
        is_ours = written == name and is_long == is_cut and b"/" not in text
        return text if is_ours else None
