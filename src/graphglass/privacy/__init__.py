"""Private reference summaries: what makes one, and what a server may read. `graphglass.release` makes one."""

from typing import TYPE_CHECKING

from graphglass.lazy_names import lazy_names

if TYPE_CHECKING:
    from graphglass.privacy.noise_scale import gaussian_sigma
    from graphglass.privacy.private_summary import PrivateSummary
    from graphglass.privacy.release.audit import audit
    from graphglass.privacy.release.ledger import Ledger
    from graphglass.privacy.release.merge import merge
    from graphglass.privacy.summary_detector import SummaryDetector

_HOMES = {
    "Ledger": "release.ledger",
    "PrivateSummary": "private_summary",
    "SummaryDetector": "summary_detector",
    "audit": "release.audit",
    "gaussian_sigma": "noise_scale",
    "merge": "release.merge",
}

__all__ = ["Ledger", "PrivateSummary", "SummaryDetector", "audit", "gaussian_sigma", "merge"]

__getattr__, __dir__ = lazy_names(__name__, _HOMES)
