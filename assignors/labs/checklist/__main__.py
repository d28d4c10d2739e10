"""`python -m assignors.labs.checklist` prints docs/stories.md."""

import sys

from assignors.labs.checklist.document import markdown

sys.stdout.write(markdown())
