"""Training steps of a small transformer on windows of a token stream, in PyTorch: autograd, Adam.

    python3 text_step.py --folder FOLDER --layers 4 --residual --context 64 --batch 256 --steps 20

The folder holds stream.npy (token numbers), checks.npy (windows of the first few steps, all of them
below each other) and the weights W0.npy, W1.npy, layers.0.WQ.npy, layers.0.WK.npy, ... Logits are
made for the last position only, and in the last layer only it has a query. Attention is written out
or left to PyTorch's fused function, Adam is the fused one: both ways are timed. Prints JSON: the
losses of the steps on the given windows, and the seconds of every timed step of each way.
"""

import argparse
import json
import os
import time

import numpy as np
import torch
import torch.nn.functional as F


def attend_plainly(queries, keys, values):
    return torch.softmax(queries @ keys.transpose(1, 2), dim=-1) @ values


def attend_fused(queries, keys, values):
    return F.scaled_dot_product_attention(queries, keys, values, scale=1.0)


class Model:
    def __init__(self, folder, layers, residual):
        def load(name):
            return torch.from_numpy(np.load(os.path.join(folder, name + ".npy"))).float()

        self.w0, self.w1 = load("W0").requires_grad_(), load("W1").requires_grad_()
        self.layers = [tuple(load(f"layers.{n}.{kind}").requires_grad_() for kind in ("WQ", "WK"))
                       for n in range(layers)]
        self.residual = residual

    def weights(self):
        return [self.w0, self.w1] + [w for layer in self.layers for w in layer]

    def loss(self, windows, attend):
        z = F.embedding(windows[:, :-1], self.w0)
        for n, (wq, wk) in enumerate(self.layers):
            asked = z[:, -1:] if n + 1 == len(self.layers) else z
            out = attend(asked @ wq, z @ wk, z)
            z = asked + out if self.residual else out
        return F.cross_entropy(z[:, -1] @ self.w1, windows[:, -1])


def take_step(model, optimiser, windows, attend):
    optimiser.zero_grad(set_to_none=True)
    loss = model.loss(windows, attend)
    loss.backward()
    optimiser.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", required=True)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--residual", action="store_true")
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--threads", type=int, default=2)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    generator = torch.Generator().manual_seed(1)
    stream = torch.from_numpy(np.load(os.path.join(arguments.folder, "stream.npy"))).reshape(-1)
    checks = torch.from_numpy(np.load(os.path.join(arguments.folder, "checks.npy")))

    result = {"torch": torch.__version__, "losses": {}, "seconds": {}}
    for name, attend in (("plain", attend_plainly), ("fused", attend_fused)):
        model = Model(arguments.folder, arguments.layers, arguments.residual)
        optimiser = torch.optim.Adam(model.weights(), lr=arguments.rate, fused=True)
        result["losses"][name] = [take_step(model, optimiser, windows, attend)
                                  for windows in checks.split(arguments.batch)]
        seconds = []
        for _ in range(arguments.steps):
            start = time.perf_counter()
            firsts = torch.randint(len(stream) - arguments.context, (arguments.batch, 1),
                                   generator=generator)
            take_step(model, optimiser, stream[firsts + torch.arange(arguments.context + 1)],
                      attend)
            seconds.append(time.perf_counter() - start)
        result["seconds"][name] = seconds
    print(json.dumps(result))


if __name__ == "__main__":
    main()
