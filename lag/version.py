"""The version of this package.

It is read once: reading it searches `sys.path`, and while another thread changes that, a package may not be found.
"""

from importlib.metadata import version

VERSION = version("groupscope")
