"""A program that ends while a process that it has started goes on; its output is that process's id."""

import subprocess

print(subprocess.Popen(["sleep", "600"], stdout=subprocess.DEVNULL).pid, flush=True)  # noqa: T201
