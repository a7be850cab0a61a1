"""Multipliers of the logits: what engines apply, and what keeps the phase.

SPDX-License-Identifier: Apache-2.0
"""

from .verbs import scale_explain as explain
from .verbs import scale_fit as fit

__all__ = ["explain", "fit"]
