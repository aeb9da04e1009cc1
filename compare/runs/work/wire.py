"""Wire: rows as bytes, for a pipe between two processes."""

from __future__ import annotations

import pyarrow as pa


def to_bytes(rows: pa.RecordBatch) -> bytes:
    """Return rows as a stream of Arrow, without what a slice leaves out."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, rows.schema) as stream:
        stream.write_batch(rows)
    return bytes(sink.getvalue())


def of_bytes(data: bytes) -> pa.RecordBatch:
    """Return the rows of :func:`to_bytes`."""
    with pa.ipc.open_stream(data) as stream:
        return stream.read_next_batch()
