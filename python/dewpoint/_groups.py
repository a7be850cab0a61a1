"""Verbs that are asked by their own name and have others below them.

SPDX-License-Identifier: Apache-2.0
"""

from . import verbs


class Query:
    """`dp.query(...)` is `dp.query.point(...)`; beside it `heat`, `harmonics` and `output`."""

    point = staticmethod(verbs.query_point)
    heat = staticmethod(verbs.query_heat)
    harmonics = staticmethod(verbs.query_harmonics)
    output = staticmethod(verbs.query_output)
    __call__ = staticmethod(verbs.query_point)


class Verify:
    """`dp.verify(...)` examines the papers' statements, `dp.verify.errata(...)` our corrections."""

    errata = staticmethod(verbs.verify_errata)
    __call__ = staticmethod(verbs.verify)


query = Query()
verify = Verify()
