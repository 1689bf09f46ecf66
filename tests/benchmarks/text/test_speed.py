import json
import sys

import pytest

from benchmarks.text import speed


@pytest.mark.slow
def test_a_small_run_gives_the_figure(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    options = ["--texts", "12", "--repeats", "2", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["encode_speed", *options])
    monkeypatch.setattr(speed, "WORDS", (3, 12))
    speed.main()
    result = json.loads((tmp_path / "encode_speed.json").read_text())
    assert result["figures"]["encode_vs_bare"] > 0
    assert result["goals"] == {"encode_vs_bare": {"at_most": 1.1}}
    assert result["spread"]["encode_vs_bare"]["repeats"] == 2
