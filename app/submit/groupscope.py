"""`spark-submit [options] .../groupscope.py pipeline stream ...`: the command, for spark-submit to run.

It takes a program for Python only when its name ends in `.py`. The folder is the program's own: Python looks for
modules there first, and beside this one there is none to be mistaken for another.
"""

from app.cli import main

if __name__ == "__main__":
    main()
