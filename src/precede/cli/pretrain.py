"""``precede pretrain``: train a policy on data whose graph is known, simulated or one's own."""

from pathlib import Path

import typer

from precede.cli.flags import SafeConsole, command


@command
def pretrain(
    *,
    out: Path,
    variant: str = "default",
    data: Path | None = None,
    start: Path | None = None,
    name: str | None = None,
    max_time: float = 420.0,
    steps: int | None = None,
    tasks_per_step: int | None = None,
    learning_rate: float | None = None,
    device: str = "auto",
    resume: bool = False,
    tiny: bool = False,
    seed: int | None = None,
    quiet: bool = False,
) -> None:
    """Train a policy on data with known graphs, simulated or your own, and save it for 'pretrained='.

    Parameters
    ----------
    out
        Folder for the log, checkpoints and weights.
    variant
        default, or paper for the paper's transformer.
    data
        Folder of labeled tables to train on: in each sub-folder data.csv and truth.csv.
    start
        Weights to start from, as far as they fit.
    name
        Name of the files; the variant's by default.
    max_time
        Seconds of training, over all resumed runs.
    steps
        End after this many steps, if that is sooner.
    tasks_per_step
        Tasks of 30 variables and 400 samples in a step.
    learning_rate
        Highest learning rate.
    device
        auto, cpu, cuda.
    resume
        Continue from the checkpoint in the folder.
    tiny
        Small tasks and validation, to try it on a CPU.
    """
    from precede.pretraining.run_folder import pretrain_into
    from precede.pretraining.settings import variant_settings
    from precede.runtime.device import choose_device
    from precede.runtime.progress import ProgressBar, logger

    settings = variant_settings(
        variant, tiny=tiny, data=data, start=None if start is None else str(start), max_time=max_time,
        n_steps=steps, tasks_per_step=tasks_per_step, learning_rate=learning_rate,
        random_state=seed, device=str(choose_device(device)),
    )  # fmt: skip
    name = name or variant
    total = int(max_time) if steps is None else steps
    try:
        with ProgressBar("pretraining", total, not quiet) as progress:
            for record in pretrain_into(out, name, settings, resume=resume):
                progress.update(int(record.seconds) if steps is None else record.step, loss=record.loss)
                if record.validation:
                    at = f"step {record.step}, {record.seconds:.0f} s"
                    figures = (record.validation[group] for group in ("mean", "held-out", "pairs"))
                    logger.info("%s: order TPR %.3f, %.3f on families held out, pairs %.3f", at, *figures)
                    if "own" in record.validation:
                        logger.info("%s: order TPR %.3f on your own tables", at, record.validation["own"])
    except KeyboardInterrupt:
        logger.warning("interrupted; --resume continues from the last checkpoint in %s", out)
        raise typer.Exit(130) from None
    if not quiet:
        SafeConsole().written(out, f": {name}.safetensors, {name}.jsonl, {name}.pt")
