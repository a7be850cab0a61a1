#!/usr/bin/env bash
# Runs every benchmark of build/bench; `make bench` builds them first.
#
# DEWPOINT_TORCH_PYTHON names a Python with PyTorch 2 to compare with as well.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=$here/../build/bench/benchmarks
python=/usr/bin/python3
[ -x "$python" ] || python=python3

"$build/exp_bench"
"$build/top_scores_bench"
"$build/layer_bench"
"$build/variants_bench"
"$build/float32_bench"
"$build/head_bench" "$here/peers" "$python"
"$build/phase_map_bench" "$here/peers" "$python" ${DEWPOINT_TORCH_PYTHON:+"$DEWPOINT_TORCH_PYTHON"}
"$build/jacobian_norm_bench" "$here/peers" "$python" ${DEWPOINT_TORCH_PYTHON:+"$DEWPOINT_TORCH_PYTHON"}
"$build/adam_step_bench" "$here/peers" ${DEWPOINT_TORCH_PYTHON:+"$DEWPOINT_TORCH_PYTHON"}
"$build/text_step_bench" "$here/peers" ${DEWPOINT_TORCH_PYTHON:+"$DEWPOINT_TORCH_PYTHON"}
"$build/sweep_file_bench"
PYTHONPATH=$here/../build/bench/python "$python" "$here/python/python_bench.py" \
  "$here/../build/bench/src/cli/dewpoint"
DEWPOINT=$here/../build/bench/src/cli/dewpoint "$python" "$here/server/first_result_bench.py"
"$build/plan_bench"
"$build/runner_bench"
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun -n 2 --oversubscribe \
  "$build/runner_bench"
