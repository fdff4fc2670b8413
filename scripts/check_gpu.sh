#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every check that takes a GPU, in one run of under 10 minutes: a verdict a line as it falls, exit 1 when one fails.
#   scripts/check_gpu.sh [--device cuda|cpu] [--build DIR] [--out DIR] [--only STAGE] [--quick]
# Stages: environment loading tests training exactness faults speed. A stage is a process of its own with a time limit, so that one that hangs
# or dies costs its own verdicts only. --device cpu tries the script itself where there is no GPU; --quick trains and measures less.
# What each check printed stays in --out (default: runs/check_gpu), the verdicts in verdicts.txt there.
set -uo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
stages=(environment loading tests training exactness faults speed)
declare -A limit=([environment]=30 [loading]=30 [tests]=120 [training]=120 [exactness]=100 [faults]=60 [speed]=120)

device=cuda build="$root/build" out="$root/runs/check_gpu" only="" quick=0 inside=0
while [ $# -gt 0 ]; do
  case "$1" in
    --device) device="$2"; shift ;;
    --build) build="$2"; shift ;;
    --out) out="$2"; shift ;;
    --only) only="$2"; shift ;;
    --quick) quick=1 ;;
    --inside) inside=1 ;;   # this process is the stage of --only
    -h | --help) sed -n '3,7s/^# //p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) printf 'error: unknown argument %s; see --help\n' "$1" >&2; exit 2 ;;
  esac
  shift
done
case "$device" in cpu | cuda) ;; *) echo "error: --device is cpu or cuda" >&2; exit 2 ;; esac
if [ -n "$only" ] && [ -z "${limit[$only]:-}" ]; then echo "error: no stage $only; there are: ${stages[*]}" >&2; exit 2; fi
mkdir -p "$out" || exit 2
out="$(cd "$out" && pwd)"
build="$(cd "$build" 2>/dev/null && pwd)" || { echo "error: no build folder; run scripts/quickstart.sh and scripts/test.sh first" >&2; exit 2; }
ordo="$build/ordo"
[ -x "$ordo" ] || { echo "error: $ordo is not there; run scripts/quickstart.sh first" >&2; exit 2; }
[ "$device" = cuda ] || export CUDA_VISIBLE_DEVICES=

# ---- verdicts -------------------------------------------------------------------------------------------------------------------------------
verdict() { printf '%-4s %-28s %s\n' "$1" "$2" "${3:-}" | tee -a "$out/verdicts.txt"; }
# log_of NAME: where a check's output goes.
log_of() { printf '%s/%s.log' "$out" "${1//\//-}"; }
last_words() { grep -v '^[[:space:]]*$' "$(log_of "$1")" | tail -n 1 | cut -c 1-160; }
# check NAME COMMAND...: passes when the command does; its last line is the detail.
check() {
  local name="$1"; shift
  if "$@" >"$(log_of "$name")" 2>&1 </dev/null; then verdict PASS "$name" "$(last_words "$name")"; else verdict FAIL "$name" "exit $?: $(last_words "$name")"; fi
}
# expect NAME EXIT TEXT COMMAND...: passes when the command ends with that exit code and says that.
expect() {
  local name="$1" code="$2" text="$3" found; shift 3
  "$@" >"$(log_of "$name")" 2>&1 </dev/null
  found=$?
  if [ "$found" = "$code" ] && grep -qF -- "$text" "$(log_of "$name")"; then verdict PASS "$name" "exit $code, \"$text\""
  else verdict FAIL "$name" "expected exit $code and \"$text\", found exit $found: $(last_words "$name")"; fi
}

# ---- trainings ------------------------------------------------------------------------------------------------------------------------------
# train RUN DEVICE OVERRIDES...: the smallest model that uses every part, in a fresh run folder unless `again` is set.
train() {
  local run="$out/$1" on="$2"; shift 2
  [ -n "${again:-}" ] || rm -rf "$run"
  "$ordo" train "$root/configs/tiny.yaml" "device=$on" "$@" --run "$run"
}
# A model with work for a GPU, dropout included.
sized=(model.dim=128 model.layers=4 model.attention.heads=4 model.dropout=0.1 train.batch_size=16 train.length=128 train.log_every=1)

