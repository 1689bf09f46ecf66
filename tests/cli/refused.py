"""What a refused command looks like."""


def assert_refused(result, *words):
    """See that a command ended with exit code 2, one line on stderr, and nothing on stdout."""
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert result.stderr.startswith("kgraft: ")
    assert result.stderr.count("\n") == 1
    for word in words:
        assert word in result.stderr
