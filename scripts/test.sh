#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up what is missing, chromium for one of the tests too, builds everything with warnings as errors, and runs the tests.
#   scripts/test.sh [--slow] [arguments of ctest, such as -R rope or -L unit]
# --slow also runs the learning tests, which train real models for minutes.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"

choice=(--label-exclude slow)
arguments=()
for argument in "$@"; do
  case "$argument" in
    --slow) choice=() ;;
    -h | --help) sed -n '3,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
    *) arguments+=("$argument") ;;
  esac
done

set_up
left_out=""
if ! need_browser; then
  choice+=(--exclude-regex "report/browser_test")
  left_out=", 1 left out: no browser opens the page of a report (install chromium or google-chrome)"
fi
build all
output="$ORDO_ROOT/build/ctest.log"
status=0
# Every test runs on one thread, so that as many run side by side as there are cores.
ctest --test-dir build --output-on-failure --parallel "$(nproc)" "${choice[@]}" "${arguments[@]}" 2>&1 | tee "$output" || status=$?

summary="$(grep -E '^[0-9]+% tests passed, [0-9]+ tests? failed out of [0-9]+' "$output" | tail -n 1 || true)"
total="${summary##* }"
if [ "$status" = 0 ] && [ "${total:-0}" -gt 0 ]; then
  echo "test: all $total passed$left_out"
elif [ -z "$summary" ]; then
  echo "test: FAILED, no test was run (ctest's own words are above and in build/ctest.log)"
  exit 1
else
  failed="${summary#*passed, }"
  echo "test: FAILED, ${failed%% *} of $total (their output is above and in build/ctest.log)"
  exit 1
fi
