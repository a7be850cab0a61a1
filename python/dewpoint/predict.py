"""The theory, evaluated in a moment at any length up to n = 1e300.

SPDX-License-Identifier: Apache-2.0
"""

from .verbs import predict_bounds as bounds
from .verbs import predict_condense as condense
from .verbs import predict_critical as critical
from .verbs import predict_depth as depth
from .verbs import predict_dew as dew
from .verbs import predict_heat as heat
from .verbs import predict_layer as layer
from .verbs import predict_phases as phases
from .verbs import predict_query as query
from .verbs import predict_scaling as scaling
from .verbs import predict_softmax as softmax
from .verbs import predict_train as train
from .verbs import predict_variant as variant

__all__ = ["bounds", "condense", "critical", "depth", "dew", "heat", "layer", "phases", "query",
           "scaling", "softmax", "train", "variant"]
