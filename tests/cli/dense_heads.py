"""Dumps for heads_test.py and what they hold, by dense sums in double. Needs NumPy.

Reads requests from standard input as one JSON object and answers with another:

    {"write": [{"file", "seed", "shape", ...}]}       makes dumps
    {"measure": {"q", "k", facts of the dump}}        per bin of n, head and multiplier
"""

import json
import math
import struct
import sys

import numpy as np


def tensors(seed, heads, key_heads, tokens, dimension, factor=1.0, queries=None):
    """float32 queries and keys, normal numbers; queries times the factor, rounded once."""
    random = np.random.default_rng(seed)
    k = random.standard_normal((key_heads, tokens, dimension)).astype(np.float32)
    q = random.standard_normal((heads, tokens, dimension)).astype(np.float32)
    q = (factor * q.astype(np.float64)).astype(np.float32)
    return (q if queries is None else q[:, -queries:]), k


def write_safetensors(file, arrays, facts):
    """By hand: length of the header, header, bytes."""
    header, body = {"__metadata__": facts} if facts else {}, b""
    for name, array in arrays.items():
        if array.dtype == np.uint16:  # the upper halves of floats
            kind = "BF16"
        else:
            kind = {"float16": "F16", "float32": "F32", "float64": "F64"}[str(array.dtype)]
        data = np.ascontiguousarray(array).tobytes()
        header[name] = {"dtype": kind, "shape": list(array.shape),
                        "data_offsets": [len(body), len(body) + len(data)]}
        body += data
    text = json.dumps(header).encode()
    with open(file, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + body)


def dew_point(scores):
    """The β at which the best of the scores holds half of the weight."""
    ordered = np.sort(scores)[::-1]
    gaps = ordered[0] - ordered[1:]
    if len(gaps) < 2:
        return math.nan
    low, high = 0.0, math.log(len(gaps)) / gaps[0] + 1.0
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.exp(-middle * gaps).sum() > 1.0 else (low, middle)
    return 0.5 * (low + high)


def softmax_row(scores, keys):
    top = scores.max()
    weights = np.exp(scores - top)
    weights /= weights.sum()
    entropy = -(weights * np.log(np.maximum(weights, 1e-300))).sum()
    mean = (weights * scores).sum()
    return {"entropy": entropy, "effective_keys": math.exp(entropy),
            "effective_share": math.exp(entropy) / keys, "participation": (weights**2).sum(),
            "largest_weight": weights.max(), "mean_score": mean,
            "score_variance": (weights * (scores - mean)**2).sum(), "largest_score": top}, weights


def visible(position, keys, causal, window):
    last = position if causal else keys - 1
    first = max(0, position + 1 - window) if window else 0
    return first, last + 1


def measure_row(products, first, sink, facts, multiplier):
    """All statistics of one query; products are of the keys that it sees."""
    cap = facts["softcap"]
    capped = (lambda s: cap * np.tanh(s / cap)) if cap else (lambda s: s)
    scores = capped(multiplier * products)
    row, weights = softmax_row(scores if sink is None else np.append(scores, sink), len(scores))
    row["first_mass"] = weights[0] if first == 0 else 0.0
    row["sink_mass"] = 0.0 if sink is None else weights[-1]
    rest = 1 if first == 0 else 0
    without, _ = softmax_row(scores[rest:], len(scores) - rest)
    row.update({name + "_without_sink": value for name, value in without.items()})
    plain = capped(products)
    row["dew"], row["dew_without_sink"] = dew_point(plain), dew_point(plain[rest:])
    # The factor by which the gaps of the scores grow: m itself where nothing is capped.
    gaps, plain_gaps = scores[rest:].max() - scores[rest:], plain[rest:].max() - plain[rest:]
    growth = gaps.sum() / plain_gaps.sum()
    row["tau"], row["tau_without_sink"] = growth / row["dew"], growth / row["dew_without_sink"]
    row["keys"] = len(scores)
    return row


