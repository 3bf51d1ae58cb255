"""Looking for everything that can be wrong on a machine, with or without the service."""
