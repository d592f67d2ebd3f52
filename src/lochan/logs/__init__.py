# SPDX-License-Identifier: Apache-2.0
"""What a server writes down: one JSON object a line, with the request's id and without secrets.

lines      one line is one write, at the end of a file
redact     what is taken out of everything that is logged
log        the log of events, and of the packages that use the standard library's
request    the id of the request that a thread works for
access     one line for each request
audit      who did what, apart from the rest
"""

from lochan.logs.access import AccessLog
from lochan.logs.audit import AuditLog
from lochan.logs.lines import Lines
from lochan.logs.log import Log, open_log
from lochan.logs.request import RequestScope, request_id

__all__ = ["AccessLog", "AuditLog", "Lines", "Log", "RequestScope", "open_log", "request_id"]
