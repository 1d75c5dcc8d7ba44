"""``precede`` and ``python -m precede``: nothing is imported before it is known that there is room for it."""

import sys

LEAST_ADDRESS_SPACE = 3_000_000
"""Kilobytes that the libraries reserve with little data (most of it is never used); below it some abort or hang."""


def main() -> None:
    """Start a command, unless a library would end the process, or try for ever to begin, for ``ulimit -v``."""
    if sys.platform != "win32":
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit != resource.RLIM_INFINITY and limit < LEAST_ADDRESS_SPACE * 1024:
            sys.stderr.write(
                f"precede: the limit on address space (ulimit -v) is {limit // 1024:,} kB, and numpy, torch and numba "
                f"reserve up to {LEAST_ADDRESS_SPACE:,} kB before any data: raise it, as in "
                f"'ulimit -v {2 * LEAST_ADDRESS_SPACE}'.\n"
            )
            sys.exit(2)
    try:
        from precede.cli import main as start

        start()
    except MemoryError:  # a build of torch with CUDA's libraries reserves more
        sys.stderr.write("precede: there is not enough memory to begin: raise the limit, as with 'ulimit -v'.\n")
        sys.exit(2)


if __name__ == "__main__":
    main()
