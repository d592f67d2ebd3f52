# SPDX-License-Identifier: Apache-2.0
"""The lake as a Hadoop file system: what a stock WebHDFS client calls (docs/webhdfs.md).

    /webhdfs/v1/<repository>/<ref>/<path>?op=<OPERATION>

So `lochan://host:port/repository/ref/path` works wherever Hadoop's own client does, such as in
Spark, with `fs.lochan.impl=org.apache.hadoop.hdfs.web.WebHdfsFileSystem` and nothing installed.

    door          from an address and its `op` to a responder
    operation     what an operation declares, and what all answers have in common
    failure       errors as Java's
    place, look   what a path names, and what is there
    the others    one verb each
"""

from lochan.web.hdfs import (
    answers,
    create_file,
    delete,
    list_batch,
    list_status,
    make_directories,
    open_file,
    rename,
    status,
    summary,
)
from lochan.web.hdfs.operation import Operation

OPERATIONS: tuple[Operation, ...] = (
    *status.OPERATIONS,
    *list_status.OPERATIONS,
    *list_batch.OPERATIONS,
    *summary.OPERATIONS,
    *open_file.OPERATIONS,
    *create_file.OPERATIONS,
    *rename.OPERATIONS,
    *delete.OPERATIONS,
    *make_directories.OPERATIONS,
    *answers.OPERATIONS,
)
