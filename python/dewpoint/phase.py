"""One layer on a cloud of tokens, a map of it, and many layers.

SPDX-License-Identifier: Apache-2.0
"""

from .verbs import phase_depth as depth
from .verbs import phase_map as map
from .verbs import phase_point as point

__all__ = ["depth", "map", "point"]
