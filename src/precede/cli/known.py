"""Background knowledge from flags: ``--root``, ``--sink`` and ``--tier``, beside a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from precede.errors import OptionError

if TYPE_CHECKING:
    from precede.knowledge import Knowledge


def known_from(
    file: Path | None, roots: list[str] | None, sinks: list[str] | None, tier: str | None
) -> Knowledge | None:
    """What the file says and what the flags add; None where there is neither.

    Parameters
    ----------
    file : Path, optional
        JSON or TOML.
    roots, sinks : list of str, optional
    tier : str, optional
        Tiers from early to late, ``"a,b<c"``.

    Examples
    --------
    >>> known_from(None, ["age"], None, "a, b < c").tiers
    (('a', 'b'), ('c',))
    """
    from precede.knowledge import Knowledge

    if file is None and not roots and not sinks and tier is None:
        return None
    known = Knowledge() if file is None else Knowledge.from_file(file)
    if tier is not None:
        if known.tiers:
            raise OptionError("the tiers were given twice: write them in the file, or as --tier.")
        known = replace(known, tiers=_tiers(tier))
    return replace(known, roots=(*known.roots, *(roots or ())), sinks=(*known.sinks, *(sinks or ())))


def _tiers(text: str) -> tuple[tuple[str, ...], ...]:
    tiers = tuple(tuple(name.strip() for name in part.split(",") if name.strip()) for part in text.split("<"))
    if len(tiers) < 2 or not all(tiers):
        raise OptionError(f"--tier {text!r} cannot be used: write tiers from early to late, as 'a,b<c'.")
    return tiers
