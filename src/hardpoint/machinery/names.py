"""The forms that names, keys and other short strings must have.

Every function takes a value and returns what is wrong with it, in kube-apiserver's words; an empty list means that
nothing is. The functions below the line know the field too and return FieldErrors. Which kind follows which rule is
left to the callers. Addresses have a module of their own.

Every pattern is constant, and each of its characters can be read in one way only, so that no value is slow to judge.
Limits count bytes of UTF-8, whatever the message calls them.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from hardpoint.machinery.fielderrors import FieldError, invalid, required

DNS_LABEL_LENGTH_MAX = 63
DNS_SUBDOMAIN_LENGTH_MAX = 253
LABEL_LENGTH_MAX = 63
PORT_NAME_LENGTH_MAX = 15
INT32_MAX = 2**31 - 1

NON_EMPTY = "must be non-empty"


class Form(NamedTuple):
    """A pattern and the sentence about a value that does not match it."""

    pattern: re.Pattern[str]
    complaint: str

    def fits(self, value: str) -> bool:
        return self.pattern.fullmatch(value) is not None

    def problems(self, value: str) -> list[str]:
        return [] if self.pattern.fullmatch(value) else [self.complaint]


def form(words: str, pattern: str, *examples: str) -> Form:
    """A Form whose complaint ends as kube-apiserver's do: with examples and the pattern."""
    return Form(re.compile(pattern), pattern_complaint(words, pattern, *examples))


def pattern_complaint(words: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    told = f"e.g. {shown}" if examples else ""
    return f"{words} ({told}regex used for validation is '{pattern}')"


_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = rf"{_LABEL}(\.{_LABEL})*"
_UNDERSCORED = "_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
_KEY = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_KEY_WORDS = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)

DNS_LABEL = form(
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with"
    " an alphanumeric character",
    _LABEL,
    "my-name",
    "123-abc",
)
DNS_SUBDOMAIN = form(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and"
    " end with an alphanumeric character",
    _SUBDOMAIN,
    "example.com",
)
# Upstream tells the lower-case pattern here, although it matches without regard to case.
DNS_SUBDOMAIN_CASELESS = Form(
    re.compile(_SUBDOMAIN.replace("a-z", "A-Za-z")),
    pattern_complaint(
        "an RFC 1123 subdomain must consist of alphanumeric characters, '-' or '.', and must start and end with an"
        " alphanumeric character",
        _SUBDOMAIN,
        "Example.com",
    ),
)
DNS_SUBDOMAIN_UNDERSCORED = form(
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must"
    " start and end with an alphanumeric character",
    rf"{_UNDERSCORED}(\.{_UNDERSCORED})*",
    "example.com",
)
DNS_1035_LABEL = form(
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character,"
    " and end with an alphanumeric character",
    "[a-z]([-a-z0-9]*[a-z0-9])?",
    "my-name",
    "abc-123",
)
WILDCARD_DNS_SUBDOMAIN = form(
    "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower"
    " case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
    rf"\*\.{_SUBDOMAIN}",
    "*.example.com",
)
LABEL_KEY_NAME = form(_KEY_WORDS, _KEY, "MyName", "my.name", "123-abc")
LABEL_VALUE = form(
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and"
    " end with an alphanumeric character",
    f"({_KEY})?",
    "MyValue",
    "my_value",
    "12345",
)
C_IDENTIFIER = form(
    "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters"
    " or '_'",
    "[A-Za-z_][A-Za-z0-9_]*",
    "my_name",
    "MY_NAME",
    "MyName",
)
ENV_VAR_NAME = form(
    "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', or '.', and must not"
    " start with a digit",
    "[-._a-zA-Z][-._a-zA-Z0-9]*",
    "my.env-name",
    "MY_ENV.NAME",
    "MyEnvName1",
)
RELAXED_ENV_VAR_NAME = Form(
    re.compile("[ -<>-~]*"),
    "a valid environment variable name must consist only of printable ASCII characters other than '='",
)
CONFIG_MAP_KEY = form(
    "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
    "[-._a-zA-Z0-9]+",
    "key.name",
    "KEY_NAME",
    "key-name",
)
PERCENT = form(
    "a valid percent string must be a numeric string followed by an ending '%'",
    "[0-9]+%",
    "1%",
    "93%",
)
HTTP_HEADER_NAME = form(
    "a valid HTTP header must consist of alphanumeric characters or '-'",
    "[-A-Za-z0-9]+",
    "X-Header-Name",
)
HTTP_PATH = form("Invalid path", r"[A-Za-z0-9/\-._~%!$&'()*+,;=:]+")
DECIMAL_INTEGER = Form(re.compile("0|-?[1-9][0-9]*"), "must be a valid decimal integer in canonical form")

