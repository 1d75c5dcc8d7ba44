"""Every table and figure of the paper as an :class:`~precede.experiments.cells.Experiment`.

The data is the paper's (Appendix B.2): five data sets per cell, 3000 samples of linear data. "corl-1" and "corl-2" are
the paper's methods (:meth:`precede.CORL.paper`). For nonlinear data "corl-2-raw" is the second on columns that are not
standardized, "corl-2-fixed" the same with rows that are not drawn anew, "corl-gp" our search with the paper's score and
pruning. "corl" is the default of this package with the score that fits the data. "rl-bic2" has the settings of its
authors' program, "rl-bic2-edge" is our default, which gives each edge its own credit. Every linear table has the
controls: greedy choice of the smallest conditional variance ("eqvar"), sorting by variance ("sort-regress"), and a
random order ("random").
"""

from dataclasses import replace

from precede.baselines.rl_bic2 import PAPER_SETTINGS, PAPER_SETTINGS_30, PAPER_SETTINGS_GP
from precede.errors import check_choice
from precede.experiments.cells import Data, Experiment, Method
from precede.options import Options

CONVERGED = (
    "An iteration count is that of the last improvement of the best score, for every method; the paper does not say "
    "how it counts."
)
SCALED = (
    'The data is simulate(sem="gp-scaled"): one Gaussian process over the parents jointly, squared distances divided '
    "by their number. Of our generators it is the one on which CAM has the SHD that the paper prints."
)
JOINT = (
    'The data is simulate(sem="gp"): one Gaussian process over the parents jointly, as the paper describes it. CAM has '
    "far more errors on it than the paper prints."
)
ADDITIVE = 'The data is simulate(sem="gp-additive"): one Gaussian process per parent, added.'
IMPOSSIBLE = (
    "Some printed cells of CAM and GraN-DAG at 100 variables cannot be: the SHD is at least (1 - TPR) times the number "
    "of true edges, which the printed TPR puts above the printed SHD on ER5, SF2 and SF5."
)
INITIAL = "A pretrained start differs from corl-1 and corl-2 in its first weights alone."
ER4 = "The paper's caption says ER1, its text ER4; this is ER4."
EQUAL = "The noise variances of the data are equal, and corl-equal uses that."
RAW = (
    "corl-2-raw is CORL-2 with columns as they are, corl-2-fixed the same with rows that are not drawn anew, corl-gp "
    "our search with the paper's score: they use the equal variances too. corl-2-fixed-standardized and "
    "corl-gp-standardized are the last two on standardized columns, as corl-2."
)
AUTHORS = (
    'A row that ends in "authors" has the defaults of the authors\' public program (CORL.paper(program="authors")): a '
    "kernel of bandwidth one on columns as they are; -long has 2,000 iterations in place of 500. corl-gp-authors is "
    "our search with that score."
)
ELSEWHERE = "CORL-1 and CORL-2 are run on the data that the paper is likely to have had, in {}."

LINEAR_BUDGET: Options = {"n_iterations": 1000, "patience": None}
GP_BUDGET: Options = {"n_iterations": 500, "patience": None}
"""One budget for every CORL row of a table: what the GPU time allows, stated before the runs; none ends earlier."""


def variant(row: Method, name: str, **options: object) -> Method:
    """A row with other options, compared with the paper's row of the first."""
    return replace(row, name=name, options={**row.options, **options}, beside=row.beside or row.name)


