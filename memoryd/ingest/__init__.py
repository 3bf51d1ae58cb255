"""Transcript files on the disk to rows and jobs in the database."""
