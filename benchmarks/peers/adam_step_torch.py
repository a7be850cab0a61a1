"""One full-batch Adam step of the one-layer model in PyTorch, as a framework user would write it.

    python3 adam_step_torch.py --sequences 100000 --context 19 --width 256 --chunk 1000

The batch does not fit into memory at once, so the gradient is accumulated over chunks of sequences.
Five chunks are timed after one that warms up, and their median is extrapolated to all of them; the
optimiser's own step is timed and added. One thread. Prints JSON: seconds of a full-batch step.
"""

import argparse
import json
import time

import torch


def sample(count, length, generator):
    pi = torch.tensor([0.75, 0.19, 0.05, 0.01])
    chain = 0.8 * torch.eye(4) + 0.2 * pi.repeat(4, 1)
    tokens = torch.empty(count, length, dtype=torch.long)
    tokens[:, 0] = torch.randint(0, 4, (count,), generator=generator)
    for t in range(1, length):
        tokens[:, t] = torch.multinomial(chain[tokens[:, t - 1]], 1, generator=generator)[:, 0]
    return tokens


def loss_of(tokens, w0, w1, wq, wk):
    z = w0[tokens[:, :-1]]
    query = z[:, -1:, :] @ wq
    weights = torch.softmax(query @ (z @ wk).transpose(1, 2), dim=-1)
    logits = (weights @ z)[:, 0, :] @ w1
    return torch.nn.functional.cross_entropy(logits, tokens[:, -1], reduction="sum")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sequences", type=int, default=100000)
    parser.add_argument("--context", type=int, default=19)
    parser.add_argument("--width", type=int, default=256)
    parser.add_argument("--chunk", type=int, default=1000)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(1)
    m = arguments.width
    shapes = [(4, m), (m, 4), (m, m), (m, m)]
    weights = [(torch.randn(s, generator=generator) / m).requires_grad_() for s in shapes]
    optimiser = torch.optim.Adam(weights, lr=1.5e-4)
    tokens = sample(6 * arguments.chunk, arguments.context + 1, generator)

    seconds = []
    for chunk in tokens.split(arguments.chunk):
        start = time.perf_counter()
        (loss_of(chunk, *weights) / arguments.sequences).backward()
        seconds.append(time.perf_counter() - start)
    start = time.perf_counter()
    optimiser.step()
    step = time.perf_counter() - start
    chunks = sorted(seconds[1:])
    full = chunks[len(chunks) // 2] * arguments.sequences / arguments.chunk + step
    print(json.dumps({"seconds": full, "chunks_timed": len(chunks), "torch": torch.__version__}))


if __name__ == "__main__":
    main()
