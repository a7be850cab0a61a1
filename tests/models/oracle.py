"""Logits of a llama2.c checkpoint, by NumPy in double: python3 oracle.py model.bin tokens.txt out.npy

Written from the definition of the model, with dense n x n scores, and sharing nothing with the
library. A line of the header, then the weights one after the other.
"""

import sys

import numpy as np


def read(path):
    with open(path, "rb") as file:
        dim, inner, layers, heads, key_heads, words, _ = np.fromfile(file, "<i4", 7)
        assert words > 0, "the head is a matrix of its own"
        key_dim = dim * key_heads // heads

        def take(*shape):
            return np.fromfile(file, "<f4", int(np.prod(shape))).reshape(shape).astype(float)

        weights = {"embedding": take(words, dim)}
        for name, shape in [
            ("attention_norm", (dim,)), ("q", (dim, dim)), ("k", (key_dim, dim)),
            ("v", (key_dim, dim)), ("o", (dim, dim)), ("mlp_norm", (dim,)),
            ("gate", (inner, dim)), ("down", (dim, inner)), ("up", (inner, dim)),
        ]:
            weights[name] = take(layers, *shape)
        weights["norm"] = take(dim)
        return weights, heads, key_heads


def norm(x, scale):
    return scale * x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + 1e-5)


def rotate(x):
    """x is [n, heads, d]; neighbours (2k, 2k + 1) are a complex number."""
    n, _, d = x.shape
    angles = np.outer(np.arange(n), 10000.0 ** (-np.arange(0, d, 2) / d))
    turned = (x[..., 0::2] + 1j * x[..., 1::2]) * np.exp(1j * angles)[:, None, :]
    return np.stack([turned.real, turned.imag], axis=-1).reshape(x.shape)


def attention(x, w, layer, heads, key_heads):
    n, dim = x.shape
    d = dim // heads
    y = norm(x, w["attention_norm"][layer])
    q = rotate((y @ w["q"][layer].T).reshape(n, heads, d))
    k = rotate((y @ w["k"][layer].T).reshape(n, key_heads, d))
    v = (y @ w["v"][layer].T).reshape(n, key_heads, d)
    k, v = (np.repeat(z, heads // key_heads, axis=1) for z in (k, v))
    scores = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(d)
    scores[:, np.triu_indices(n, 1)[0], np.triu_indices(n, 1)[1]] = -np.inf
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("hij,jhd->ihd", weights, v).reshape(n, dim) @ w["o"][layer].T


def feed_forward(x, w, layer):
    y = norm(x, w["mlp_norm"][layer])
    gate = y @ w["gate"][layer].T
    return (gate / (1.0 + np.exp(-gate)) * (y @ w["up"][layer].T)) @ w["down"][layer].T


def main(model, tokens, out):
    w, heads, key_heads = read(model)
    x = w["embedding"][np.loadtxt(tokens, dtype=int, ndmin=1)]
    for layer in range(len(w["q"])):
        x = x + attention(x, w, layer, heads, key_heads)
        x = x + feed_forward(x, w, layer)
    np.save(out, norm(x, w["norm"]) @ w["embedding"].T)


if __name__ == "__main__":
    main(*sys.argv[1:])
