"""The phase map of one cloud of tokens, as one would write it in NumPy: a function of a cell, two loops.

    python3 phase_numpy.py --dtype float64 --noise noise.npy --common common.npy

The noise (n x d) and the common vector (d) come from files, so that both programs see the same
tokens. Prints one JSON object: the contraction of every cell and the seconds it took.
"""

import argparse
import json
import time

import numpy as np


def contraction(x, beta):
    """Mean over pairs of (1 - cos after) / (1 - cos before) for one self-attention layer."""
    y = x / np.linalg.norm(x, axis=1, keepdims=True)
    g = y @ y.T
    a = np.exp(beta * (g - 1))
    a /= a.sum(axis=1, keepdims=True)
    m = a @ y
    y_out = m / np.linalg.norm(m, axis=1, keepdims=True)
    g_out = y_out @ y_out.T
    i, j = np.triu_indices(len(x), 1)
    return np.mean((1 - g_out[i, j]) / (1 - g[i, j]))


def phase_map(noise, common, rhos, gammas):
    result = np.empty((len(rhos), len(gammas)))
    for r, rho in enumerate(rhos):
        x = (np.sqrt(rho) * common + np.sqrt(1 - rho) * noise).astype(noise.dtype)
        for c, gamma in enumerate(gammas):
            beta = noise.dtype.type(gamma * np.log(len(noise)))
            result[r, c] = contraction(x, beta)
    return result


def hoisted_phase_map(noise, common, rhos, gammas):
    """The same by someone who profiled it: one Gram matrix per rho, inverse gaps instead of indices."""
    result = np.empty((len(rhos), len(gammas)))
    n = len(noise)
    for r, rho in enumerate(rhos):
        x = (np.sqrt(rho) * common + np.sqrt(1 - rho) * noise).astype(noise.dtype)
        y = x / np.linalg.norm(x, axis=1, keepdims=True)
        gap = 1 - y @ y.T
        np.fill_diagonal(gap, 1)
        inverse = 1 / gap
        np.fill_diagonal(gap, 0)
        np.fill_diagonal(inverse, 0)
        for c, gamma in enumerate(gammas):
            a = np.exp(noise.dtype.type(-gamma * np.log(n)) * gap)
            m = a @ y  # the norm of a row of a does not matter for directions
            m /= np.linalg.norm(m, axis=1, keepdims=True)
            result[r, c] = np.vdot(1 - m @ m.T, inverse) / (n * (n - 1))
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--noise", required=True)
    parser.add_argument("--common", required=True)
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float64")
    parser.add_argument("--hoisted", action="store_true")
    parser.add_argument("--repeats", type=int, default=1)
    arguments = parser.parse_args()

    noise = np.load(arguments.noise).astype(arguments.dtype)
    common = np.load(arguments.common).astype(arguments.dtype)
    rhos = np.arange(20) / 20
    gammas = np.arange(1, 33) / 4
    run = hoisted_phase_map if arguments.hoisted else phase_map
    seconds = []
    for _ in range(arguments.repeats):
        start = time.perf_counter()
        result = run(noise, common.reshape(-1), rhos, gammas)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "contraction": result.tolist()}))


if __name__ == "__main__":
    main()
