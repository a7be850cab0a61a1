"""The phase map of one cloud of tokens in PyTorch, with its fused attention; see phase_numpy.py."""

import argparse
import json
import math
import time

import numpy as np
import torch
import torch.nn.functional as F


def contraction(x, beta):
    y = F.normalize(x, dim=1)
    # scaled_dot_product_attention divides by sqrt(d): give it back with the temperature
    q = y * (beta * math.sqrt(y.shape[1]))
    m = F.scaled_dot_product_attention(q[None, None], y[None, None], y[None, None])[0, 0]
    y_out = F.normalize(m, dim=1)
    i, j = torch.triu_indices(len(x), len(x), 1)
    before = 1 - (y @ y.T)[i, j]
    after = 1 - (y_out @ y_out.T)[i, j]
    return (after / before).mean().item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--noise", required=True)
    parser.add_argument("--common", required=True)
    parser.add_argument("--dtype", choices=["float64", "float32"], default="float32")
    parser.add_argument("--repeats", type=int, default=1)
    arguments = parser.parse_args()

    torch.set_num_threads(1)
    dtype = getattr(torch, arguments.dtype)
    noise = torch.from_numpy(np.load(arguments.noise)).to(dtype)
    common = torch.from_numpy(np.load(arguments.common)).to(dtype).reshape(-1)
    seconds = []
    with torch.inference_mode():
        for _ in range(arguments.repeats):
            start = time.perf_counter()
            result = [[contraction(math.sqrt(rho) * common + math.sqrt(1 - rho) * noise,
                                   gamma * math.log(len(noise)))
                       for gamma in np.arange(1, 33) / 4] for rho in np.arange(20) / 20]
            seconds.append(time.perf_counter() - start)
    print(json.dumps({"seconds": seconds, "contraction": result}))


if __name__ == "__main__":
    main()
