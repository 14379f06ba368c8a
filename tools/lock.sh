#!/bin/sh
# Pins every dependency, with hashes, into requirements/*.lock.
set -e
cd "$(dirname "$0")/.."
compile() {
  uv pip compile --quiet --upgrade pyproject.toml --universal --python-version 3.11 --generate-hashes \
    --no-emit-index-url --no-header --extra etcd --extra telemetry "$@"
}
compile -o requirements/run.lock
compile --group dev -o requirements/dev.lock
compile --group dev --group interop -o requirements/interop.lock
compile --group docs -o requirements/docs.lock
