# %% [markdown]
# # One query on a sphere
# Over n uniform keys in d dimensions attention of one query reads many keys, a random few or one,
# around beta* = (c_d n)^(2/(d-1)): a power of n, not a logarithm.

# %%
import dewpoint as dp

result = dp.query(d=5, n=[1e3, 1e6, 1e15], theta=[0.02, 1, 50], draws=1000)
print(result)

# %% The largest weight at theta = 1 hardly depends on n: that is what makes beta* the scale.
largest = result.frame["weight"].numpy()[:, :, 0]  # over n, theta and rank
print(largest.round(3))
at_scale = largest[:, 1]
assert at_scale.max() - at_scale.min() < 0.1

# %% What theory says there.
print(dp.predict.query(d=5, n=1e6, theta=1))
