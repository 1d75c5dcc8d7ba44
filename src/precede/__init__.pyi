# What the package offers and where each name lives, for type checkers and for the package itself (precede.lazy).
from precede import baselines as baselines
from precede import scores as scores
from precede.comparison import Comparison as Comparison
from precede.comparison import compare as compare
from precede.corl import CORL as CORL
from precede.corl import discover as discover
from precede.corl import methods as methods
from precede.data.datasets import Dataset as Dataset
from precede.data.datasets import load_sachs as load_sachs
from precede.data.load import load_table as load_table
from precede.data.table import Table as Table
from precede.errors import DataError as DataError
from precede.errors import GraphError as GraphError
from precede.errors import KnowledgeError as KnowledgeError
from precede.errors import OptionError as OptionError
from precede.errors import PrecedeError as PrecedeError
from precede.evidence.confidence import Confidence as Confidence
from precede.graph import CausalGraph as CausalGraph
from precede.graph import MixedGraph as MixedGraph
from precede.knowledge import Knowledge as Knowledge
from precede.metrics import Metrics as Metrics
from precede.metrics import evaluate as evaluate
from precede.report.folder import load_results as load_results
from precede.scores.protocol import OrderScore as OrderScore
from precede.simulation import simulate as simulate

__version__: str
