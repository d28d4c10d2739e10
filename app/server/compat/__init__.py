"""Everything that depends on private names of a framework, with the version it was checked against."""
