#!/bin/sh
# Generates the Python modules of the .proto files under src/hardpoint, next to them. Run it after editing one.
set -e
cd "$(dirname "$0")/.."
python="${PYTHON:-.venv/bin/python}"
find src/hardpoint -name '*.proto' -exec "$python" -m grpc_tools.protoc -I src --python_out=src --pyi_out=src {} +
# The generator leaves Mapping without its parameters, which mypy --strict refuses.
find src/hardpoint -name '*_pb2.pyi' -exec sed -i 's/_Mapping\]/_Mapping[str, object]]/g' {} +
