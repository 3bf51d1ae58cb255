"""Having the service started by itself: units, the user's service manager, what was installed."""
