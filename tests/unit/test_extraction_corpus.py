"""Real prompts, labelled by hand: what is proposed is worth keeping."""

import importlib.util
import sys
from importlib.machinery import SourceFileLoader
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.corpus
def test_what_is_proposed_on_real_prompts_is_worth_keeping(corpus: Path) -> None:
    loader = SourceFileLoader("extraction_eval", str(ROOT / "scripts" / "extraction-eval"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec is not None
    script = importlib.util.module_from_spec(spec)
    sys.modules[loader.name] = script
    loader.exec_module(script)
    score = script.evaluate(corpus, ROOT / "tests" / "corpus_labels.json")
    assert score.unlabelled == 0
    assert score.prompts > 100
    assert score.right >= 3
    assert score.precision >= 0.9
