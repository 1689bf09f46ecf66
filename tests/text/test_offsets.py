import numpy as np

from kgraft.text.offsets import Offsets


def test_a_token_out_of_order_does_not_hide_its_neighbours():
    pairs = np.array([(0, 3), (4, 7), (0, 0), (8, 11), (0, 2)])  # the third stands nowhere
    offsets = Offsets.of(["abc def ghi", "jk"], np.array([0, 4, 5]), pairs.ravel())
    first, last = offsets.tokens([0, 0, 0, 1], [0, 4, 8, 0], [3, 7, 11, 1])
    assert list(zip(first.tolist(), last.tolist(), strict=True)) == [(0, 1), (1, 3), (3, 4), (4, 5)]


def test_every_kind_of_white_space_is_trimmed():
    spaces = "".join(chr(c) for c in range(0x110000) if chr(c).isspace())
    text = spaces + "x" + spaces
    pairs = np.array([0, len(text)])  # a token that took the space around it
    offsets = Offsets.of([text], np.array([0, 1]), pairs)
    start, end = offsets.spans(np.array([0]), np.array([0]), np.array([1]))
    assert (start.tolist(), end.tolist()) == ([len(spaces)], [len(spaces) + 1])
    first, last = offsets.tokens(0, [0, 0], [len(spaces), len(text)])
    assert (first < last).tolist() == [False, True]


def test_many_spans_are_found_at_once_and_fast():
    text = "word " * 20_000
    starts = 5 * np.arange(20_000)
    pairs = np.stack([starts, starts + 4], axis=1).ravel()
    offsets = Offsets.of([text], np.array([0, 20_000]), pairs)
    first, last = offsets.tokens(0, starts, starts + 5)
    assert np.array_equal(first, np.arange(20_000))
    assert np.array_equal(last, first + 1)