# same_losses A B TOLERANCE: the largest relative difference between the losses of two runs, step by step.
same_losses() {
  python3 - "$out/$1/metrics.jsonl" "$out/$2/metrics.jsonl" "$3" <<'PYTHON'
import json, sys
def losses(path):
    return {e["step"]: e["loss"] for e in map(json.loads, open(path)) if e["kind"] == "train"}
a, b = losses(sys.argv[1]), losses(sys.argv[2])
assert a.keys() == b.keys() and a, f"other steps: {sorted(a)} and {sorted(b)}"
worst = max(a, key=lambda step: abs(a[step] - b[step]) / abs(b[step]))
difference = abs(a[worst] - b[worst]) / abs(b[worst])
print(f"{len(a)} steps, largest difference {difference:.1e} at step {worst} (limit {sys.argv[3]}); last losses {a[max(a)]:.5f} and {b[max(b)]:.5f}")
sys.exit(not difference <= float(sys.argv[3]))
PYTHON
}
# learned RUN FACTOR: the last validation loss is below FACTOR times the first training loss.
learned() {
  python3 - "$out/$1/metrics.jsonl" "$2" <<'PYTHON'
import json, sys
entries = [json.loads(line) for line in open(sys.argv[1])]
first = next(e["loss"] for e in entries if e["kind"] == "train")
last = [e["metrics"]["loss"] for e in entries if e["kind"] == "eval"][-1]
print(f"loss {first:.3f} -> validation {last:.4f}")
sys.exit(not last < float(sys.argv[2]) * first)
PYTHON
}
# same_end A B: weights and moments of the last checkpoints are equal to the bit.
same_end() {
  local a b file
  a="$out/$1/$(cat "$out/$1/last")" b="$out/$2/$(cat "$out/$2/last")"
  for file in model.safetensors optimizer.safetensors; do cmp "$a/$file" "$b/$file" || return 1; done
  echo "$1 and $2 end with equal bytes ($(cat "$out/$1/last"))"
}

# ---- stages ---------------------------------------------------------------------------------------------------------------------------------
stage_environment() {
  check environment/doctor "$ordo" doctor
  if [ "$device" = cuda ]; then
    check environment/driver nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv,noheader
    expect environment/gpu 0 "GPU 0" "$ordo" doctor
  fi
}

stage_loading() {
  local child="$build/ordo_device_child"
  if [ "$device" = cuda ]; then
    expect loading/order 0 "opened cuda:0" "$child" open cuda
    expect loading/too-late 6 "CUDA was opened too late" "$child" open-late
    expect loading/beyond 6 "the NVIDIA driver shows" "$ordo" train "$root/configs/tiny.yaml" device=cuda:99 --run "$out/never"
  fi
  expect loading/hidden-auto 0 "opened cpu" env CUDA_VISIBLE_DEVICES= "$child" open auto
  expect loading/hidden-cuda 6 "device: cuda was asked for, but" env CUDA_VISIBLE_DEVICES= "$ordo" train "$root/configs/tiny.yaml" device=cuda --run "$out/never"
}

stage_tests() {
  local binary name cases
  for binary in "$build"/test_*; do
    cases="$("$binary" --list-test-names-only '[gpu]' 2>/dev/null)"   # its exit code is the number of cases
    [ -n "$cases" ] || continue
    name="tests/$(basename "$binary")"
    check "$name" "$binary" '[gpu]'
    if [ "$device" = cuda ] && grep -q 'no CUDA device: skipped' "$(log_of "$name")"; then verdict FAIL "$name" "its cases did not find the GPU"; fi
  done
}

stage_training() {
  local precision steps=600
  [ "$quick" = 0 ] || steps=60
  check training/fp32-cpu train first-cpu cpu "${sized[@]}" train.steps=20
  check training/fp32 train first "$device" "${sized[@]}" train.steps=20
  check training/fp32-as-cpu same_losses first first-cpu 1e-4
  check training/bf16 train first-bf16 "$device" "${sized[@]}" train.steps=20 train.precision=bf16
  check training/bf16-as-cpu same_losses first-bf16 first-cpu 2e-2
  check training/fp16 train first-fp16 "$device" "${sized[@]}" train.steps=20 train.precision=fp16 train.scaler.initial=256
  check training/fp16-as-cpu same_losses first-fp16 first-cpu 2e-2
  for precision in fp32 bf16; do
    rm -rf "$out/whole-$precision"
    check "training/whole-$precision" "$ordo" train "$root/configs/sentences.yaml" "device=$device" "train.precision=$precision" \
      "train.steps=$steps" --run "$out/whole-$precision"
    check "training/whole-$precision-learned" learned "whole-$precision" 0.7
  done
  check training/whole-bf16-as-fp32 same_losses whole-bf16 whole-fp32 3e-2
}

