"""The running service: everything is put together here."""
