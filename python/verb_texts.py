"""What the options of a verb do not say: its formula, and an example that is run as a test.

The keys are the verbs that have a Python function.

SPDX-License-Identifier: Apache-2.0
"""

TEXTS = {
    "phase point": {
        "formula": r"""
            Tokens :math:`x_i` become :math:`x_i' = \sum_j w_{ij} x_j + \alpha x_i` with
            :math:`w_{ij} \propto e^{\beta \langle x_i, x_j\rangle}`, :math:`\beta = \gamma \log n`.
            The contraction is :math:`\lambda = \langle 1 - \cos'\rangle / \langle 1 - \cos\rangle`,
            the Jacobian norm :math:`\eta = \|J\|_F^2/(n d)`. `tokens` may be an array.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.phase.point(tokens="simplex", n=64, rho=0.5, gamma=2)
            >>> print(result.contraction)  # exact: a simplex has no randomness
            0.3912656828 ± 0
            >>> round(result.theory["critical_gamma"], 3)
            2.0
            """,
    },
    "phase map": {
        "formula": r"""
            The contraction and, unless eta="none", the Jacobian norm over :math:`\rho` and
            :math:`\gamma`, :math:`\beta = \gamma \log n`; the transition of a simplex is at
            :math:`\gamma (1 - \rho) = 1`. Nothing is written unless `output` names a study.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.phase.map(n=64, rho=[0.2, 0.5], gamma="1:4:4", eta="none")
            >>> result.frame["contraction"].mean.shape
            (1, 1, 2, 4)
            """,
    },
    "phase depth": {
        "formula": r"""
            Layer after layer of :math:`x' = \mathrm{ATT}(N(x)) + \alpha x`: the mean gap
            :math:`1 - \cos` (its logarithm, followed far below rounding), the effective rank, and
            what is left of a gradient.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.phase.depth(exact=True, n=1e6, rho=0.5, gamma=2.4, layers=3)
            >>> result.frame["mean_cosine"].mean.shape
            (1, 4)
            """,
    },
    "condense": {
        "formula": r"""
            Weights :math:`w_j \propto e^{\beta s_j}` of N Gaussian scores at the loads
            :math:`t = \beta/\beta_c`, :math:`\beta_c = \sqrt{2 \log N}/\sigma`: above 1 they freeze
            onto few keys. A planted key of score :math:`s \sigma \sqrt{2 \log N}` is found above a load
            that depends on s, and at no load for :math:`s < 1`.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.condense(n=1e30, t=[0.5, 2.0], draws=200)
            >>> below, above = result.frame["largest_weight"].numpy().ravel()
            >>> below < 1e-6 and 0.3 < above < 0.7
            True
            """,
    },
    "query point": {
        "formula": r"""
            One query over n uniform keys on :math:`S^{d-1}` at :math:`\beta = \theta \beta_*`,
            :math:`\beta_* = (c_d n)^{2/(d-1)}`: many keys for :math:`\theta \ll 1`, a random few at
            :math:`\theta \sim 1`, the nearest one for :math:`\theta \gg 1`.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.query(d=5, n=1e6, theta=[0.02, 1, 50], draws=200)
            >>> result["regime"]
            [['subcritical', 'critical', 'condensed']]
            """,
    },
    "query heat": {
        "formula": r"""
            Attention over keys of a density :math:`f` moves a query by
            :math:`\beta^{-1} \nabla \log f`, a step of the heat equation run backwards.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.query.heat(n=2000, draws=10, beta=10)
            >>> measured, predicted = (result["drift"][0][name] for name in ("drift", "predicted_drift"))
            >>> abs(measured.mean - predicted) < 5 * measured.standard_error
            True
            """,
    },
    "query harmonics": {
        "formula": r"""
            Particles that all attend to each other: a ripple of degree :math:`\ell` in their density
            grows in one step as the heat equation run backwards lets it.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.query.harmonics(degree=[1, 2], beta=20, particles=300)
            >>> max(abs(one["growth"][0] - one["predicted"]) for one in result["harmonics"]) < 1e-6
            True
            """,
    },
    "query output": {
        "formula": r"""
            :math:`y = \sum_j w_j V k_j` over drawn keys: its mean and covariance beside the limit
            law.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.query.output(n=1000, beta=5, draws=20, rotation=0.5)
            >>> len(result["outputs"][0]["mean"])  # coordinates, each with its error
            5
            """,
    },
    "dew": {
        "formula": r"""
            The dew point :math:`\beta_{dew}` of laws of scores over n, and how it grows: as
            :math:`\log n` (gaps from the best key), :math:`\sqrt{\log n}` (Gaussian scores) or
            :math:`n^{2/(d-1)}` (keys on a sphere). In Python this is `dp.dew.laws`.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.dew.laws(law="sphere:d=3", n="1e2:1e8:4:log", draws=200)
            >>> result["laws"][0]["growth"]["beta_pr"]["law"]  # a = (d - 1)/2
            'n^(1/a)'
            """,
    },
    "train": {
        "formula": r"""
            One layer of attention on a Markov chain (or a small transformer on a text), by Adam,
            descent or gradient flow. The frames hold the trajectory and the stages that were
            found.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.train(m=32, sequences=500, steps=100)
            >>> "trajectory" in [frame.name for frame in result.frames]
            True
            """,
    },
    "heads": {"formula": "In Python this is `dp.heads`, which takes arrays too."},
    "heads sweep": {
        "formula": r"""
            The next-token loss of a model whose logits are multiplied by m, at several lengths,
            beside the m that keeps the phase of its heads.""",
    },
    "scale explain": {
        "formula": r"""
            Logits are :math:`s = m(n) \tau \langle q, k\rangle`: m(n) of a model in every engine.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.scale.explain("llama-4-scout", n=[8192, 131072])
            >>> result["n"]
            [8192.0, 131072.0]
            """,
    },
    "scale fit": {
        "formula": r"""
            The multiplier m at which heads at a longer context stand in the phase that they had at
            the training length.""",
    },
    "verify": {
        "formula": r"""
            Statements of the papers: a prediction, a measurement with its error, a tolerance, a
            verdict.""",
        "example": """
            >>> import dewpoint as dp
            >>> rows = dp.verify(only="cas.theorem-2.1")["rows"]
            >>> [row["verdict"] for row in rows]
            ['holds']
            """,
    },
    "verify errata": {
        "formula": "The same for our corrections to the papers.",
        "example": """
            >>> import dewpoint as dp
            >>> rows = dp.verify.errata(only="erratum.1")["rows"]
            >>> [row["verdict"] for row in rows]
            ['holds as corrected']
            """,
    },
    "predict layer": {
        "formula": r"""
            On a regular simplex a token keeps
            :math:`w = 1/(1 + (n-1) n^{-c})`, :math:`c = \gamma (1 - \rho)`.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.layer(n=1e6, rho=0.5, gamma=2.2)
            >>> result["phase"]["name"], round(result["quantities"]["self"]["exact"], 3)
            ('critical window', 0.799)
            """,
    },
    "predict variant": {
        "formula": r"""
            The same with as many keys as a query sees, and a sink of logit B that adds
            :math:`e^B` to the normalisation.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.variant(n=131072, rho=0.5, gamma=2, window=4096, off_by_one=True)
            >>> round(result["quantities"]["beta_dew"]["variant"], 3)  # log 4096 / (1 - rho)
            16.635
            """,
    },
    "predict bounds": {
        "formula": r"Bounds for correlations anywhere in :math:`[\rho_1, \rho_2]`.",
        "example": """
            >>> import dewpoint as dp
            >>> dp.predict.bounds(n=4096, d=128, rho1=0.4, rho2=0.6, gamma=1)["phase"]
            'subcritical'
            """,
    },
    "predict phases": {
        "formula": r"""
            Clusters of :math:`n^\tau` tokens: attention to all, to the cluster, or to the token
            itself, by :math:`\gamma`.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.phases(n=[1e3, 1e6], tau=0.7, rho_rest=0.1, rho_cluster=0.7)
            >>> round(result["gamma_1"], 3), round(result["gamma_2"], 3)
            (0.5, 2.333)
            """,
    },
    "predict critical": {
        "formula": r":math:`\gamma_c = 1/(1 - \rho)` of a simplex, and other models of the tokens.",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.critical(n=1024, d=64, rho=0.5)
            >>> result["critical"]["simplex_limit"]["gamma"]
            2.0
            """,
    },
    "predict depth": {
        "formula": r"The recursion of :math:`\rho` from layer to layer, exact on a simplex.",
        "example": """
            >>> import dewpoint as dp
            >>> dp.predict.depth(n=1e6, rho=0.5, gamma=2.4, layers=10)["collapse_depth"]
            4
            """,
    },
    "predict scaling": {
        "formula": r"""
            A model that is critical at :math:`n_0`, at longer contexts under the multipliers that
            models use.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.scaling(n=[65536, 1048576], n0=4096, rho=0.5)
            >>> result["scalings"][0]["scaling"], result["scalings"][0]["fate"]
            ('constant', 'collapses')
            """,
    },
    "predict condense": {
        "formula": r"""
            :math:`E w_{\max}`, :math:`E \sum w^2 = \max(0, 1 - 1/t)` in the limit, and
            :math:`E \log Z` at any N.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.condense(n=1e6, t=1.5, signal=0.9)
            >>> weight = result["quantities"]["largest_weight"]
            >>> round(weight["exact"], 3), round(weight["limit"], 3)
            (0.543, 0.48)
            """,
    },
    "predict query": {
        "formula": r"Weights and output at :math:`\beta = \theta (c_d n)^{2/(d-1)}`.",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.query(d=5, n=1e6, theta=1)
            >>> result["regime"], round(result["quantities"]["largest_weight"]["exact"], 4)
            ('critical', 0.2312)
            """,
    },
    "predict softmax": {
        "formula": r"""
            Exact means over n independent scores of a law, by one integral over the largest.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.softmax(law="gaussian", n=1e6, beta=[1, 10])
            >>> round(result["table"][0]["entropy"], 3)  # nats, out of log n = 13.816
            13.316
            """,
    },
    "predict dew": {
        "formula": r"Dew points of a law of scores by every definition, over n.",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.dew(law="sphere:d=64", n=[1e3, 1e6])
            >>> round(result["table"][0]["beta_edge"], 2)
            29.87
            """,
    },
    "predict heat": {
        "formula": r"The drift :math:`\beta^{-1} \nabla \log f` and the growth of harmonics.",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.heat(beta=[10, 100])
            >>> round(result["drift"][0]["across"], 3), result["drift"][0]["across_first_order"] < 0.13
            (0.101, True)
            """,
    },
    "predict train": {
        "formula": r"""
            Gradient flow of one layer on a chain with stationary law :math:`\pi` and repetition
            :math:`\lambda`: its critical points, rates, times and focus.""",
        "example": """
            >>> import dewpoint as dp
            >>> result = dp.predict.train(pi=[0.6, 0.2, 0.2], lambda_=0.8)
            >>> round(result["critical_points"]["origin_rate"]["value"], 4)
            0.2166
            """,
    },
}
