"""Contraction and Jacobian norm of one attention layer, as one would write them in NumPy: reverse
mode by hand, random probes (Hutchinson), as many as the wanted error needs.

    python3 norm_numpy.py --tokens tokens.npy --beta 3.05 --target 0.01

Prints one JSON object: seconds (pilot not counted), contraction, the norm and its relative error,
and the number of probes.
"""

import argparse
import json
import time

import numpy as np


def forward(x, beta):
    """Everything the backward pass needs, and the contraction."""
    r = np.linalg.norm(x, axis=1, keepdims=True)
    y = x / r
    g = y @ y.T
    a = np.exp(beta * (g - 1))
    a /= a.sum(axis=1, keepdims=True)
    m = a @ y
    y_out = m / np.linalg.norm(m, axis=1, keepdims=True)
    i, j = np.triu_indices(len(x), 1)
    g_out = y_out @ y_out.T
    return r, y, a, m, np.mean((1 - g_out[i, j]) / (1 - g[i, j]))


def backward(w, r, y, a, m, beta):
    """The gradient with respect to the tokens of <w, outputs>."""
    t = beta * a * (w @ y.T - (w * m).sum(axis=1, keepdims=True))
    y_bar = a.T @ w + t @ y + t.T @ y
    return (y_bar - y * (y * y_bar).sum(axis=1, keepdims=True)) / r


def probe(rng, state, beta):
    w = rng.choice(np.array([-1, 1], dtype=state[1].dtype), size=state[1].shape)
    return np.sum(np.square(backward(w, *state[:4], beta)), dtype=np.float64) / w.size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--beta", type=float, required=True)
    parser.add_argument("--target", type=float, default=0.01)
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float32")
    arguments = parser.parse_args()
    x = np.load(arguments.tokens).astype(arguments.dtype)
    beta = x.dtype.type(arguments.beta)
    rng = np.random.default_rng(1)

    state = forward(x, beta)
    pilot = [probe(rng, state, beta) for _ in range(24)]
    spread = np.std(pilot, ddof=1) / np.mean(pilot)
    probes = max(1, int(np.ceil((spread / arguments.target) ** 2)))
    seconds = []
    while len(seconds) < 3 and sum(seconds) < 10:
        start = time.perf_counter()
        state = forward(x, beta)
        values = [probe(rng, state, beta) for _ in range(probes)]
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "contraction": float(state[4]), "probes": probes,
                      "norm": float(np.mean(values)), "error": float(spread / np.sqrt(probes))}))


if __name__ == "__main__":
    main()