LONG_1, LONG_2 = (Method(name, "corl", name) for name in ("corl-1", "corl-2"))  # 6,000 iterations, or patience
CORL_1, CORL_2 = (replace(row, options=LINEAR_BUDGET) for row in (LONG_1, LONG_2))
LONG_1_GP, LONG_2_GP = (replace(row, nonlinear=True) for row in (LONG_1, LONG_2))  # Section 5.2
CORL_1_GP, CORL_2_GP = (replace(row, options=GP_BUDGET) for row in (LONG_1_GP, LONG_2_GP))
AUTHORS_1, AUTHORS_2 = (variant(row, f"{row.name}-authors", program="authors") for row in (CORL_1_GP, CORL_2_GP))
CORL_GP = Method("corl-gp", "corl", options={"score": "gp", "noise": "equal", "pruning": "cam"}, beside="corl-2")
RL_BIC2 = Method(
    "rl-bic2", "rl-bic2", options=PAPER_SETTINGS | PAPER_SETTINGS_30,
    cost="10,000 of its 40,000 iterations take 402 s of a GPU at 30 variables",
)  # fmt: skip
RL_BIC2_GP = replace(
    RL_BIC2,
    options=PAPER_SETTINGS | PAPER_SETTINGS_GP,
    cost="900 of its 20,000 iterations take 150 s of a GPU at 30 variables",
)
NOTEARS_UNPENALIZED = Method(
    "notears-unpenalized", "notears", options={"lambda1": 0.0}, beside="notears",
    cost="it is tried where NOTEARS is below print",
)  # fmt: skip

AS_PUBLISHED: dict[str, Options] = {
    "random": {"pruning": "threshold"},
    "direct-lingam": {"pruning": "threshold"},
    "ica-lingam": {"pruning": "threshold", "standardize": False, "n_starts": 1, "tolerance": 1e-4},
    "gran-dag": {"standardize": False},
    "a-star-lasso": {"queue_size": 1000, "widen": True},
}
"""Where our defaults do not depend on the units of the data and the paper's do: weights from .3 on (Section 5.1)."""
ROWS = {name: Method(name, name, options=options) for name, options in AS_PUBLISHED.items()}
ROWS |= {row.name: row for row in (CORL_1, CORL_2, RL_BIC2, NOTEARS_UNPENALIZED, Method("rl-bic2-edge", "rl-bic2"))}
"""Rows that are more than the defaults of the method of that name."""


def rows(*given: str | Method) -> tuple[Method, ...]:
    """Rows of a table, by name or as they are; ``corl:SCORE`` is our default with that score.

    Examples
    --------
    >>> [(row.name, row.options) for row in rows("a-star-lasso corl:linear", Method("queue-10", "a-star-lasso"))]
    [('a-star-lasso', {'queue_size': 1000, 'widen': True}), ('corl', {'score': 'linear'}), ('queue-10', {})]
    """
    found: list[Method] = []
    for one in given:
        for name, _, score in (word.partition(":") for word in one.split()) if isinstance(one, str) else ():
            found.append(Method(name, name, options={"score": score}) if score else ROWS.get(name, Method(name, name)))
        found += [one] if isinstance(one, Method) else []
    return tuple(found)


CONTROLS = "eqvar sort-regress random"
TABLE_1 = "random notears notears-unpenalized dag-gnn rl-bic2 l1obs a-star-lasso corl-1 corl-2 corl:linear ica-lingam"
OUR_SEARCH = (
    variant(CORL_GP, "corl-gp-authors", kernel="fixed"),
    variant(CORL_GP, "corl-gp-standardized", standardize_columns=True),
)
GP_RIVALS = rows("gran-dag dag-gnn notears-mlp", RL_BIC2_GP, CORL_1_GP, CORL_2_GP, AUTHORS_1, AUTHORS_2, *OUR_SEARCH)
GP_20_METHODS = (
    CORL_2_GP,
    AUTHORS_2,
    *(variant(row, f"{row.name}-long", n_iterations=2000) for row in (CORL_2_GP, AUTHORS_2)),
    *OUR_SEARCH,
    variant(LONG_2_GP, "corl-2-fixed-standardized", inputs="fixed"),
    variant(LONG_2_GP, "corl-2-raw", standardize_columns=False),
    variant(LONG_2_GP, "corl-2-fixed", standardize_columns=False, inputs="fixed"),
    CORL_GP,
)


def linear_graphs(n_variables: int, prefix: str = "") -> tuple[Data, ...]:
    """ER2, ER5, SF2 and SF5 with linear Gaussian data of equal variances."""
    return tuple(Data(f"{prefix}{kind}{h}", kind, n_variables, h) for kind in ("er", "sf") for h in (2, 5))


