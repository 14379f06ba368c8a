"""What types and fields are for, in upstream's words: read from the docstrings of the package lightkube-models.

Only its text is read, never its code: importing it would load a client library, and one document needs a fraction of
it. The docstrings are wrapped; unwrapping them gives back the sentences, paragraphs and lists they were made from.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_WIDTH = 79
_CLASS = re.compile(r'^class (\w+)\(DictMixin\):\n    r"""(.*?)"""', re.MULTILINE | re.DOTALL)
_PARAMETERS = "\n\n      **parameters**\n\n"
_PARAMETER = re.compile(r"^      \* \*\*(\S+)\*\* ``.*?`` - ", re.MULTILINE)

# The package has no class for types whose JSON is not an object.
_VALUES: Mapping[str, str] = {
    "FieldsV1": "A set of fields as nested maps: f:<name> is a field, k:<keys> and v:<value> are list items.",
    "IntOrString": "A whole number or a string.",
    "JSON": "Any JSON value.",
    "JSONSchemaPropsOrArray": "A schema, or a list of schemas.",
    "JSONSchemaPropsOrBool": "A schema, or whether anything goes.",
    "JSONSchemaPropsOrStringArray": "A schema, or a list of property names.",
    "MicroTime": "A time in RFC 3339 form with six digits after the second.",
    "Patch": "The body of a PATCH request; its form is that of the request's content type.",
    "Quantity": "A decimal number, with n, u, m, k, M, G, T, P, E, Ki, Mi, Gi, Ti, Pi, Ei or an exponent after it.",
    "RawExtension": "An object of any kind.",
    "Time": "A time in RFC 3339 form.",
}


@dataclass(frozen=True, slots=True)
class Description:
    """What is said about a type: itself, and field by field. What is not said is missing."""

    text: str
    fields: Mapping[str, str]


class Descriptions:
    """Descriptions by the name of a shape. Keeps the files it has read: throw it away when a document is done."""

    def __init__(self) -> None:
        from importlib import metadata  # Slow to load, and not needed to start.

        self._folder = Path(str(metadata.distribution("lightkube-models").locate_file("lightkube/models")))
        self._modules: dict[str, dict[str, str]] = {}

    def of(self, name: str) -> Description:
        """What is said about `api.core.v1.Pod`; empty where nothing is."""
        area, version, kind = name.split(".")[-3:]
        docstring = self._docstrings(f"{area}_{version}").get(kind)
        if docstring is None:
            return Description(_VALUES.get(kind, ""), {})
        about, _, parameters = docstring.partition(_PARAMETERS)
        return Description(_unwrapped(about, 6), dict(_parameters(parameters)))

    def _docstrings(self, module: str) -> dict[str, str]:
        if module not in self._modules:
            path = self._folder / f"{module}.py"
            self._modules[module] = dict(_CLASS.findall(path.read_text())) if path.exists() else {}
        return self._modules[module]


def _parameters(text: str) -> Iterator[tuple[str, str]]:
    starts = list(_PARAMETER.finditer(text))
    ends = [start.start() for start in starts[1:]] + [len(text)]
    for start, end in zip(starts, ends, strict=True):
        yield _field_name(start[1]), _unwrapped(text[start.end() : end].rstrip(), 8)


def _field_name(attribute: str) -> str:
    """The JSON name behind a Python attribute: keywords got a `_` at the end, and dashes became one."""
    if attribute.startswith("x_kubernetes_"):
        return attribute.replace("_", "-")
    return attribute.removesuffix("_")


def _unwrapped(text: str, indent: int) -> str:
    """The text as it was before it was wrapped at `_WIDTH`, indented, and lost its empty lines.

    A line that could have taken the next one's first word ended on purpose: with its paragraph, or, if what follows is
    indented deeper, within a list.
    """
    last, *rest = text.rstrip().split("\n")
    unwrapped = last
    for line in (line[indent:] for line in rest):
        if not line:
            continue
        word = line.split(" ", 1)[0]
        if line.startswith((" ", "\t")) or (line.startswith(("- ", "* ")) and last.startswith(" ")):
            unwrapped += "\n"
        elif len(last) + 1 + len(word) < _WIDTH:
            unwrapped += "\n\n"
        else:
            unwrapped += " "
        unwrapped += line
        last = line
    return unwrapped
