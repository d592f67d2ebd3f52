# SPDX-License-Identifier: Apache-2.0
"""What goes over the wire of the REST API: bodies, answers and query parameters, as types.

The server decodes and encodes with them, the client the other way round, and the OpenAPI document
is made from them, so the three cannot drift apart. One file a resource. Nothing here acts, and
nothing here knows how a lake is stored.

Names and fields are lakeFS's. The rules that hold for all of them:

- An optional field without a value is left out, as lakeFS leaves it out, and never written as null.
  A struct with `omit_defaults` leaves out what equals its default; what must always be written has
  no default there.
- Unknown fields of lakeFS's bodies are passed over: clients are older or newer than we are. Our own
  shapes (`pfs`, `clocks`) refuse them.
- A struct whose name ends in Query is the set of query parameters of one route. It is read with
  `msgspec.convert(..., strict=False)`: every value is text; a field whose type is a tuple takes the
  parameter as often as it is there.
- Constraints are those that can be told from the value alone and in the words of JSON Schema. What
  a name may be in full is said by `lochan.model.ids`, which judges again.
"""