def gp_figure(name: str, sem: str, *notes: str, rivals: tuple[Method, ...] = ()) -> Experiment:
    """Figure 4 on one kind of Gaussian process data."""
    return Experiment(
        name,
        "Gaussian process data, 10 and 30 variables, 500 samples",
        "Figure 4 (drawn without numbers)",
        tuple(Data(f"{d}-er{h}", "er", d, h, sem, 500) for d in (10, 30) for h in (1, 4)),
        rows("cam", *rivals, "corl:sparse-gp random-cam"),
        metrics=("tpr", "order_tpr", "shd"),
        notes=notes,
    )


def gp_table(name: str, title: str, sem: str, data: str, *notes: str, published: tuple[Method, ...] = ()) -> Experiment:
    """Appendix F; our default both without and with equal variances."""
    score = "sparse-gp-additive" if sem == "gp-additive" else "sparse-gp"
    equal = Method("corl-equal", "corl", options={"score": score, "noise": "equal"})
    return Experiment(
        name,
        f"{title}, 20 variables, ER4, by number of samples",
        "Appendix F",
        tuple(Data(str(m), "er", 20, 4, sem, m) for m in (1000, 500, 400, 200)),
        rows("cam", *published, f"corl:{score}", equal, "random-cam"),
        metrics=("order_tpr", "shd"),
        notes=(data, ER4, EQUAL, *notes),
    )


