# %% [markdown]
# # Heads: diffuse, critical or condensed?
# Queries and keys of a layer, here of three heads made by hand: one whose scores hardly differ, one in
# between, one with a clear winner for every query.

# %%
import dewpoint as dp
import numpy as np

rng = np.random.default_rng(1)
n, d = 512, 32
keys = rng.normal(size=(3, n, d))
keys /= np.linalg.norm(keys, axis=-1, keepdims=True)
queries = keys * np.sqrt(d) * np.array([0.1, 8.0, 60.0])[:, None, None]

result = dp.heads(queries, keys, rows=128, replicates=100)
print(result)

# %%
phases = [head["verdicts"]["1"]["phase"] for head in result["heads"]]
print(phases)
assert phases[0] == "diffuse" and phases[2] == "condensed"

# %% The dew points behind it: the inverse temperature where the best key holds half the weight.
scores = queries[0, -8:] @ keys[0].T / np.sqrt(d)
print(np.asarray(dp.dew(scores)).round(1))

# %% [markdown]
# A model of Hugging Face goes the same way: `dewpoint.capture` (docs/guide/capture.md).