stage_exactness() {
  local exact=("${sized[@]}" train.deterministic=true train.steps=20 checkpoint.every=10 train.accumulate=2 train.ema=0.9)
  check exactness/run train exact "$device" "${exact[@]}"
  check exactness/again train exact-again "$device" "${exact[@]}"
  check exactness/equal-runs same_end exact exact-again
  check exactness/replay "$ordo" replay "$out/exact" --from 10
  rm -rf "$out/exact-again/step-00000020"
  again=1 check exactness/resume train exact-again "$device" "${exact[@]}"
  check exactness/resumed-equal same_end exact exact-again
  check exactness/recompute train exact-recompute "$device" "${exact[@]}" train.recompute=blocks
  check exactness/recompute-equal same_end exact exact-recompute
}

# sigterm: stops a training once it has begun; it must leave a checkpoint and say 75.
sigterm() {
  local run="$out/stopped" trainer
  rm -rf "$run"
  "$ordo" train "$root/configs/tiny.yaml" "device=$device" "${sized[@]}" train.steps=100000 --run "$run" &
  trainer=$!
  for _ in $(seq 200); do [ -s "$run/metrics.jsonl" ] && break; sleep 0.1; done
  kill -TERM "$trainer"
  wait "$trainer"
}
stage_faults() {
  expect faults/sigterm 75 "stopped by" sigterm
  if [ "$device" = cuda ]; then
    expect faults/out-of-memory 6 "memory ran out" train never cuda model.dim=8192 model.attention.heads=64 train.batch_size=2048 train.length=1024 train.steps=2
  fi
}

# speed NAME ARGUMENTS...: tokens a second, as `ordo bench` measures them.
speed() {
  local name="$1"; shift
  check "speed/$name" bash -o pipefail -c '"$@" | python3 -c "
import json, sys
blocks = [b for b in map(json.loads, sys.stdin) if \"tok_s\" in b]
best = max(blocks, key=lambda b: b[\"tok_s\"])
print(\"{:.0f} tokens/s, {:.1f} ms a step, {:.0f} GFLOP/s, loss {:.4f}\".format(best[\"tok_s\"], best[\"step_ms\"], best[\"gflops\"], best[\"loss\"]))
sys.exit(not best[\"loss\"] < 1e9)"' _ "$ordo" bench "$@"
}
stage_speed() {
  local few=(--warmup 3 --steps 10 --blocks 3)
  [ "$quick" = 0 ] || few=(--warmup 1 --steps 2 --blocks 1)
  speed gpt-small-char-fp32 --case gpt-small-char --batch 4 "${few[@]}"
  speed gpt-small-char-bf16 --case gpt-small-char --batch 4 --dtype bf16 "${few[@]}"
  [ "$device" = cuda ] || return 0
  speed gpt2ish-bf16 --case gpt2ish --batch 32 --dtype bf16 "${few[@]}"
  speed gpt2-124m-bf16 --case gpt2-124m --batch 256 --dtype bf16 "${few[@]}"
  speed llama-bf16 --case llama --batch 8 --dtype bf16 "${few[@]}"
}

# ---- the run --------------------------------------------------------------------------------------------------------------------------------
if [ "$inside" = 1 ]; then
  "stage_$only"
  exit 0
fi
: >"$out/verdicts.txt"
arguments=(--device "$device" --build "$build" --out "$out" --inside)
[ "$quick" = 0 ] || arguments+=(--quick)
for stage in "${stages[@]}"; do
  [ -z "$only" ] || [ "$only" = "$stage" ] || continue
  timeout --kill-after=5 "${limit[$stage]}" bash "${BASH_SOURCE[0]}" "${arguments[@]}" --only "$stage"
  code=$?
  [ "$code" = 0 ] || verdict FAIL "$stage" "ended with exit $code (124: ran past its limit of ${limit[$stage]} s)"
done
passed=$(grep -c '^PASS' "$out/verdicts.txt") failed=$(grep -c '^FAIL' "$out/verdicts.txt")
if [ "$failed" -gt 0 ]; then printf '\nfailed:\n'; grep '^FAIL' "$out/verdicts.txt"; fi
echo "check_gpu on $device: $passed passed, $failed failed (details: $out)"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
