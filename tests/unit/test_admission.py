from __future__ import annotations

from pathlib import Path

import pytest
from memoryd.admission import Admission, Pause, Refusal

HOME = Path("/home/me")


@pytest.mark.parametrize(
    ("glob", "inside", "outside"),
    [
        ("~/client/**", ["/home/me/client", "/home/me/client/a/b"], ["/home/me/clients", "/home"]),
        ("~/client", ["/home/me/client/a"], ["/home/me/client2"]),
        ("~/client/*", ["/home/me/client/a", "/home/me/client/a/b"], ["/home/me/client"]),
        ("/srv/**/secret", ["/srv/secret", "/srv/a/b/secret/c"], ["/srv/secrets", "/srv"]),
        ("**/secret/**", ["/secret", "/x/secret/y"], ["/x/secre"]),
        ("/srv/cust-[ab]?", ["/srv/cust-a1/x"], ["/srv/cust-c1", "/srv/cust-a", "/srv/cust-a/1"]),
        ("~", ["/home/me", "/home/me/x"], ["/home/you"]),
        ("/**", ["/", "/anything"], []),
    ],
)
def test_globs_mean_directories_and_what_is_below(
    glob: str, inside: list[str], outside: list[str]
) -> None:
    admission = Admission([glob], home=HOME)
    assert [place for place in inside if not admission.excludes(place)] == []
    assert [place for place in outside if admission.excludes(place)] == []


def test_the_root_of_a_project_counts_as_well_as_the_working_directory() -> None:
    admission = Admission(["/srv/shop"])
    assert admission.refusal("/elsewhere/worktree", "/srv/shop", ["t"], 0) is Refusal.EXCLUDED
    assert admission.refusal("/srv/shop/../other", "/srv/other", ["t"], 0) is None
    assert admission.refusal("", None, ["t"], 0) is None


def test_links_lead_nobody_past_an_exclusion(tmp_path: Path) -> None:
    real = tmp_path / "real"
    (real / "deep").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(real)
    assert Admission([f"{link}/**"]).excludes(str(real / "deep"))
    assert Admission([f"{real}/**"]).excludes(str(link / "deep"))


def test_many_stars_take_no_long_time() -> None:
    admission = Admission(["/" + "**/" * 40 + "x"])
    assert not admission.excludes("/a" * 200)


def test_a_pause_goes_by_positions_alone() -> None:
    lasting = Pause(root="/p", since=1.0, before={"t": 10})
    over = Pause(root=None, since=2.0, until=3.0, before={"u": 5}, through={"u": 9, "v": 4})

    def refused(path: str, position: int, *, root: str = "/p", pause: Pause) -> bool:
        answer = Admission(pauses=[pause]).refusal("/p/x", root, [path], position)
        assert answer in (None, Refusal.PAUSED)
        return answer is not None

    assert not refused("t", 9, pause=lasting)
    assert refused("t", 10, pause=lasting)
    assert refused("new", 0, pause=lasting)
    assert not refused("new", 0, root="/q", pause=lasting)
    assert [refused("u", at, root="/q", pause=over) for at in (4, 5, 8, 9)] == [
        False,
        True,
        True,
        False,
    ]
    assert refused("v", 0, pause=over)
    assert not refused("new", 0, pause=over)


def test_nothing_is_asked_where_nothing_is_refused() -> None:
    assert not Admission().refuses_something
    assert not Admission(pauses=[Pause(root=None, since=1, until=2)]).refuses_something
    assert Admission(pauses=[Pause(root="/p", since=1)]).refuses_something
    assert Admission(pauses=[Pause(root="/p", since=1)]).paused("/p")
    assert not Admission(pauses=[Pause(root="/p", since=1, until=2)]).paused("/p")
