from .noise_scale import gaussian_sigma as gaussian_sigma
from .private_summary import PrivateSummary as PrivateSummary
from .private_summary import merge as merge
from .record_form import RecordForm as RecordForm
from .release.audit import audit as audit
from .release.ledger import Ledger as Ledger
from .summary_detector import SummaryDetector as SummaryDetector
