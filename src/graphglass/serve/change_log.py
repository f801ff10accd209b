"""The audit log: what was asked of the references before it is done, and how it ended before it is answered."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path

AUDIT = "references-audit.log"


def record_change(model: Path, stage: str, action: str, ids: Sequence[str], references: int) -> None:
    """Append a line to the log beside the model, and make it durable. Graph content is not logged.

    Parameters
    ----------
    model : Path
    stage : {"begun", "done", "failed"}
        A change that was begun and neither done nor failed was cut off by a crash: the model holds it or it does not.
    action : {"add", "remove"}
    ids : sequence of str
        The references in question.
    references : int
        How many there are at this stage.
    """
    entry = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "stage": stage,
        "action": action,
        "ids": list(ids),
        "references": references,
    }
    path = model.with_name(f"{model.name}.{AUDIT}")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, (json.dumps(entry) + "\n").encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
