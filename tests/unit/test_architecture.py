"""ARCHITECTURE.md tells the truth about rooms and tests."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()


def test_every_test_it_names_exists() -> None:
    code = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert named
    assert {name for name in named if f"def {name}(" not in code} == set()
    assert all((ROOT / file).is_file() for file in re.findall(r"`(tests/[\w/]+\.py)`", PAGE))


def test_every_room_is_in_it() -> None:
    rooms = {
        folder.name for folder in (ROOT / "memoryd").iterdir() if (folder / "__init__.py").is_file()
    }
    assert {room for room in rooms if f"`{room}/`" not in PAGE} == set()


def test_every_module_it_names_exists() -> None:
    for module in re.findall(r"`((?:[a-z]+/)?[a-z_]+\.py)`", PAGE):
        assert (ROOT / "memoryd" / module).is_file(), module
