from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hardpoint.machinery import names

SUBDOMAIN = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and"
    " end with an alphanumeric character (e.g. 'example.com', regex used for validation is"
    r" '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)
LABEL = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with"
    " an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is"
    " '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
)
KEY = (
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
    " (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is"
    " '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)

GOOD: list[tuple[Callable[[str], list[str]], list[str]]] = [
    (names.dns_subdomain, ["a", "a.b", "1-2.c", "a" * 253]),
    (names.dns_subdomain_caseless, ["A.b"]),
    (names.dns_subdomain_underscored, ["_a.b_c"]),
    (names.wildcard_dns_subdomain, ["*.a", "*.example.com"]),
    (names.dns_label, ["a", "0", "a-b", "a" * 63]),
    (names.dns_1035_label, ["a", "a-1"]),
    (names.label_key, ["a", "A_b.c-1", "example.com/a", "a/" + "b" * 63]),
    (names.prefixed_label_key, ["example.com/a"]),
    (names.label_value, ["", "a", "A_b.c-1", "a" * 63]),
    (names.path_segment, ["", "a:b", "...", "A B"]),
    (names.port_name, ["a", "http", "1-a"]),
    (names.c_identifier, ["_", "a1"]),
    (names.env_var_name, ["A", "-.a", "_"]),
    (names.relaxed_env_var_name, ["A", "1", "a b", "~", "{}"]),
    (names.config_map_key, ["a", ".a", "x.."]),
    (names.percent, ["0%", "100%"]),
    (names.http_header_name, ["X-A", "-"]),
    (names.decimal_integer, ["0", "-1", "10"]),
]

BAD: list[tuple[Callable[[str], list[str]], str, list[str]]] = [
    (names.dns_subdomain, "A", [SUBDOMAIN]),
    (names.dns_subdomain, "", [SUBDOMAIN]),
    (names.dns_subdomain, "a\n", [SUBDOMAIN]),
    (names.dns_subdomain, "a..b", [SUBDOMAIN]),
    (names.dns_subdomain, "a" * 254, ["must be no more than 253 characters"]),
    (names.dns_subdomain, "é" * 127, ["must be no more than 253 characters", SUBDOMAIN]),
    (names.dns_label, "A", [LABEL]),
    (names.dns_label, "a.b", ["must not contain dots"]),
    (names.dns_label, "a" * 64, ["must be no more than 63 characters"]),
    (names.label_key, "", ["name part must be non-empty", f"name part {KEY}"]),
    (names.label_key, "/a", ["prefix part must be non-empty"]),
    (names.label_key, "A/a", [f"prefix part {SUBDOMAIN}"]),
    (names.label_key, "b" * 64, ["name part must be no more than 63 bytes"]),
    (
        names.label_key,
        "a/b/c",
        [f"a valid label key {KEY} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"],
    ),
    (names.prefixed_label_key, "a", ["must include a prefix (e.g. 'example.com/key')"]),
    (names.label_value, "a" * 64, ["must be no more than 63 bytes"]),
    (names.path_segment, ".", ["may not be '.'"]),
    (names.path_segment, "..", ["may not be '..'"]),
    (names.path_segment, "a/%", ["may not contain '/'", "may not contain '%'"]),
    (
        names.port_name,
        "A--",
        [
            "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)",
            "must contain at least one letter (a-z)",
            "must not contain consecutive hyphens",
            "must not begin or end with a hyphen",
        ],
    ),
    (names.port_name, "a" * 16, ["must be no more than 15 characters"]),
    (names.env_var_name, "..", ["must not be '..'"]),
    (names.config_map_key, "..a", ["must not start with '..'"]),
    (names.relaxed_env_var_name, "", ["environment variable name must be non-empty"]),
    (
        names.relaxed_env_var_name,
        "a=b",
        ["a valid environment variable name must consist only of printable ASCII characters other than '='"],
    ),
    (names.decimal_integer, "", ["must be non-empty"]),
    (names.decimal_integer, "-0", ["must be a valid decimal integer in canonical form"]),
]


@pytest.mark.parametrize(("rule", "value"), [(rule, value) for rule, values in GOOD for value in values])
def test_good_values_have_no_problems(rule: Callable[[str], list[str]], value: str) -> None:
    assert rule(value) == []


@pytest.mark.parametrize(("rule", "value", "problems"), BAD)
def test_bad_values_are_told_in_upstreams_words(
    rule: Callable[[str], list[str]], value: str, problems: list[str]
) -> None:
    assert rule(value) == problems


@pytest.mark.parametrize("rule", [rule for rule, _ in GOOD])
@pytest.mark.parametrize("value", ["a" * 300_000 + "!", "a." * 150_000 + "!", "a-" * 150_000, "/" * 300_000])
def test_no_value_is_slow_to_judge(rule: Callable[[str], list[str]], value: str) -> None:
    started = time.process_time()
    rule(value)
    assert time.process_time() - started < 1


@given(st.text("aA0-_./%", max_size=12))
def test_every_label_is_a_subdomain_and_every_subdomain_a_path_segment(value: str) -> None:
    if not names.dns_1035_label(value):
        assert not names.dns_label(value)
    if not names.dns_label(value):
        assert not names.dns_subdomain(value)
    if not names.dns_subdomain(value):
        assert not names.path_segment(value)
        assert not names.label_key(f"{value}/a")


@given(st.text(max_size=20))
def test_any_text_is_judged(value: str) -> None:
    for rule, _ in GOOD:
        assert all(isinstance(problem, str) for problem in rule(value))


@pytest.mark.parametrize(("port", "fine"), [(0, False), (1, True), (65535, True), (65536, False)])
def test_port_numbers(port: int, fine: bool) -> None:
    assert names.port_number(port) == ([] if fine else ["must be between 1 and 65535, inclusive"])


@pytest.mark.parametrize(("identity", "fine"), [(-1, False), (0, True), (2**31 - 1, True), (2**31, False)])
def test_user_and_group_ids(identity: int, fine: bool) -> None:
    expected = [] if fine else ["must be between 0 and 2147483647, inclusive"]
    assert names.user_id(identity) == names.group_id(identity) == expected


@pytest.mark.parametrize(("prefix", "seen"), [("web-", "wea"), ("-", "-"), ("web", "web"), ("", "")])
def test_a_generate_name_may_end_in_a_dash(prefix: str, seen: str) -> None:
    assert names.without_trailing_dash(prefix) == seen


@pytest.mark.parametrize(
    ("rule", "value", "expected"),
    [
        (names.fully_qualified_name, "", ["f: Required value"]),
        (names.fully_qualified_name, "a.b.c", []),
        (
            names.fully_qualified_name,
            "a.b",
            ['f: Invalid value: "a.b": should be a domain with at least three segments separated by dots'],
        ),
        (names.fully_qualified_domain_name, "a.b.", []),
        (
            names.fully_qualified_domain_name,
            "a",
            ['f: Invalid value: "a": should be a domain with at least two segments separated by dots'],
        ),
        (
            names.fully_qualified_domain_name,
            f"{'a' * 64}.b",
            [f'f: Invalid value: "{"a" * 64}": must be no more than 63 characters'],
        ),
        (names.domain_prefixed_path, "a.io/b/c", []),
        (
            names.domain_prefixed_path,
            "a.io",
            ['f: Invalid value: "a.io": must be a domain-prefixed path (such as "acme.io/foo")'],
        ),
        (
            names.domain_prefixed_path,
            "a.io/ ",
            [
                'f: Invalid value: " ": Invalid path (regex used for validation is'
                r" '[A-Za-z0-9/\-._~%!$&'()*+,;=:]+')"
            ],
        ),
        (names.domain_prefixed_key, "a.io/b", []),
        (
            names.domain_prefixed_key,
            "b",
            ['f: Invalid value: "b": must be a domain-prefixed key (such as "acme.io/foo")'],
        ),
    ],
)
def test_rules_that_know_the_field(
    rule: Callable[[str, str], list[names.FieldError]], value: str, expected: list[str]
) -> None:
    assert [str(problem) for problem in rule("f", value)] == expected


def test_the_pattern_told_is_the_pattern_used() -> None:
    for rule in vars(names).values():
        if isinstance(rule, names.Form) and "regex used" in rule.complaint:
            told = re.search(r"validation is '(.*)'\)$", rule.complaint)
            assert told is not None
            assert told[1] == rule.pattern.pattern or rule is names.DNS_SUBDOMAIN_CASELESS
