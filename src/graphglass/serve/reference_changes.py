"""The service in use, and changes of its references: each makes another service, which takes the place of the first."""

from __future__ import annotations

import copy
import json
import logging
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from graphglass.detector.reference_detector import ReferenceDetector
from graphglass.errors import ModelConflictError
from graphglass.files.atomic import locked
from graphglass.files.load import artifact_digest
from graphglass.graphs.graph_set import GraphSet
from graphglass.serve.service import REPLACED, Service, ids_on_side

logger = logging.getLogger("graphglass.serve")

LOG_NAME = "references-audit.log"


class CurrentService:
    """Holds the service that answers requests now, and changes it, one change at a time.

    A change builds a new detector, saves it, and then replaces the service by one assignment. Whoever takes ``service``
    once works with one state throughout.

    Parameters
    ----------
    service : Service

    Attributes
    ----------
    service : Service
    """

    def __init__(self, service: Service) -> None:
        self.service = service

    def add(self, graphs: GraphSet, *, anomalous: bool = False) -> tuple[str, ...]:
        """Add trusted normals or known anomalies, durably; returns their ids, which may differ where names clash."""
        changed = self._copy()
        if anomalous:
            changed.add_anomalies(graphs, strict=True)
        else:
            changed.add_references(graphs)
        ids = ids_on_side(changed, anomalous)[-len(graphs) :]
        self._replace(changed, "add", ids, anomalous)
        return ids

    def remove(self, ids: Sequence[str], *, anomalous: bool = False) -> None:
        """Remove trusted normals or known anomalies by id, durably."""
        changed = self._copy()
        (changed.remove_anomalies if anomalous else changed.remove_references)(ids)
        self._replace(changed, "remove", ids, anomalous)

    def prepare_map(self) -> None:
        """Fit the map of the references, which is then kept; many changes in a row cost one map, that of the last."""
        if self.service.detector is not None:
            self.service.reference_map()

    def _copy(self) -> ReferenceDetector:
        return copy.copy(self.service.with_references("A change of the references"))

    def _replace(self, changed: ReferenceDetector, action: str, ids: Sequence[str], anomalous: bool) -> None:
        before, path = self.service, self.service.path
        after = before.with_detector(changed)
        record = partial(record_change, path, f"{action}-anomalies" if anomalous else action, ids)
        if not path.is_dir():
            raise ModelConflictError(REPLACED)
        with locked(path):  # from the look at the disk to the save, so no other writer comes between
            if artifact_digest(path) != before.digest:
                raise ModelConflictError(REPLACED)
            try:
                record("begun", before.count(anomalous))
            except OSError as error:
                logger.error("The change log cannot be written: %s", error)
                raise ModelConflictError(
                    "The references cannot be changed: the service cannot write its change log next to the model. "
                    "Let it write to the folder that the model is in."
                ) from error
            try:
                changed.save(path)
            except Exception as error:
                if artifact_digest(path) == before.digest:
                    _record_if_possible(record, "failed", before.count(anomalous))
                    raise
                # The manifest is in place, so the change is: what failed comes after it, such as the model's card.
                logger.error("The changed model is saved, but not all that belongs to it: %s", error)
            after.digest = artifact_digest(path)
            self.service = after
        _record_if_possible(record, "done", after.count(anomalous))


def _record_if_possible(record: partial[None], stage: str, count: int) -> None:
    """The end of a change in its log; what has happened already is not reported as something else if that fails."""
    try:
        record(stage, count)
    except OSError as error:
        logger.error("A change is %s, which the change log could not take: %s", stage, error)


def record_change(model: Path, action: str, ids: Sequence[str], stage: str, references: int) -> None:
    """Append a line to the log and make it durable. Graph content is not logged.

    A change that was ``begun`` and neither ``done`` nor ``failed`` was cut off by a crash; the model may or may not
    hold it. The action is ``add`` or ``remove``, with ``-anomalies`` for known anomalies; ``references`` counts the
    graphs on that side.
    """
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    entry = {"time": now, "stage": stage, "action": action, "ids": list(ids), "references": references}
    path = model.with_name(f"{model.name}.{LOG_NAME}")
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(descriptor, (json.dumps(entry) + "\n").encode())
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
