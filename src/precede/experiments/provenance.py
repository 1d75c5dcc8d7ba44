"""Where a result comes from: command, commit, machine, date."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch

from precede.strict_json import JsonObject


def provenance(command: str, jobs: int, device: str | None) -> JsonObject:
    """Describe a run, JSON-ready; ``run`` names it within its folder."""
    now = datetime.now(UTC)
    uses_gpu = device != "cpu" and torch.cuda.is_available()
    return {
        "run": f"{now:%Y%m%dT%H%M%S.%f}-{os.getpid()}",
        "command": command,
        "commit": commit(),
        "date": f"{now:%Y-%m-%d %H:%M} UTC",
        "cpu": cpu_name(),
        "cores": os.cpu_count() or 1,
        "gpu": torch.cuda.get_device_name(0) if uses_gpu else None,
        "jobs": jobs,
        "versions": {"python": platform.python_version(), "torch": torch.__version__, "numpy": np.__version__},
    }


def commit() -> str:
    """Commit of the code that runs, with "+" where the code differs from it; "unknown" outside a repository.

    A copy of a commit that lies elsewhere, or in another repository, is told by the environment variable
    ``PRECEDE_COMMIT``.
    """
    if told := os.environ.get("PRECEDE_COMMIT"):
        return told
    here = Path(__file__).parent
    name = _git(here, "rev-parse", "--short", "HEAD")
    if not name:
        return "unknown"
    return name + ("+" if _git(here, "status", "--porcelain", "--", str(here.parent)) else "")


def _git(folder: Path, *words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def cpu_name() -> str:
    """Name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def sentence(run: JsonObject) -> str:
    """Say it in a line.

    Examples
    --------
    >>> sentence({"command": "precede reproduce sachs", "commit": "abc", "date": "2026-11-15 12:00 UTC", "cpu": "a CPU",
    ...           "cores": 2, "gpu": None, "jobs": 2})
    '`precede reproduce sachs`, commit abc, 2026-11-15 12:00 UTC, a CPU (2 cores, 2 at work)'
    """
    gpu = f", {run['gpu']}" if run["gpu"] else ""
    return (
        f"`{run['command']}`, commit {run['commit']}, {run['date']}, "
        f"{run['cpu']} ({run['cores']} cores, {run['jobs']} at work){gpu}"
    )
