"""Ctrl-C is deferred while a block runs."""

import os
import signal
import threading

import pytest

from kgraft.training.interrupt import defer_interrupt


def press():
    os.kill(os.getpid(), signal.SIGINT)


def block(*acts):
    with defer_interrupt():
        for act in acts:
            act()


def test_ctrl_c_comes_after_the_block():
    reached = []
    with pytest.raises(KeyboardInterrupt):
        block(press, lambda: reached.append(1))
    assert reached == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_the_second_comes_at_once():
    reached = []
    with pytest.raises(KeyboardInterrupt):
        block(press, press, lambda: reached.append(1))
    assert reached == []
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_error_of_the_block_goes_first():
    with pytest.raises(ZeroDivisionError):
        block(press, lambda: 1 / 0)


def test_other_handlers_and_threads_are_left_alone():
    seen = []
    before = signal.signal(signal.SIGINT, lambda *_: seen.append("mine"))
    try:
        block(press)
    finally:
        signal.signal(signal.SIGINT, before)
    assert seen == ["mine"]

    look = lambda: seen.append(signal.getsignal(signal.SIGINT))  # noqa: E731
    thread = threading.Thread(target=block, args=(look,))
    thread.start()
    thread.join()
    assert seen[1] is signal.default_int_handler
