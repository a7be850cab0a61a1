"""The softmax statistics of one causal head in NumPy, a block of rows at a time.

    python3 head_statistics.py --queries q.npy --keys k.npy --multipliers 1 --rows 64
    python3 head_statistics.py --queries q.npy --keys k.npy --multipliers 1 0.8 1.25 1.5 --dew-points

float32 arrays, scores q k / sqrt(d). Per row and multiplier, over the visible keys but the first:
the largest score and the sums of w, gap w, gap^2 w, w^2; once per row the sums of gap and gap^2;
and, if asked for, the dew points with and without the first key, where everything but the best key
holds as much as the best key, by Newton's method on all rows of the block at once. Prints JSON: the
CPU seconds of the whole pass, and the statistics of some rows to compare with.
"""

import argparse
import json
import time

import numpy as np


def dew_points(gaps, start, visible):
    """beta with sum exp(-beta gap) = 2 in every row, the winner's own gap being 0.

    log R is convex and falls, so Newton's method from below never overshoots. Rows that are done
    leave the block. Hidden keys have gap inf.
    """
    beta = start.copy()
    active = np.flatnonzero(visible >= 3)
    beta[visible < 3] = np.nan
    part = gaps if len(active) == len(gaps) else gaps[active]
    for _ in range(60):
        b = beta[active]
        exponents = part * -b[:, None]
        weights = np.exp(exponents)
        np.copyto(exponents, 0, where=weights == 0)
        mass = weights.sum(axis=1) - 1
        slope = -np.einsum("ij,ij->i", exponents, weights) / mass
        step = np.log(mass) / slope
        beta[active] = b * np.exp(np.clip(step, -1, 1))
        going = np.abs(step) > 1e-5
        if not going.any():
            break
        if not going.all():
            active, part = active[going], part[going]
    return beta


def block_statistics(queries, keys, first_row, multipliers, want_dew_points):
    rows = len(queries)
    end = first_row + rows
    scores = queries @ keys[:end].T
    hidden = np.triu(np.ones((rows, rows), bool), 1)
    scores[:, first_row:][hidden] = -np.inf
    first = scores[:, 0].copy()
    rest = scores[:, 1:]
    largest = rest.max(axis=1, initial=-np.inf)
    with np.errstate(invalid="ignore"):  # the first query sees no key but the first
        gaps = largest[:, None] - rest
    tail = gaps[:, max(first_row - 1, 0):]
    hidden_tail = hidden[:, hidden.shape[1] - tail.shape[1]:]

    visible = np.arange(first_row, end) + 1
    tail[hidden_tail] = 0
    result = {"largest": largest, "first": first, "gap": gaps.sum(axis=1, dtype=np.float64),
              "squared_gap": np.einsum("ij,ij->i", gaps, gaps), "softmax": []}
    for m in multipliers:
        weights = np.exp(gaps * np.float32(-m))
        weights[:, max(first_row - 1, 0):][hidden_tail] = 0
        weighed = weights * gaps
        result["softmax"].append([weights.sum(axis=1), m * weighed.sum(axis=1),
                                  m * m * np.einsum("ij,ij->i", weighed, gaps),
                                  np.einsum("ij,ij->i", weights, weights)])
    if want_dew_points:
        tail[hidden_tail] = np.inf
        with np.errstate(all="ignore"):
            competitors = (visible - 2).astype(np.float32)
            start = np.log(competitors) * competitors / result["gap"].astype(np.float32)
            result["without_first"] = dew_points(gaps, start, visible - 1)
            np.subtract(np.maximum(largest, first)[:, None], scores, out=scores)
            everything = np.where(np.isinf(scores), 0, scores).sum(axis=1)
            start = np.log(competitors + 1) * (competitors + 1) / everything
            result["dew_point"] = dew_points(scores, start, visible)
    return result


def sampled(result, row):
    sample = {name: float(result[name][row]) for name in ("largest", "first", "gap", "squared_gap")}
    sample["softmax"] = [[float(s[row]) for s in sums] for sums in result["softmax"]]
    for name in ("dew_point", "without_first"):
        if name in result:
            sample[name] = float(result[name][row])
    return sample


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--queries", required=True)
    parser.add_argument("--keys", required=True)
    parser.add_argument("--multipliers", type=float, nargs="+", default=[1.0])
    parser.add_argument("--dew-points", action="store_true")
    parser.add_argument("--rows", type=int, default=64)
    arguments = parser.parse_args()

    queries = np.load(arguments.queries)
    queries = (queries / np.sqrt(queries.shape[1])).astype(np.float32)
    keys = np.load(arguments.keys).astype(np.float32)
    samples = {}
    start = time.process_time()
    for first in range(0, len(queries), arguments.rows):
        block = queries[first:first + arguments.rows]
        result = block_statistics(block, keys, first, arguments.multipliers, arguments.dew_points)
        samples[first + len(block) - 1] = sampled(result, len(block) - 1)
    seconds = time.process_time() - start
    print(json.dumps({"seconds": seconds, "numpy": np.__version__, "samples": samples}))


if __name__ == "__main__":
    main()
