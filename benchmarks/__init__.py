"""Our figures beside the peers', measured in one run on one machine: `make bench`."""