DESIGNS = (
    *(
        Experiment(
            name,
            f"Linear Gaussian data, {d} variables",
            source,
            linear_graphs(d),
            rows(f"{TABLE_1} eqvar sort-regress {further}"),
        )
        for name, d, source, further in (
            ("table1-30", 30, "Table 1", "rl-bic2-edge"),
            ("table1-100", 100, "Table 1", ""),
            ("linear-50", 50, "Appendix D, first table", ""),
        )
    ),
    Experiment(
        "pruning",
        "Baselines before pruning, with other queues and without penalty, linear Gaussian ER2",
        "Section 5.1 and Appendix E, text",
        tuple(Data(str(d), "er", d, 2) for d in (30, 50, 100)),
        rows(
            Method("l1obs-unpruned", "l1obs", options={"threshold": None}),
            "l1obs",
            *(Method(f"a-star-lasso-{n}", "a-star-lasso", options={"queue_size": n}) for n in (10, 500, 1000)),
            "notears notears-unpenalized",
        ),
        notes=("The paper reports the best queue of A* Lasso; so does a-star-lasso in the other tables, by its cost.",),
    ),
    Experiment(
        "others-linear",
        "Linear Gaussian data: ICA-LiNGAM, GraN-DAG and CAM",
        "Appendix D, second table",
        tuple(data for d in (30, 50, 100) for data in linear_graphs(d, f"{d}-")),
        rows(f"ica-lingam gran-dag cam corl-2 corl:linear {CONTROLS}"),
        notes=(IMPOSSIBLE,),
    ),
    Experiment(
        "lingam",
        "Linear non-Gaussian data (LiNGAM), ER2",
        "Appendix E",
        tuple(Data(str(d), "er", d, 2, "lingam") for d in (30, 50, 100)),
        rows(
            "ica-lingam notears dag-gnn gran-dag rl-bic2 cam l1obs a-star-lasso corl-1 corl-2 corl:nongaussian "
            f"direct-lingam {CONTROLS}"
        ),
    ),
    Experiment(
        "encoders",
        "CORL-2 with each encoder and decoder, 30-variable linear Gaussian ER2",
        "Appendix A.1",
        (Data("er2"),),
        rows(
            *(
                Method(f"{encoder}-{decoder}", "corl", "corl-2", {"encoder": encoder, "decoder": decoder})
                for decoder in ("mlp", "lstm")
                for encoder in ("null", "lstm", "mlp", "transformer")
                if (encoder, decoder) != ("transformer", "lstm")
            ),
            replace(LONG_2, name="transformer-lstm"),  # CORL-2 as it is
            CONTROLS,
        ),
        notes=("A method is named encoder-decoder.",),
    ),
    Experiment(
        "convergence",
        "Iterations until the best score stops moving, linear Gaussian data",
        "Appendix C",
        tuple(Data(f"{d}-er{h}", "er", d, h) for d in (30, 50, 100) for h in (2, 5)),
        rows("corl-2 rl-bic2 corl:linear"),
        metrics=("converged_at", "shd"),
        notes=(CONVERGED,),
    ),
    Experiment(
        "linear-150",
        "Linear Gaussian data, 150 variables, ER2",
        "Section 5.1, text",
        (Data("er2", "er", 150, 2),),
        rows(f"corl-1 corl-2 notears corl:linear {CONTROLS}"),
    ),
    gp_figure("gp", "gp-scaled", SCALED, AUTHORS, rivals=GP_RIVALS),
    gp_figure("gp-joint", "gp", JOINT, ELSEWHERE.format("gp")),
    gp_table("gp-20", "Gaussian process data", "gp-scaled", SCALED, AUTHORS, RAW, published=GP_20_METHODS),
    gp_table("gp-20-joint", "Gaussian process data at bandwidth one", "gp", JOINT, ELSEWHERE.format("gp-20")),
    gp_table("gp-20-additive", "Additive Gaussian process data", "gp-additive", ADDITIVE, ELSEWHERE.format("gp-20")),
    Experiment(
        "sachs",
        "Protein signalling (Sachs et al. 2005)",
        "Section 5.3, text",
        (Data("sachs", sem="sachs", n_variables=11, n_samples=853),),
        rows(
            LONG_1_GP,
            LONG_2_GP,
            replace(RL_BIC2_GP, cost=""),
            "rl-bic2-edge cam gran-dag ica-lingam dag-gnn notears corl:auto",
            Method("corl-additive", "corl", options={"score": "sparse-gp-additive"}),
            "notears-mlp direct-lingam eqvar sort-regress random empty",
            Method("random-cam", "random-cam", repeats=20),
        ),
        metrics=("shd", "tpr", "order_tpr"),
        quick={
            "": {"n_iterations": 20, "batch_size": 16},
            "corl": {"score": "quadratic"},  # the table of a sparse score takes minutes on a CPU
            "corl-additive": None,
        },
        bound=("random-cam", "shd", 11),
        notes=("The data is the same for every seed; methods without randomness are run once.",),
    ),
    Experiment(
        "curves",
        "Learning curves, 100-variable linear Gaussian ER2",
        "Figures 3 and 7 (drawn without numbers)",
        (Data("er2", "er", 100, 2),),
        rows(
            LONG_1,
            LONG_2,
            *(variant(row, f"{row.name}-pretrained", pretrained="paper") for row in (LONG_1, LONG_2)),
            "corl:linear",
        ),
        metrics=("converged_at", "tpr", "shd"),
        keep_curves=True,
        notes=(CONVERGED, INITIAL),
    ),
    Experiment(
        "times",
        "Running time in seconds, linear Gaussian ER2",
        "Section 5.1, text",
        (Data("30", "er", 30, 2), Data("100", "er", 100, 2)),
        rows(
            LONG_1,
            LONG_2,
            "gran-dag dag-gnn cam l1obs",
            Method("a-star-lasso", "a-star-lasso"),  # its first queue
            f"notears rl-bic2 corl:linear ica-lingam direct-lingam notears-mlp r2-sort-regress {CONTROLS}",
        ),
        metrics=("seconds", "shd"),
        notes=(
            "Each fit has one CPU thread, CORL-1 and CORL-2 a GPU as well; the paper does not name its machine.",
            "A time that reached its limit has no mark: the fit was cut, and its SHD is that of the moment.",
        ),
    ),
)

EXPERIMENTS: dict[str, Experiment] = {design.name: design for design in DESIGNS}
"""Name to experiment."""


def experiment_named(name: str) -> Experiment:
    """Look up an experiment.

    Examples
    --------
    >>> experiment_named("sachs").source
    'Section 5.3, text'
    """
    check_choice("experiment", name, EXPERIMENTS)
    return EXPERIMENTS[name]
