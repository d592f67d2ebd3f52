# SPDX-License-Identifier: Apache-2.0
"""The server's edge: HTTP requests in, stories called, answers out.

    adapter      Granian's RSGI to WSGI; the only asynchronous file
    environ      what a WSGI application is told of a request, raw header names included
    route        what a route declares: address, permission, shapes, answers
    call         one request as a handler sees it
    serve_call   from request to answer: authenticate, validate, permit, handle, log
    audit        what is written down of who did what
    application  all routes joined into one Falcon application
    openapi      the description of all routes, made from their declarations
    api/         the REST routes, one file a resource
    hdfs/        the lake as a Hadoop file system
    wire/        HTTP by plain threads, for addresses beside the main one
    beside       what is served at those

Nothing here decides about data: handlers translate, `operations` and `access` decide.
"""
