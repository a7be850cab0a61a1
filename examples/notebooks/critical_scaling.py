# %% [markdown]
# # Critical attention scaling
# Tokens of pairwise correlation rho collapse below gamma = 1/(1 - rho) and keep their angles above,
# beta = gamma log n (Chen, Lin, Polyanskiy and Rigollet, arXiv:2510.05554). Measured, then exact at
# a length that no machine can hold.

# %%
import dewpoint as dp
import numpy as np

rho = 0.5
measured = dp.phase.map(n=256, d=256, rho=rho, gamma=[1, 1.5, 2, 2.5, 3], eta="none", replicas=4)
contraction = measured.frame["contraction"]
print("gamma", np.asarray(measured.frame.dimensions["gamma"]))
print("lambda", np.round(contraction.numpy().ravel(), 3))
print("error ", np.round(np.asarray(contraction.standard_error).ravel(), 3))

# %%
for gamma in (1.9, 2.0, 2.1):
    exact = dp.predict.layer(n=1e300, rho=rho, gamma=gamma)
    print(f"gamma = {gamma}, n = 1e300")
    print(exact)

# %%
low, high = contraction.numpy().ravel()[[0, -1]]
assert low < 0.1 < 0.8 < high, "tokens collapse below the transition and are kept above it"
