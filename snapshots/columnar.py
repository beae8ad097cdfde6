"""How a Parquet file is opened: by Arrow itself, never through a Python file.

Arrow reads in threads of its own, and such a thread gives a Python file's buffers back only with the interpreter's lock.
Where the process ends in that moment, Python ends the thread and the C++ library the process: an abort after a whole answer.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyarrow import parquet as parquet_type


@contextmanager
def parquet_file(path: Path, **options: Any) -> Generator[parquet_type.ParquetFile, None, None]:
    """Open a Parquet file for reading.

    Args:
        path: the file.
        options: what ``pyarrow.parquet.ParquetFile`` takes.

    Raises:
        FileNotFoundError: there is none.
        OSError: it cannot be read, is a directory, or is no Parquet.
        pyarrow.ArrowException: it is damaged.
    """
    import pyarrow as pa
    from pyarrow import parquet

    with pa.OSFile(os.fsencode(path)) as file:
        yield parquet.ParquetFile(file, **options)