# Nearly all keys are good ones, and seen at a glance.
_SHORT_LABEL_KEY = re.compile(f"({_SUBDOMAIN}/)?{_KEY}")
_PORT_NAME_ALPHABET = re.compile("[-a-z0-9]+")
_LETTER = re.compile("[a-z]")


def length(value: str) -> int:
    """Bytes of UTF-8, as Go counts them."""
    return len(value) if value.isascii() else len(value.encode(errors="surrogatepass"))


def too_long(limit: int, unit: str = "characters") -> str:
    return f"must be no more than {limit} {unit}"


def out_of_range(low: int, high: int) -> str:
    return f"must be between {low} and {high}, inclusive"


def _limited(value: str, limit: int, rule: Form, unit: str = "characters") -> list[str]:
    # What fits is ASCII: it has as many bytes as characters.
    if len(value) <= limit and rule.pattern.fullmatch(value):
        return []
    found = [too_long(limit, unit)] if length(value) > limit else []
    return found + rule.problems(value)


def dns_subdomain(value: str) -> list[str]:
    return _limited(value, DNS_SUBDOMAIN_LENGTH_MAX, DNS_SUBDOMAIN)


def dns_subdomain_caseless(value: str) -> list[str]:
    return _limited(value, DNS_SUBDOMAIN_LENGTH_MAX, DNS_SUBDOMAIN_CASELESS, "bytes")


def dns_subdomain_underscored(value: str) -> list[str]:
    return _limited(value, DNS_SUBDOMAIN_LENGTH_MAX, DNS_SUBDOMAIN_UNDERSCORED)


def wildcard_dns_subdomain(value: str) -> list[str]:
    return _limited(value, DNS_SUBDOMAIN_LENGTH_MAX, WILDCARD_DNS_SUBDOMAIN)


def dns_label(value: str) -> list[str]:
    """RFC 1123. A subdomain where a label is wanted is told about its dots only."""
    found = _limited(value, DNS_LABEL_LENGTH_MAX, DNS_LABEL)
    if found and found[-1] is DNS_LABEL.complaint and DNS_SUBDOMAIN.fits(value):
        found[-1] = "must not contain dots"
    return found


def dns_1035_label(value: str) -> list[str]:
    return _limited(value, DNS_LABEL_LENGTH_MAX, DNS_1035_LABEL)


def without_trailing_dash(prefix: str) -> str:
    """A generateName as the rule for names should see it: what will be appended makes a last dash legal.

    Upstream drops the character before the dash too, so that is what its messages and limits are about.
    """
    return prefix[:-2] + "a" if len(prefix) > 1 and prefix.endswith("-") else prefix


def label_key(value: str) -> list[str]:
    """A qualified name: the key of a label or annotation, with or without a DNS subdomain and a slash before it."""
    if len(value) <= LABEL_LENGTH_MAX and _SHORT_LABEL_KEY.fullmatch(value):
        return []
    prefix, slash, name = value.rpartition("/")
    if "/" in prefix:
        return [
            f"a valid label key {LABEL_KEY_NAME.complaint} with an optional DNS subdomain prefix and '/'"
            " (e.g. 'example.com/MyName')"
        ]
    found = []
    if slash:
        wrong = _limited(prefix, DNS_SUBDOMAIN_LENGTH_MAX, DNS_SUBDOMAIN, "bytes") if prefix else [NON_EMPTY]
        found += [f"prefix part {problem}" for problem in wrong]
    if not name:
        found.append(f"name part {NON_EMPTY}")
    return found + [f"name part {problem}" for problem in _limited(name, LABEL_LENGTH_MAX, LABEL_KEY_NAME, "bytes")]


qualified_name = label_key


def prefixed_label_key(value: str) -> list[str]:
    found = label_key(value)
    if not found and "/" not in value:
        found.append("must include a prefix (e.g. 'example.com/key')")
    return found


def label_value(value: str) -> list[str]:
    return _limited(value, LABEL_LENGTH_MAX, LABEL_VALUE, "bytes")


