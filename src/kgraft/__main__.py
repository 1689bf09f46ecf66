"""`python -m kgraft` is `kgraft`."""

from kgraft.cli import main

if __name__ == "__main__":
    main()
