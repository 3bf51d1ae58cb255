"""Secrets and private passages out of text, before it goes anywhere. Pure."""

from memoryd.redaction.private import strip_private
from memoryd.redaction.scan import clean, redact

__all__ = ["clean", "redact", "strip_private"]
