"""What depends on private names or unspecified behaviour of a framework, one subject per module.

Each module names the version that it was checked against, and the upstream issue or the public option that would make
it unnecessary.
"""
