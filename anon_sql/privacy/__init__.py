"""Privacy models, one per file: the requirement on a class, and how near a class comes to it.

``MODELS`` is the only list of them; its order is that of the rows of ``audit``.
"""

from anon_sql.privacy.beta_likeness import BetaLikeness
from anon_sql.privacy.delta_disclosure import DeltaDisclosure
from anon_sql.privacy.k_anonymity import KAnonymity
from anon_sql.privacy.l_diversity import LDiversity
from anon_sql.privacy.max_share import MaxShare
from anon_sql.privacy.model import Model, ValueModel
from anon_sql.privacy.t_closeness import TCloseness

MODELS: tuple[type[Model], ...] = (
    KAnonymity,
    LDiversity,
    TCloseness,
    BetaLikeness,
    DeltaDisclosure,
    MaxShare,
)
VALUE_MODELS: tuple[type[ValueModel], ...] = tuple(
    model for model in MODELS if issubclass(model, ValueModel)
)
