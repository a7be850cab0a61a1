# %% [markdown]
# # A study in xarray
# A study file, written here or by `dewpoint run`, opens with its dimensions, errors and provenance.

# %%
import pathlib
import tempfile

import dewpoint as dp

file = pathlib.Path(tempfile.mkdtemp()) / "map.study"
dp.phase.map(n=[64, 256], rho="0:0.6:4", gamma="0.5:6:12", eta="none", replicas=2, output=file,
             no_figure=True)

# %%
study = dp.open_study(file)
print(study)
data = study.to_xarray()
print(data)

# %% The first gamma at which angles are kept by half, against rho: 1/(1 - rho) for long contexts.
kept = data["contraction"].sel(n=256).squeeze("d") > 0.5
crossing = data["gamma"].where(kept).min("gamma")
print(crossing.values, (1 / (1 - data["rho"])).values.round(2))
assert (crossing.diff("rho") >= 0).all()

# %% A picture, where matplotlib is installed.
try:
    import matplotlib
except ImportError:
    print("no matplotlib")
else:
    matplotlib.use("Agg")
    data["contraction"].sel(n=256).squeeze().plot()
