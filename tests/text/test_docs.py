import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "text.md"


def test_the_guides_examples_run(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(blocks) >= 5
    exec("\n".join(blocks), {})
