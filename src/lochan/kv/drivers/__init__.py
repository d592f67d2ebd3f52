# SPDX-License-Identifier: Apache-2.0
"""The KV stores that Lochan brings along, each reached by its entry point only.

    memory.py        a sorted map; for tests, the simulator and throw-away lakes
    sqlite.py        the default: one durable file, shared by the processes of one machine
      sqlite_file.py     making, recognising and refusing files
      sqlite_turn.py     one process writes at a time
      sqlite_writer.py   many threads' writes in one transaction and one fsync
    postgres.py      one table in a database that a team runs, shared by many servers
      postgres_schema.py   making and recognising that table
      postgres_call.py     what each failure of a statement proves

A driver counts when the suite of `lochan.testing.kv` passes against the real server.
"""
