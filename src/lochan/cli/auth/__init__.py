# SPDX-License-Identifier: Apache-2.0
"""`lochan auth`: who may do what, and as whom this machine asks.

users, credentials    people and programs, and the keys that they have
groups                users together
policies              what is allowed and denied
login                 whoami, and the key that this machine uses
"""

from lochan.cli.auth import credentials, groups, login, policies, users
from lochan.cli.verb import new_app

app = new_app("Users, groups, policies, credentials, and as whom this machine asks.")
app.add_typer(users.app, name="users")
app.add_typer(groups.app, name="groups")
app.add_typer(policies.app, name="policies")
app.add_typer(credentials.app, name="credentials")
app.add_typer(login.app)
