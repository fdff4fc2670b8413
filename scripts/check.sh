#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Checks what needs no build: formatting, layers, names.
#   scripts/check.sh [--full]
# --full also builds once without the precompiled header (a file may lean on it) and once with clang, each in a folder of its own.
set -euo pipefail
# shellcheck source=scripts/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
cd "$ORDO_ROOT"
full=false
case "${1:-}" in
  "") ;;
  --full) full=true ;;
  -h | --help) sed -n '3,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 0 ;;
  *) printf "error: check.sh takes --full or nothing (found: %s)\n" "$*" >&2; exit 2 ;;
esac
failed=0

# Each version of clang-format lays code out a little differently: 14 is the one that counts.
formatter="$(command -v clang-format-14 || true)"
if [ -n "$formatter" ]; then
  mapfile -t sources < <(find src apps tests -name '*.h' -o -name '*.cpp' | sort)
  if laid_out="$("$formatter" --dry-run -Werror "${sources[@]}" 2>&1)"; then
    echo "format: ${#sources[@]} files are as clang-format lays them out"
  else
    printf '%s\n' "$laid_out" | sed -n 's/^\([^ :]*\):[0-9]*:[0-9]*: error:.*/\1/p' | uniq -c |
      while read -r places file; do echo "$file: $places places are not as clang-format lays them out"; done
    echo "format: mend it with clang-format-14 -i FILE"
    failed=1
  fi
else
  echo "format: not checked, clang-format-14 is not installed"
fi

python3 scripts/check_layers.py || failed=1

shells=(scripts/*.sh .ci/run)
for script in "${shells[@]}"; do
  bash -n "$script" || failed=1
done
echo "scripts: ${#shells[@]} parse"

if $full; then
  set_up
  jobs="$(build_jobs)"
  say "building without the precompiled header"
  cmake -S . -B build-no-pch -G Ninja -DCMAKE_BUILD_TYPE=Release -DORDO_PCH=OFF -DLibTorch_ROOT="$ORDO_LIBTORCH" >/dev/null
  cmake --build build-no-pch --parallel "$jobs" || failed=1
  clang="$(command -v clang++ || command -v clang++-14 || true)"
  if [ -n "$clang" ]; then
    say "building with $clang"
    cmake -S . -B build-clang -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_COMPILER="$clang" \
      -DLibTorch_ROOT="$ORDO_LIBTORCH" >/dev/null
    cmake --build build-clang --parallel "$jobs" || failed=1
  else
    echo "clang: not checked, clang++ is not installed"
  fi
fi

if [ "$failed" != 0 ]; then
  echo "check: FAILED"
  exit 1
fi
echo "check: all is well"
