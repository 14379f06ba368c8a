"""Prometheus' text, read back by the parser of its own client library."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from hardpoint.machinery.exposition import Family, Histogram, histograms, text


@given(st.text(), st.floats(allow_nan=False))
def test_any_label_and_any_number_is_read_back(label: str, value: float) -> None:
    told: Family = ("things", "gauge", "Things there are.", [((("name", label),), value)])
    (family,) = text_string_to_metric_families(text([told]).decode())
    (sample,) = family.samples
    assert (family.documentation, family.type) == ("Things there are.", "gauge")
    assert (sample.labels, sample.value) == ({"name": label}, value)


@given(st.lists(st.floats(0, 100)), st.lists(st.floats(0, 100)))
def test_a_histogram_adds_up(values: list[float], more: list[float]) -> None:
    one, other = Histogram((0.5, 10.0)), Histogram((0.5, 10.0))
    for value in values:
        one.observe(value)
    for value in more:
        other.observe(value)
    one.add(other)
    (family,) = text_string_to_metric_families(text(histograms("took", "How long.", [((), one)])).decode())
    assert family.type == "histogram"
    told = {(sample.name, sample.labels.get("le")): sample.value for sample in family.samples}
    for bound in ("0.5", "10", "+Inf"):
        assert told["took_bucket", bound] == sum(value <= float(bound) for value in values + more)
    assert told["took_count", None] == len(values + more)
