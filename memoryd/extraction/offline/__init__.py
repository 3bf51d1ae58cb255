"""The provider without a network: what a person asks to keep, read by rule, English and Chinese."""

from __future__ import annotations

from memoryd.extraction.offline.provider import Findings, examine, propose
from memoryd.extraction.offline.reading import is_request

__all__ = ["Findings", "examine", "is_request", "propose"]
