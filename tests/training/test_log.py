"""The log after kills."""

from kgraft.training.log import Log


def test_lines_to_come_again_and_torn_lines_are_dropped(tmp_path):
    log = Log(tmp_path / "log.jsonl")
    log.rewind(0)
    for entry in ({"epoch": 1}, {"resumed at step": 4}, {"epoch": 2}, {"epoch": 3}):
        log.add(entry)
    with log.path.open("ab") as file:
        file.write('{"epoch": 4, "ü'.encode()[:-1])
    log.rewind(2)
    assert log.path.read_text() == '{"epoch": 1}\n{"resumed at step": 4}\n{"epoch": 2}\n'


def test_lines_are_strict_json(tmp_path):
    log = Log(tmp_path / "log.jsonl")
    log.add({"figures": {"mrr": float("nan"), "größe": float("-inf"), "hits": 0.5}, "best": True})
    assert log.path.read_text(encoding="utf-8") == (
        '{"figures": {"mrr": null, "größe": null, "hits": 0.5}, "best": true}\n'
    )
