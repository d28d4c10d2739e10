"""`python -m assignors.simulation.checklist` prints docs/stories.md."""

import sys

from assignors.simulation.checklist.document import markdown

sys.stdout.write(markdown())
