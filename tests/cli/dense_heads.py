"""Dumps for heads_test.py, and what is in them by dense sums in double. Needs NumPy.

One JSON object on standard input, {"write": [..], "measure": [..]}: dumps to make, and dumps to
measure. The answer on standard output is a list, one entry per measurement:

    {"n": ends of the bins, "heads": [[statistics of a bin, ..] per head]}
"""

import json
import math
import struct
import sys

import numpy as np

# ---- writing --------------------------------------------------------------------------------


def tensors(request):
    """float32 queries and keys, normal numbers; queries times a factor, rounded once."""
    heads, key_heads, tokens, dimension = request["shape"]
    random = np.random.default_rng(request["seed"])
    k = random.standard_normal((key_heads, tokens, dimension)).astype(np.float32)
    q = random.standard_normal((heads, tokens, dimension)).astype(np.float32)
    q = (request.get("factor", 1.0) * q.astype(np.float64)).astype(np.float32)
    found = {"q": q[:, -request.get("queries", tokens):], "k": k}
    if "sinks" in request:
        found["sink"] = np.array(request["sinks"], np.float32)
    return found


def short(array):
    """Cut to the upper half of its bits, which bf16 keeps."""
    return (np.ascontiguousarray(array).view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def write_safetensors(file, arrays, facts, bf16):
    """By hand: length of the header, header, bytes."""
    header, body = {"__metadata__": facts}, b""
    for name, array in arrays.items():
        if bf16:
            array = (np.ascontiguousarray(array).view(np.uint32) >> 16).astype(np.uint16)
        data = np.ascontiguousarray(array).tobytes()
        header["layers.0." + name] = {"dtype": "BF16" if bf16 else "F32", "shape": list(array.shape),
                                      "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    with open(file, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + body)


def write_npz(file, arrays, facts, deflated):
    if facts:
        arrays = {**arrays, "metadata": np.frombuffer(json.dumps(facts).encode(), np.uint8)}
    (np.savez_compressed if deflated else np.savez)(file, **arrays)


def write(request):
    arrays, file, facts = tensors(request), request["file"], request.get("facts", {})
    if request.get("short"):
        arrays = {name: short(array) for name, array in arrays.items()}
    for name in request.get("leave_out", []):
        del arrays[name]
    if "spoil" in request:
        arrays["k"][0, 5, 2] = float(request["spoil"])
    if request.get("layout") == "BNHD":
        arrays = {name: array.swapaxes(0, 1)[None] for name, array in arrays.items()}
    if file.endswith(".npz"):
        write_npz(file, arrays, facts, request.get("deflated", False))
    elif file.endswith(".safetensors"):
        write_safetensors(file, arrays, facts, request.get("bf16", False))
    else:
        for name, array in arrays.items():
            np.save(f"{file}/{name}.npy", array)


# ---- measuring ------------------------------------------------------------------------------


def dew_point(scores):
    """The factor at which the best of the scores holds half of the weight, by bisection."""
    ordered = np.sort(scores)[::-1]
    gaps = ordered[0] - ordered[1:]
    low, high = 0.0, math.log(len(gaps)) / gaps[0] + 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.exp(-middle * gaps).sum() > 1.0 else (low, middle)
    return 0.5 * (low + high)


def softmax(scores, keys):
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    entropy = -(weights * np.log(np.maximum(weights, 1e-300))).sum()
    mean = (weights * scores).sum()
    return weights, {
        "entropy": entropy, "effective_keys": math.exp(entropy),
        "effective_share": math.exp(entropy) / keys, "participation": (weights**2).sum(),
        "largest_weight": weights.max(), "mean_score": mean,
        "score_variance": (weights * (scores - mean)**2).sum(), "largest_score": scores.max()}


def measure_row(products, first, sink, facts):
    """Of one query; products are of the keys that it sees, the first of which is number first."""
    cap, keys, m = facts["softcap"], len(products), facts["multiplier"]
    capped = (lambda s: cap * np.tanh(s / cap)) if cap else (lambda s: s)
    scores, plain, rest = capped(m * products), capped(products), 1 if first == 0 else 0
    weights, row = softmax(scores if sink is None else np.append(scores, sink), keys)
    row["first_mass"] = weights[0] if first == 0 else 0.0
    row["sink_mass"] = 0.0 if sink is None else weights[-1]
    _, without = softmax(scores[rest:], keys - rest)
    row.update({name + "_without_sink": value for name, value in without.items()})
    row["keys"] = keys
    # The phase is the factor by which gaps have grown, m where nothing is capped, over the dew point.
    growth = ((scores[rest:].max() - scores[rest:]).sum() / (plain[rest:].max() - plain[rest:]).sum())
    dews = {"": dew_point(plain), "_without_sink": dew_point(plain[rest:])}
    return row, {suffix: (dew, growth / dew) for suffix, dew in dews.items()}


def quantile(values, share):
    return float(np.quantile(values, share, method="averaged_inverted_cdf"))


def summary(rows):
    """Means, and quantiles of dew points, over the queries of one bin."""
    found = {name: float(np.mean([row[name] for row, _ in rows])) for name in rows[0][0]}
    for suffix in ("", "_without_sink"):
        dews, phases = zip(*(points[suffix] for _, points in rows))
        found["dew_point" + suffix] = quantile(dews, 0.5)
        found["dew_point_lower" + suffix] = quantile(dews, 0.25)
        found["dew_point_upper" + suffix] = quantile(dews, 0.75)
        found["dew_point_mean" + suffix] = float(np.exp(np.mean(np.log(dews))))
        found["phase" + suffix] = quantile(phases, 0.5)
    found["rows"] = len(rows)
    return found


def rows_of(products, sink, facts):
    """Of the queries of one head that see more than 8 keys."""
    queries, keys = products.shape
    for i, line in enumerate(products):
        position = i + keys - queries
        first = max(0, position + 1 - facts["window"]) if facts["window"] else 0
        end = position + 1 if facts["causal"] else keys
        if end - first > 8:
            yield measure_row(line[first:end], first, sink, facts)


def bins_of(longest):
    """Octaves (low, end], the longest last."""
    bins = []
    while longest >= 16:
        bins.insert(0, (longest // 2, longest))
        longest //= 2
    return bins


def measure(request):
    with np.load(request["file"]) as file:
        q, k = file["q"].astype(np.float64), file["k"].astype(np.float64)
        sinks = file["sink"].tolist() if "sink" in file else [None] * len(q)
    facts = {"causal": True, "window": 0, "softcap": 0.0, "scale": q.shape[-1]**-0.5,
             "multiplier": 1.0, **request}
    heads = [list(rows_of(facts["scale"] * q[h] @ k[h * len(k) // len(q)].T, sinks[h], facts))
             for h in range(len(q))]
    bins = bins_of(max(row["keys"] for row, _ in heads[0]))
    return {"n": [end for _, end in bins],
            "heads": [[summary([one for one in rows if low < one[0]["keys"] <= end])
                       if any(low < one[0]["keys"] <= end for one in rows) else None
                       for low, end in bins] for rows in heads]}


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    for one in asked.get("write", []):
        write(one)
    print(json.dumps([measure(one) for one in asked.get("measure", [])]))
