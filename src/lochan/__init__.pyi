# What type checkers know of the two names that `__getattr__` finds.
from lochan.bootstrap.connected import connect as connect

__version__: str
