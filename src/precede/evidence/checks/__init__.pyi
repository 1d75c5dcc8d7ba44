from precede.evidence.checks.all_checks import diagnose as diagnose
from precede.evidence.checks.context import CheckContext as CheckContext
from precede.evidence.checks.record import Check as Check
from precede.evidence.checks.record import Diagnostics as Diagnostics
from precede.evidence.checks.record import EdgeDiagnostics as EdgeDiagnostics
from precede.evidence.checks.record import Remark as Remark
from precede.evidence.checks.result_checks import Chance as Chance
from precede.evidence.checks.result_checks import compare_with_chance as compare_with_chance
