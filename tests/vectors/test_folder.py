"""A vectors folder gives back what was written, and says in one line what is wrong with it."""

import json

import pyarrow as pa
import pytest
import torch

from kgraft.errors import BadInput, NotFound
from kgraft.storage import MODEL_MANIFEST, new_folder, sha256
from kgraft.vectors import StoredVectors, read_vectors, write_table_vectors

NAMES = {"graph_name": "g", "graph_version": "v"}


@pytest.fixture
def folder(tmp_path, towns, write, random_vectors):
    return write(tmp_path / "v", towns, random_vectors(6, 4), random_vectors(3, 2), model="transe")


def test_what_is_written_is_read(folder, towns, random_vectors):
    read = read_vectors(folder)
    assert torch.equal(read.entities, random_vectors(6, 4))
    assert torch.equal(read.relations, random_vectors(3, 2))
    assert read.entity_ids.to_pylist() == towns.entities["id"].to_pylist()
    assert read.relation_ids.to_pylist() == towns.relations["id"].to_pylist()
    assert read.facts == {"model": "transe"}
    assert read.config.version == towns.manifest.version
    assert (read.config.graph, read.config.dimension) == ("towns", 4)


def test_sizes_and_checksums_are_written_down(folder):
    files = json.loads((folder / MODEL_MANIFEST).read_text())["files"]
    for name, facts in files.items():
        assert facts == {"bytes": (folder / name).stat().st_size, "sha256": sha256(folder / name)}
    assert len(files) == len(list(folder.iterdir())) - 1


def test_relations_may_be_absent_or_twofold(tmp_path, towns, write, random_vectors):
    alone = write(tmp_path / "a", towns, random_vectors(6, 4))
    assert read_vectors(alone).relations is None
    twofold = write(tmp_path / "b", towns, random_vectors(6, 4), random_vectors(6, 4))
    assert len(read_vectors(twofold).relations) == 6


def test_further_parameters_are_stored_by_name(tmp_path, folder, random_vectors):
    assert read_vectors(folder).parameters == {}
    options = {"entities": random_vectors(2, 2), "entity_ids": "ab", "facts": {}, **NAMES}
    parameters = {"core": random_vectors(3, 4).view(3, 2, 2), "bias": torch.ones(2)}
    write_table_vectors(tmp_path / "p", **options, parameters=parameters)
    stored = read_vectors(tmp_path / "p").parameters
    assert stored.keys() == parameters.keys()
    for name, tensor in parameters.items():
        assert torch.equal(stored[name], tensor)
    parameters["bias"][0] = torch.nan
    with pytest.raises(BadInput, match="not finite"):
        write_table_vectors(tmp_path / "q", **options, parameters=parameters)
    assert not (tmp_path / "q").exists()


@pytest.mark.parametrize("kind", [list, pa.array, lambda ids: pa.chunked_array([ids[:1], ids[1:]])])
def test_ids_may_be_a_list_or_arrow(tmp_path, kind, random_vectors):
    ids = ["a", "ü", "東京"]
    options = {"entities": random_vectors(3, 2).double(), "entity_ids": kind(ids)}
    write_table_vectors(tmp_path / "v", **options, facts={}, **NAMES)
    read = read_vectors(tmp_path / "v")
    assert read.entity_ids.to_pylist() == ids
    assert read.entities.dtype == torch.float32


@pytest.mark.parametrize(
    ("entities", "relations", "message"),
    [
        (torch.zeros(3, 2), None, r"entity vectors are \(3, 2\) for 2 ids"),
        (torch.zeros(2), None, r"entity vectors are \(2,\)"),
        (torch.zeros(2, 0), None, r"entity vectors are \(2, 0\)"),
        (torch.zeros(2, 2), torch.zeros(2, 2), r"relation vectors are \(2, 2\) for 0 ids"),
        (torch.full((2, 2), float("nan")), None, "not finite"),
    ],
)
def test_misfits_are_not_written(tmp_path, entities, relations, message):
    with (
        pytest.raises(BadInput, match=message),
        new_folder(tmp_path / "v", StoredVectors.kind) as partial,
    ):
        write_table_vectors(
            partial, entities=entities, relations=relations, entity_ids="ab", facts={}, **NAMES
        )
    assert list(tmp_path.iterdir()) == []


def test_an_absent_folder_says_how_to_train(tmp_path):
    with pytest.raises(NotFound, match="nowhere"):
        read_vectors(tmp_path / "nowhere")


def change(folder, **config):
    path = folder / MODEL_MANIFEST
    manifest = json.loads(path.read_text())
    path.write_text(json.dumps({**manifest, "config": {**manifest["config"], **config}}))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"dimension": "4"}, "dimension is '4'"),
        ({"dimension": 5}, "entity vectors are"),
        ({"entities": 7}, "entity vectors are"),
        ({"relations": 2}, "relation ids"),
    ],
)
def test_a_wrong_config_is_refused(folder, config, message):
    change(folder, **config)
    with pytest.raises(BadInput, match=message):
        read_vectors(folder)


@pytest.mark.parametrize(
    "name", ["entities.safetensors", "relations.safetensors", "entity_ids.arrow"]
)
def test_missing_cut_and_overwritten_files_are_refused(folder, name):
    path = folder / name
    whole = path.read_bytes()
    path.write_bytes(b"\xff" * len(whole))
    with pytest.raises(BadInput, match="cannot be read"):
        read_vectors(folder)
    path.write_bytes(whole[:-1])
    with pytest.raises(BadInput, match=rf"{name} has {len(whole) - 1} bytes"):
        read_vectors(folder)
    path.unlink()
    with pytest.raises(BadInput, match=rf"{name} is missing"):
        read_vectors(folder)
