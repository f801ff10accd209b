"""Writes a small ONNX model: the five protobuf messages a forward pass needs, and no more.

A graph written here at start-up lets the encoder read its weights as they were published and run them in
onnxruntime, without a converted copy of the weights and without importing a training framework.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

_FLOAT, _INT32 = 1, 6  # TensorProto.DataType
_VARINT, _BYTES, _FIXED32 = 0, 2, 5  # protobuf wire types


def node(
    operator: str,
    inputs: Sequence[str],
    outputs: Sequence[str],
    attributes: Mapping[str, int | float | list[int]] | None = None,
    domain: str = "com.microsoft",
) -> bytes:
    """A NodeProto; an empty input name leaves out an optional input."""
    body = [_text(1, name) for name in inputs] + [_text(2, name) for name in outputs] + [_text(4, operator)]
    for name, value in (attributes or {}).items():
        if isinstance(value, float):
            kind, content = 1, _key(2, _FIXED32) + struct.pack("<f", value)
        elif isinstance(value, list):
            kind, content = 7, b"".join(_number(8, item) for item in value)
        else:
            kind, content = 2, _number(3, value)
        body.append(_message(5, _text(1, name) + content + _number(20, kind)))
    return b"".join([*body, _text(7, domain)])


def model(
    nodes: Sequence[bytes],
    weights: Mapping[str, NDArray[np.float32]],
    token_input: str,
    output: str,
    width: int,
) -> bytes:
    """A ModelProto from int32 tokens (batch, length) to float32 rows (batch, width)."""
    graph: list[bytes] = [_message(1, item) for item in nodes]
    graph.append(_text(2, "encoder"))
    for name, value in weights.items():
        graph += _tensor(name, value)
    graph.append(_message(11, _value(token_input, _INT32, ("batch", "length"))))
    graph.append(_message(12, _value(output, _FLOAT, ("batch", width))))
    versions = (("", 17), ("com.microsoft", 1))
    operator_sets = b"".join(_message(8, _text(1, name) + _number(2, version)) for name, version in versions)
    # Joined once: the weights are most of the bytes, and every nesting level would copy them again.
    return b"".join([_number(1, 8), operator_sets, _opening(7, sum(map(len, graph))), *graph])


def _tensor(name: str, value: NDArray[np.float32]) -> list[bytes]:
    """An initializer of a GraphProto, its values apart from what stands before them."""
    content = np.ascontiguousarray(value, dtype="<f4").tobytes()
    dims = b"".join(_number(1, size) for size in value.shape)
    header = dims + _number(2, _FLOAT) + _text(8, name) + _opening(9, len(content))
    return [_opening(5, len(header) + len(content)) + header, content]


def _value(name: str, element: int, shape: Sequence[str | int]) -> bytes:
    dims = [_message(1, _number(1, size) if isinstance(size, int) else _text(2, size)) for size in shape]
    tensor = _number(1, element) + _message(2, b"".join(dims))
    return _text(1, name) + _message(2, _message(1, tensor))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _key(field: int, wire: int) -> bytes:
    return _varint(field << 3 | wire)


def _number(field: int, value: int) -> bytes:
    return _key(field, _VARINT) + _varint(value)


def _opening(field: int, length: int) -> bytes:
    return _key(field, _BYTES) + _varint(length)


def _message(field: int, content: bytes) -> bytes:
    return _opening(field, len(content)) + content


def _text(field: int, value: str) -> bytes:
    return _message(field, value.encode())
