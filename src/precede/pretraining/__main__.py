"""Pretrain a policy from the command line: ``python -m precede.pretraining --out DIR --variant default``."""

import argparse
from pathlib import Path

from precede.pretraining.command import command_settings
from precede.pretraining.listeners import pretrain_into


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m precede.pretraining", description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the log, checkpoints and weights")
    parser.add_argument("--variant", choices=("default", "paper"), default="default")
    parser.add_argument("--encoder", choices=("moments", "alternating"), help="another encoder for the default variant")
    parser.add_argument("--name", help="of the files; the variant's name unless given")
    parser.add_argument("--max-time", type=float, help="seconds of training, over all resumed runs")
    parser.add_argument("--stop-after", type=float, help="seconds of this call; go on with --resume")
    parser.add_argument("--steps", type=int, help="steps of training, over all resumed runs")
    parser.add_argument("--tasks-per-step", type=int)
    parser.add_argument("--learning-rate", type=float)
    parser.add_argument("--validate-every", type=float)
    parser.add_argument("--patience", type=int)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--random-state", type=int)
    parser.add_argument("--compile", action="store_true")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--tiny", action="store_true", help="small tasks and validation, to try the command on a CPU")
    options = parser.parse_args()
    settings = command_settings(
        options.variant,
        options.encoder,
        tiny=options.tiny,
        max_time=options.max_time,
        n_steps=options.steps,
        tasks_per_step=options.tasks_per_step,
        learning_rate=options.learning_rate,
        validate_every=options.validate_every,
        patience=options.patience,
        random_state=options.random_state,
        device=options.device,
        compile=options.compile,
    )
    name = options.name or options.variant
    last = 0.0
    for record in pretrain_into(options.out, name, settings, resume=options.resume, max_call_time=options.stop_after):
        if record.validation or record.seconds - last > 10:
            last = record.seconds
            print(
                f"step {record.step}  {record.seconds:.0f} s  loss {record.loss:.4f}  edges {record.edge_loss:.4f}  "
                f"{record.steps_per_second:.1f} steps/s  {record.tasks_per_second:.0f} tasks/s  "
                f"generation {record.generation_share:.2f}  {record.peak_memory_gb:.1f} GB  "
                + "  ".join(f"{key} {value:.3f}" for key, value in record.validation.items()),
                flush=True,
            )


if __name__ == "__main__":
    main()
