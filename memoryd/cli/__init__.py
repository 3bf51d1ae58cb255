"""The commands ``memoryd`` and ``memoryctl``."""
