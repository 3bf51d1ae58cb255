"""What a session is about, in few words: its rolling summary. Pure."""
