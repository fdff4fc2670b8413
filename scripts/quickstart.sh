#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From nothing to a trained model: installs what is missing, builds Ordo, trains two small language models that differ in their
# position encoding alone, and compares them. Run it again at any time, from any folder: what is done is not done twice.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

case "${1:-}" in
  "") ;;
  -h | --help) sed -n '3,4s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
  *) printf 'error: quickstart.sh takes no arguments (found: %s)\n' "$*" >&2; exit 2 ;;
esac

set_up
build ordo
# Waiting threads sleep instead of spinning: what else runs on this machine then hardly slows the training down.
export OMP_WAIT_POLICY="${OMP_WAIT_POLICY:-passive}"

runs="$ORDO_ROOT/runs/quickstart"
for kind in none rope; do
  say "training a model with position encoding '$kind' (ordo train configs/quickstart.yaml model.position.kind=$kind)"
  build/ordo train configs/quickstart.yaml model.position.kind="$kind" --run "$runs/$kind"
done

say "both, over the whole of the data that neither was trained on (ordo eval)"
build/ordo eval "$runs/none" "$runs/rope"
cat <<'TEXT'

Both models saw the same sentences in the same order, from the same first weights. Without a position encoding a model barely knows
which word came first, so it cannot tell who did what to whom: its loss and perplexity are higher, its accuracy is lower.
TEXT
say "what the model with rope writes (ordo generate)"
build/ordo generate "$runs/rope" --prompt "the " --max-new-tokens 160 --temperature 0.7 --seed 1
printf '\n'
say "written: $runs/none and $runs/rope (metrics.jsonl, log.txt, checkpoints); next: README.md, or build/ordo --help"
echo "quickstart: done, the program is $ORDO_ROOT/build/ordo"
