"""Which experiment or fact settles the most open directions."""

import inspect
import re
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import precede as pc
from precede.cli.discover import discover
from precede.effects import next_steps
from precede.errors import OptionError
from precede.graph.dags import class_of, cpdag, is_acyclic


def members_of(edges: np.ndarray) -> list[np.ndarray]:
    """Every DAG of the class, by trying all directions of the skeleton."""
    pairs = np.argwhere(np.triu(edges | edges.T))
    found = []
    for ways in product([0, 1], repeat=len(pairs)):
        other = np.zeros_like(edges)
        for (i, j), way in zip(pairs, ways, strict=True):
            other[(i, j) if way else (j, i)] = True
        if is_acyclic(other) and np.array_equal(cpdag(other), cpdag(edges)):
            found.append(other)
    return found


def settled_by(edges: np.ndarray, variable: int) -> int:
    """Directions that setting a variable settles, by the class with its edges told."""
    told = np.zeros_like(edges)
    told[variable], told[:, variable] = edges[variable], edges[:, variable]
    before, after = cpdag(edges), class_of(edges, told)
    return int(((before & before.T).sum() - (after & after.T).sum()) // 2)


@given(st.integers(0, 10_000))
def test_what_an_experiment_settles_is_what_the_class_says(seed: int) -> None:
    rng = np.random.default_rng(seed)
    edges = np.triu(rng.random((5, 5)) < 0.5, 1)
    members = members_of(edges)
    steps = next_steps(pc.CausalGraph.from_matrix(edges.astype(float)), n_draws=60, random_state=seed)
    assert steps.n_open == int((cpdag(edges) & cpdag(edges).T).sum() // 2)
    for one in steps.experiments:
        counts = [settled_by(member, one.variable) for member in members]
        assert min(counts) <= one.at_least <= one.expected <= max(counts)


def test_the_middle_of_a_chain_settles_everything() -> None:
    chain = np.eye(5, k=1)
    steps = next_steps(pc.CausalGraph.from_matrix(chain, names=list("abcde")))
    assert steps.experiments[0].variable == "c"
    assert steps.n_open == 4
    assert steps.facts[0].at_least >= 1
    assert "set c" in " ".join(steps.sentences)


def test_what_is_known_is_not_asked_for() -> None:
    graph = pc.CausalGraph.from_matrix(np.eye(3, k=1), names=list("abc"))
    told = np.zeros((3, 3), bool)
    told[0, 1] = True  # then b -> c follows
    steps = next_steps(replace(graph, fixed_directions=told))
    assert (steps.n_open, steps.experiments) == (0, ())
    assert steps.sentences == ["No direction is open: an experiment could only test the graph, not complete it."]


def test_no_draws_are_refused() -> None:
    with pytest.raises(OptionError, match="give at least 1"):
        next_steps(pc.CausalGraph.from_matrix(np.zeros((2, 2))), n_draws=0)


def test_the_remedy_names_a_flag_that_there_is() -> None:
    text = " ".join(next_steps(pc.CausalGraph.from_matrix(np.eye(3, k=1))).sentences)
    flags = re.findall(r"--(\w+)", text)
    assert flags
    assert set(flags) <= set(inspect.signature(discover).parameters)
