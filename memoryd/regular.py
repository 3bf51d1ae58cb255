"""Files that must not make their reader wait."""

from __future__ import annotations

import errno
import os
import stat
from io import FileIO


def open_regular(path: str) -> FileIO:
    """Open a file for reading, unbuffered, whatever else may stand at its name.

    A pipe would keep its reader waiting for a writer for ever.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), path)
    return FileIO(descriptor)
