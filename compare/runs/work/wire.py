"""Wire: rows as bytes, for a pipe between two processes."""

from __future__ import annotations

import pyarrow as pa

from groups.columnar.layout import joined


def to_bytes(*rows: pa.RecordBatch, schema: pa.Schema | None = None) -> bytes:
    """Return rows as a stream of Arrow, without what a slice leaves out.

    Parameters
    ----------
    schema : needed where there are no rows
    """
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema or rows[0].schema) as stream:
        for batch in rows:
            stream.write_batch(batch)
    return bytes(sink.getvalue())


def of_bytes(data: bytes) -> pa.RecordBatch:
    """Return the rows of :func:`to_bytes` as one batch."""
    with pa.ipc.open_stream(data) as stream:
        return joined(stream, stream.schema)
