"""A few hundred mutations of valid files; `tools/fuzz_inputs.py` runs as many as are asked for."""

import random
from collections import Counter

import pytest
from tools.fuzz_inputs import FORMATS, mutated, run_case

CASES, AT_ONCE = 300, 50


@pytest.mark.slow
@pytest.mark.parametrize("name", FORMATS)
def test_the_files_are_valid_as_they_are(tmp_path, name):
    out = tmp_path / "out"
    out.mkdir()
    for file, content in FORMATS[name].files.items():
        (tmp_path / file).write_bytes(content)
    FORMATS[name].read(tmp_path / FORMATS[name].opened, out, False)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, CASES, AT_ONCE))
def test_mutated_files_are_read_or_refused_in_one_line(first):
    cases = [run_case(7, number) for number in range(first, first + AT_ONCE)]
    assert [problem for _, problem in cases if problem] == []
    ends = Counter(outcome.rpartition(" ")[2] for outcome, _ in cases)
    assert ends.keys() == {"read", "refused"}  # both happen, or the mutations are worth nothing


@pytest.mark.parametrize("name", FORMATS)
def test_a_mutation_is_a_function_of_its_seed(name):
    files = FORMATS[name].files
    assert mutated(files, random.Random(3)) == mutated(files, random.Random(3))
