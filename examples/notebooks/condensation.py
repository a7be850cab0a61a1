# %% [markdown]
# # Condensation of attention
# Softmax over N Gaussian scores freezes onto few keys at the load t = 1, beta_c = sqrt(2 log N), and
# finds a planted key only if its score is far enough above the noise. Up to N = 1e30, drawn exactly
# in law.

# %%
import dewpoint as dp

result = dp.condense(n=[1e2, 1e6, 1e30], t=[0.5, 1.0, 2.0], draws=1000)
print(result.to_pandas()[["largest_weight", "largest_weight_se"]].round(4))

# %% The participation of the frozen phase, E sum w^2 = 1 - 1/t in the limit.
print(dp.predict.condense(n=1e30, t=2.0))

# %% A planted key of signal s is found where it beats the noise.
planted = dp.condense(n=1e30, t=1.0, signal=[0.8, 1.2], draws=1000)
weights = planted.frame["planted_weight"].numpy().ravel()
print("weight of the planted key:", weights.round(4))
assert weights[0] < 0.01 and weights[1] > 0.99
