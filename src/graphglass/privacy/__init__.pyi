from .noise_scale import gaussian_sigma as gaussian_sigma
from .private_summary import PrivateSummary as PrivateSummary
from .release.audit import audit as audit
from .release.ledger import Ledger as Ledger
from .release.merge import merge as merge
from .summary_detector import SummaryDetector as SummaryDetector
