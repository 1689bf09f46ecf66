from benchmarks.data.fetch_real_files import RealFile
from benchmarks.graph.real import _source


def test_a_file_is_imported_with_its_companion(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.data.fetch_real_files.TARGET", tmp_path / "files")
    edges = RealFile("npm", "@a/b", "1", "data/edges.csv", "", "csv", "", "data/nodes.csv")
    edges.target.parent.mkdir(parents=True)
    edges.target.write_text("a,b\n")
    edges.target.with_name("nodes.csv").write_text("id\n")
    folder = _source(edges, tmp_path)
    assert sorted(path.name for path in folder.iterdir()) == ["edges.csv", "nodes.csv"]
