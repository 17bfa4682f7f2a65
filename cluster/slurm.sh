#!/bin/bash
# One run on a Slurm cluster: Ray's head and the driver on the first node, a worker on each of the others.
#   sbatch --nodes=8 --gpus-per-node=4 cluster/slurm.sh preset=paper cluster.gpus_per_trial=0.25
# runs `act-nli use` with these words, if any, and `dvc repro`. Submit it from the project's
# folder, which all nodes must see, with its .venv. The same command resumes an interrupted run.
#SBATCH --job-name=act-nli
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --mem=0
#SBATCH --no-kill
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail
cd "$SLURM_SUBMIT_DIR"
source .venv/bin/activate

export RAY_AUTH_MODE=token RAY_AUTH_TOKEN_PATH=$PWD/state/slurm_token
if [ ! -s "$RAY_AUTH_TOKEN_PATH" ]; then
  mkdir -p state
  (umask 077 && python -c 'import secrets; print(secrets.token_hex(32))' > "$RAY_AUTH_TOKEN_PATH")
fi

# Workers at normal priority; after a SIGTERM Ray ends without waiting 30 s for its trials.
export RAY_worker_niceness=0 RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S=0
# Not /tmp/ray, which other users share. Short, as paths of sockets are limited.
export FOLDER=/tmp/act-nli-$SLURM_JOB_ID

# This node's address from the last node; its host name may resolve to a loopback address.
address=$(srun --relative=$((SLURM_NNODES - 1)) --nodes=1 --ntasks=1 \
  printenv SLURM_LAUNCH_NODE_IPADDR)
export RAY_ADDRESS=$address:6379
trap 'kill $(jobs -p) 2> /dev/null && wait; rm -rf "$FOLDER"' EXIT
ray start --head --block --node-ip-address="$address" --port=6379 --temp-dir="$FOLDER" \
  --num-cpus="$SLURM_CPUS_ON_NODE" >> slurm-ray.log 2>&1 &
until ray status > /dev/null 2>&1; do
  if ! kill -0 $! 2> /dev/null; then
    echo "error: Ray did not start; the end of slurm-ray.log:" >&2
    tail -n 5 slurm-ray.log >&2
    exit 1
  fi
  sleep 1
done
workers=$((SLURM_NNODES - 1))
if ((workers)); then
  # A worker that fails is named by srun's own error.
  srun --quiet --relative=1 --nodes="$workers" --ntasks="$workers" --no-kill --kill-on-bad-exit=0 \
    --cpu-bind=none --output=slurm-ray.log --open-mode=append bash -c 'trap "ended=1" TERM
      ray start --address="$RAY_ADDRESS" --block --temp-dir="$FOLDER" \
        --num-cpus="$SLURM_CPUS_ON_NODE" || status=$?
      rm -rf "$FOLDER"
      [ -n "${ended:-}" ] || exit "${status:-0}"' &
fi

if (($#)); then act-nli use "$@"; fi
dvc repro