def path_segment(value: str) -> list[str]:
    """The least that any name must be: one segment of a URL's path."""
    return [f"may not be '{value}'"] if value in (".", "..") else path_segment_prefix(value)


def path_segment_prefix(value: str) -> list[str]:
    return [f"may not contain '{character}'" for character in "/%" if character in value]


def port_name(value: str) -> list[str]:
    found = [too_long(PORT_NAME_LENGTH_MAX)] if length(value) > PORT_NAME_LENGTH_MAX else []
    if not _PORT_NAME_ALPHABET.fullmatch(value):
        found.append("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)")
    if not _LETTER.search(value):
        found.append("must contain at least one letter (a-z)")
    if "--" in value:
        found.append("must not contain consecutive hyphens")
    if value.startswith("-") or value.endswith("-"):
        found.append("must not begin or end with a hyphen")
    return found


def in_range(value: int, low: int, high: int) -> list[str]:
    return [] if low <= value <= high else [out_of_range(low, high)]


def port_number(value: int) -> list[str]:
    return in_range(value, 1, 65535)


def user_id(value: int) -> list[str]:
    return in_range(value, 0, INT32_MAX)


def group_id(value: int) -> list[str]:
    return in_range(value, 0, INT32_MAX)


def c_identifier(value: str) -> list[str]:
    return C_IDENTIFIER.problems(value)


def env_var_name(value: str) -> list[str]:
    return ENV_VAR_NAME.problems(value) + _leaves_its_folder(value)


def relaxed_env_var_name(value: str) -> list[str]:
    """What v1.34 and later ask of the name of a container's variable."""
    return RELAXED_ENV_VAR_NAME.problems(value) if value else [f"environment variable name {NON_EMPTY}"]


def config_map_key(value: str) -> list[str]:
    return _limited(value, DNS_SUBDOMAIN_LENGTH_MAX, CONFIG_MAP_KEY) + _leaves_its_folder(value)


def _leaves_its_folder(value: str) -> list[str]:
    """Keys become file names, so none may climb out of the folder they are written to."""
    if value in (".", ".."):
        return [f"must not be '{value}'"]
    return ["must not start with '..'"] if value.startswith("..") else []


def percent(value: str) -> list[str]:
    return PERCENT.problems(value)


def http_header_name(value: str) -> list[str]:
    return HTTP_HEADER_NAME.problems(value)


def decimal_integer(value: str) -> list[str]:
    return DECIMAL_INTEGER.problems(value) if value else [NON_EMPTY]


# ---- Rules that tell which part of the value is wrong, and so need the field.


def fully_qualified_name(field: str, value: str) -> list[FieldError]:
    """A DNS subdomain of three segments or more."""
    if not value:
        return [required(field)]
    if found := dns_subdomain(value):
        return [invalid(field, value, ",".join(found))]
    if value.count(".") < 2:
        return [invalid(field, value, "should be a domain with at least three segments separated by dots")]
    return []


def fully_qualified_domain_name(field: str, value: str) -> list[FieldError]:
    """A DNS subdomain of two labels or more; a last dot is allowed."""
    if not value:
        return [required(field)]
    value = value.removesuffix(".")
    if found := dns_subdomain(value):
        return [invalid(field, value, ",".join(found))]
    if "." not in value:
        return [invalid(field, value, "should be a domain with at least two segments separated by dots")]
    for label in value.split("."):
        if found := dns_label(label):
            return [invalid(field, label, ",".join(found))]
    return []


def domain_prefixed_path(field: str, value: str) -> list[FieldError]:
    """`example.com/any/path`: finalizers, signer names, managedBy."""
    if not value:
        return [required(field)]
    host, _, path = value.partition("/")
    if not host or not path:
        return [invalid(field, value, 'must be a domain-prefixed path (such as "acme.io/foo")')]
    found = [invalid(field, host, problem) for problem in dns_subdomain(host)]
    return found + [invalid(field, path, problem) for problem in HTTP_PATH.problems(path)]


def domain_prefixed_key(field: str, value: str) -> list[FieldError]:
    """`example.com/key`: a label key that must have its prefix."""
    if not value:
        return [required(field)]
    found = [invalid(field, value, problem) for problem in label_key(value)]
    if not found and "/" not in value:
        found.append(invalid(field, value, 'must be a domain-prefixed key (such as "acme.io/foo")'))
    return found
