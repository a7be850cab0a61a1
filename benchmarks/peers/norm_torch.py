"""The same as norm_numpy.py with PyTorch's automatic differentiation.

    python3 norm_torch.py --tokens tokens.npy --beta 3.05 --target 0.01
"""

import argparse
import json
import time

import numpy as np
import torch


def forward(x, beta):
    y = torch.nn.functional.normalize(x, dim=1)
    out = torch.softmax(beta * (y @ y.T), dim=1) @ y
    with torch.no_grad():
        y_out = torch.nn.functional.normalize(out, dim=1)
        i, j = torch.triu_indices(len(x), len(x), 1)
        ratio = (1 - (y_out @ y_out.T)[i, j]) / (1 - (y @ y.T)[i, j])
        contraction = ratio.mean()
    return out, contraction


def probe(x, out):
    w = torch.randint(0, 2, x.shape).to(x.dtype) * 2 - 1
    (gradient,) = torch.autograd.grad(out, x, w, retain_graph=True)
    return float(gradient.square().sum()) / x.numel()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tokens", required=True)
    parser.add_argument("--beta", type=float, required=True)
    parser.add_argument("--target", type=float, default=0.01)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    x = torch.tensor(np.load(arguments.tokens), dtype=torch.float32, requires_grad=True)

    out, _ = forward(x, arguments.beta)
    pilot = [probe(x, out) for _ in range(24)]
    spread = np.std(pilot, ddof=1) / np.mean(pilot)
    probes = max(1, int(np.ceil((spread / arguments.target) ** 2)))
    seconds = []
    while len(seconds) < 3 and sum(seconds) < 10:
        start = time.perf_counter()
        out, contraction = forward(x, arguments.beta)
        values = [probe(x, out) for _ in range(probes)]
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "contraction": float(contraction), "probes": probes,
                      "norm": float(np.mean(values)), "error": float(spread / np.sqrt(probes))}))


if __name__ == "__main__":
    main()
