# SPDX-License-Identifier: Apache-2.0
"""`lochan fs`: objects are listed, read, written, copied and deleted.

listing     ls, du, stat
content     cat, presign, stage
moves       cp, mv, rm
upload      files of this machine to a branch
download    objects to files of this machine
resume      large objects, taken up where a download broke off
"""

from lochan.cli.fs import content, download, listing, moves, upload
from lochan.cli.verb import new_app

app = new_app("List, read, write, copy and delete objects.")
for part in (listing, content, moves, upload, download):
    app.add_typer(part.app)
