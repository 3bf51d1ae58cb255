from __future__ import annotations

from memoryd.daemon.openmetrics import Family, Kind, Sample, counter, gauge, render

from support.openmetrics import parse


def test_what_is_rendered_is_read_back() -> None:
    hostile = 'a"b\\c\nd'
    text = render(
        [
            counter("m_read", "Read.", 3),
            gauge("m_size_bytes", "Size.", 1.5, "bytes"),
            gauge("m_jobs", hostile, {(("kind", hostile), ("state", "done")): 7}),
            Family("m_build", Kind.INFO, "It.", [Sample(1, {"version": "1"}, "_info")]),
            Family(
                "m_wait_seconds",
                Kind.SUMMARY,
                "Waits.",
                [Sample(2, suffix="_count"), Sample(0.25, suffix="_sum")],
                "seconds",
            ),
        ]
    )
    assert parse(text) == {
        ("m_read_total", ()): 3,
        ("m_size_bytes", ()): 1.5,
        ("m_jobs", (("kind", hostile), ("state", "done"))): 7,
        ("m_build_info", (("version", "1"),)): 1,
        ("m_wait_seconds_count", ()): 2,
        ("m_wait_seconds_sum", ()): 0.25,
    }
