# %% [markdown]
# # Focus and dilution
# One layer of attention that learns a Markov chain: it first learns to focus on the last token, and
# then dilutes again as the embeddings grow. The run and the stages that are found in it.

# %%
import dewpoint as dp
import numpy as np

run = dp.train(m=64, sequences=2000, steps=400)
print(run)

# %% The trajectory: everything that was recorded, over time.
trajectory = run.trajectory
time = np.asarray(trajectory.dimensions["time"])
loss = trajectory["loss"].numpy()
for share in (0.0, 0.25, 0.5, 1.0):
    place = int(share * (len(time) - 1))
    print(f"time {time[place]:6.0f}   loss {loss[place]:.4f}")
assert loss[-1] < loss[0]

# %% What gradient flow predicts for this chain.
print(dp.predict.train())
