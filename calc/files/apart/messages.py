"""Messages between a reader and its processes: pickles that share the catalogs."""

import io
import pickle
import socket
from dataclasses import fields
from typing import Any

from calc.catalogs.load import Catalogs
from calc.mappings import Json

LENGTH_BYTES = 8
NOT_SHARED = (str, int, type(None))


def pack(value: Any, catalogs: Catalogs | None = None) -> bytes:
    """The pickle of a value; the catalogs and their tables are named in it, not copied."""
    stream = io.BytesIO()
    _Packer(stream, catalogs).dump(value)
    return stream.getvalue()


def unpack(content: bytes, catalogs: Catalogs | None = None) -> Any:
    """The value of a pickle, with these catalogs and tables where it names them."""
    return _Unpacker(io.BytesIO(content), catalogs).load()


class _Packer(pickle.Pickler):
    def __init__(self, stream: Any, catalogs: Catalogs | None) -> None:
        super().__init__(stream, pickle.HIGHEST_PROTOCOL)
        self.names = {id(catalogs): ""} if catalogs else {}
        if catalogs:
            tables = {name: getattr(catalogs, name) for name in _names()}
            self.names |= {
                id(table): name
                for name, table in tables.items()
                if not isinstance(table, NOT_SHARED)
            }

    def persistent_id(self, value: Any) -> str | None:
        """The name of a shared table, empty for the catalogs themselves; None for the rest."""
        return self.names.get(id(value))

    def reducer_override(self, value: Any) -> Any:
        """Other catalogs as their fields, without the results that were made with them."""
        if isinstance(value, Catalogs):
            return _catalogs, ({name: getattr(value, name) for name in _names()},)
        return NotImplemented


class _Unpacker(pickle.Unpickler):
    def __init__(self, stream: Any, catalogs: Catalogs | None) -> None:
        super().__init__(stream)
        self.catalogs = catalogs

    def persistent_load(self, name: str) -> Any:
        """The shared table of a name."""
        return getattr(self.catalogs, name) if name else self.catalogs


def _names() -> list[str]:
    return [field.name for field in fields(Catalogs) if field.init]


def _catalogs(values: Json) -> Catalogs:
    return Catalogs(**values)


def send(connection: socket.socket, content: bytes) -> None:
    """Send a message with its length before it."""
    connection.sendall(len(content).to_bytes(LENGTH_BYTES) + content)


def receive(connection: socket.socket) -> bytes:
    """The next message; raises EOFError where the other side ends before it is complete."""
    return _exactly(connection, int.from_bytes(_exactly(connection, LENGTH_BYTES)))


def _exactly(connection: socket.socket, size_bytes: int) -> bytes:
    """Read this many bytes of a connection; raises EOFError where it ends before."""
    content = bytearray()
    while len(content) < size_bytes:
        block = connection.recv(min(size_bytes - len(content), 2**20))
        if not block:
            raise EOFError
        content += block
    return bytes(content)
