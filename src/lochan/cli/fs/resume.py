# SPDX-License-Identifier: Apache-2.0
"""Large objects by pieces: a download that broke off goes on where it was.

What has come lies in `.<name>.<checksum>.part` beside the file. The name holds the checksum, so
that pieces of an object that was replaced are never put together with those of its successor. The
file appears whole, and after its checksum is right where that is an MD5.
"""

import re
from pathlib import Path
from typing import Final

from lochan.cli.files import checksum_of
from lochan.client.content import Progress
from lochan.client.stored_object import StoredObject
from lochan.errors import Unavailable

FROM_BYTES: Final = 32 << 20
_PIECE: Final = 8 << 20
_MD5: Final = re.compile(r"[0-9a-f]{32}")


def download_by_pieces(source: StoredObject, target: Path, progress: Progress) -> int:
    """Download a large object, and give its size. Raises Unavailable, Conflict."""
    reader = source.reader()
    checksum, total = reader.stats.checksum, reader.stats.size_bytes or 0
    target.parent.mkdir(parents=True, exist_ok=True)
    mark = re.sub(r"[^0-9A-Za-z-]", "", checksum)[:64]
    part = target.with_name(f".{target.name[:150]}.{mark}.part")
    with part.open("ab") as file:
        if (done := file.tell()) > total:
            done = file.truncate(0)
        progress(done, total)
        while done < total:
            piece = reader.fetch(done, min(done + _PIECE, total))
            file.write(piece)
            done += len(piece)
            progress(done, total)
    if _MD5.fullmatch(checksum) and checksum_of(part) != checksum:
        part.unlink()
        raise Unavailable(f"{source.uri} arrived damaged; try again", code="damaged-download")
    part.replace(target)
    return total