def quantile(values, share):
    return float(np.quantile(values, share, method="averaged_inverted_cdf"))


def summary(rows):
    """Of the queries of one bin."""
    found = {}
    for name in rows[0]:
        if not name.startswith(("dew", "tau")):
            found[name] = float(np.mean([row[name] for row in rows]))
    for suffix in ("", "_without_sink"):
        dews = [row["dew" + suffix] for row in rows]
        found["dew_point" + suffix] = quantile(dews, 0.5)
        found["dew_point_lower" + suffix] = quantile(dews, 0.25)
        found["dew_point_upper" + suffix] = quantile(dews, 0.75)
        found["dew_point_mean" + suffix] = float(np.exp(np.mean(np.log(dews))))
        found["phase" + suffix] = quantile([row["tau" + suffix] for row in rows], 0.5)
    return found


def bin_ends(longest):
    ends = []
    while longest >= 16:
        ends.insert(0, longest)
        longest //= 2
    return ends


def measure(request):
    """A list over heads of lists over bins: of every query, in double."""
    with np.load(request["file"]) as file:
        q, k = file["q"].astype(np.float64), file["k"].astype(np.float64)
        sinks = file["sink"].tolist() if "sink" in file else [None] * len(q)
    facts = {"causal": True, "window": 0, "softcap": 0.0, "scale": q.shape[-1]**-0.5, **request}
    offset, answer, longest = k.shape[1] - q.shape[1], [], 0
    for head in range(len(q)):
        products = facts["scale"] * q[head] @ k[head * len(k) // len(q)].T
        rows = []
        for i, line in enumerate(products):
            first, end = visible(i + offset, k.shape[1], facts["causal"], facts["window"])
            longest = max(longest, end - first)
            if end - first > 8:
                rows.append(measure_row(line[first:end], first, sinks[head], facts,
                                        facts.get("multiplier", 1.0)))
        answer.append(rows)
    bins = [(end // 2, end) for end in bin_ends(longest)]
    return {"n": [end for _, end in bins],
            "heads": [[summary(inside) if (inside := [row for row in rows if low < row["keys"] <= end])
                       else None for low, end in bins] for rows in answer]}


def write(request):
    q, k = tensors(request["seed"], *request["shape"], request.get("factor", 1.0),
                   request.get("queries"))
    arrays = {"q": q, "k": k}
    if "sinks" in request:
        arrays["sink"] = np.array(request["sinks"], np.float32)
    file, facts = request["file"], request.get("facts", {})
    if request.get("round"):  # to eight bits of mantissa, which bf16 holds
        for name in ("q", "k"):
            bits = arrays[name].view(np.uint32) & np.uint32(0xFFFF0000)
            arrays[name] = bits.view(np.float32)
    if request["round"] == "bf16" if "round" in request else False:
        arrays = {name: (array.view(np.uint32) >> 16).astype(np.uint16)
                  for name, array in arrays.items()}
    for name in request.get("leave_out", []):
        del arrays[name]
    if "spoil" in request:
        arrays["k"][0, 5, 2] = float(request["spoil"])
    if request.get("layout") == "BNHD":
        arrays = {name: array.swapaxes(0, 1)[None] for name, array in arrays.items()}
    if file.endswith(".npz"):
        save = np.savez_compressed if request.get("deflated") else np.savez
        if facts:
            arrays["metadata"] = np.frombuffer(json.dumps(facts).encode(), np.uint8)
        save(file, **arrays)
    elif file.endswith(".safetensors"):
        write_safetensors(file, {"layers.0." + name: array for name, array in arrays.items()}, facts)
    else:
        for name, array in arrays.items():
            np.save(f"{file}/{name}.npy", array)


def main():
    request = json.load(sys.stdin)
    for one in request.get("write", []):
        write(one)
    print(json.dumps([measure(one) for one in request.get("measure", [])]))


main()
