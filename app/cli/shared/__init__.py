"""What several commands share: options, output, scenario files, signals. It imports no command."""
