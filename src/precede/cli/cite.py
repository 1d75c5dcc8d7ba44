"""``precede cite``: BibTeX for the software and the paper of the method."""

from __future__ import annotations

import typer

BIBTEX = """\
@inproceedings{{wang2021ordering,
  title     = {{Ordering-Based Causal Discovery with Reinforcement Learning}},
  author    = {{Wang, Xiaoqiang and Du, Yali and Zhu, Shengyu and Ke, Liangjun and Chen, Zhitang and
               Hao, Jianye and Wang, Jun}},
  booktitle = {{Proceedings of the Thirtieth International Joint Conference on Artificial Intelligence (IJCAI 2021)}},
  pages     = {{3566--3573}},
  year      = {{2021}},
  doi       = {{10.24963/ijcai.2021/491}}
}}

@software{{precede,
  title   = {{Precede: causal discovery by ordering}},
  author  = {{{{The Precede developers}}}},
  version = {{{version}}},
  year    = {{2026}}
}}"""


def cite() -> None:
    """Print BibTeX for the software and the paper of the method."""
    from precede import __version__

    typer.echo(BIBTEX.format(version=__version__))
