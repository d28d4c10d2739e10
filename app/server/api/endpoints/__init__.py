"""The endpoints, a module for each subject."""
