# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart.sh, test.sh and .ci/run: what a bare Debian 12 or Ubuntu 24.04 needs to build Ordo. Each function does only what is missing.
# Nothing outside the repository is changed except system packages.

ORDO_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
ORDO_PACKAGES=(ca-certificates g++ cmake ninja-build ccache mold libcli11-dev libyaml-cpp-dev libspdlog-dev libfmt-dev
               nlohmann-json3-dev libxxhash-dev libboost-dev libutf8proc-dev libpcre2-dev libsentencepiece-dev
               zlib1g-dev libzstd-dev libcsv-dev libpng-dev libjpeg-dev libsndfile1-dev catch2 python3 python3-venv)

say() { printf '== %s\n' "$*" >&2; }
give_up() { printf 'error: %s\n' "$*" >&2; exit 1; }

# Runs a long command quietly: its output goes to a file and is shown when it fails.
quietly() {
  local log="$ORDO_ROOT/build/$1.log"; shift
  mkdir -p "$ORDO_ROOT/build"
  if ! "$@" >"$log" 2>&1 </dev/null; then
    tail -n 60 "$log" >&2
    give_up "this failed: $* (all of its output: $log)"
  fi
}

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else give_up "installing packages takes root: run this as root, install sudo, or install them yourself: ${ORDO_PACKAGES[*]}"
  fi
}

# need_packages NAME...: installs those that are missing.
need_packages() {
  local missing=() name
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt here: taking it that these are installed: $*"
    return 0
  fi
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} = 0 ] && return 0
  say "installing packages: ${missing[*]}"
  quietly apt-update as_root apt-get update
  quietly apt-install as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# A browser, in which a test opens the page of a report. Debian has one as a package; where there is none (Ubuntu has it
# as a snap alone), it is left to the user: false.
need_browser() {
  local name
  for name in chromium chromium-browser google-chrome; do
    command -v "$name" >/dev/null && return 0
  done
  [ -n "$(apt-cache madison chromium 2>/dev/null)" ] || return 1
  need_packages chromium
}

# An NVIDIA driver that answers: only then are the 3.5 GB of CUDA's libraries worth having.
has_nvidia_driver() { [ -e /dev/nvidiactl ] || [ -e /dev/dxg ]; }

# The folder of LibTorch that the build will find (the order of scripts/cmake/FindLibTorch.cmake), or nothing.
find_libtorch() {
  local folder
  for folder in "${Torch_DIR:+$Torch_DIR/../../..}" "${LIBTORCH:-}" "$ORDO_ROOT"/.venv/lib/python3*/site-packages/torch; do
    [ -n "$folder" ] && [ -e "$folder/lib/libtorch_cpu.so" ] && { (cd "$folder" && pwd); return; }
  done
  python3 - <<'PYTHON' 2>/dev/null || true
import importlib.util as util, os
found = util.find_spec("torch")
folder = os.path.dirname(found.origin) if found and found.origin else ""
version = {}
if folder:
    exec(open(os.path.join(folder, "version.py")).read(), version)
if version.get("__version__", "").startswith("2.11."):
    print(folder)
PYTHON
}

# LibTorch: an existing one, else the wheel of PyPI in .venv inside the repository. Sets ORDO_LIBTORCH.
need_libtorch() {
  local pins="$ORDO_ROOT/scripts/requirements-cpu.txt" venv="$ORDO_ROOT/.venv" with_dependencies=--no-deps
  ORDO_LIBTORCH="$(find_libtorch)"
  if has_nvidia_driver; then
    pins="$ORDO_ROOT/scripts/requirements-cuda.txt"
    with_dependencies=
  fi
  case "$ORDO_LIBTORCH" in
    "" | "$venv"/*) ;;
    *) return 0 ;;   # somebody else's: taken as it is
  esac
  # What was installed is remembered beside it, so that a driver that came later, or another pin, is noticed.
  if [ -n "$ORDO_LIBTORCH" ] && cmp -s "$pins" "$venv/ordo-requirements.txt"; then return 0; fi
  say "installing LibTorch into .venv ($(grep -v '^#' "$pins" | paste -sd ' '))"
  [ -x "$venv/bin/pip" ] || quietly venv python3 -m venv "$venv"
  # shellcheck disable=SC2086   # no argument at all when it is empty
  quietly pip "$venv/bin/pip" install --no-input --disable-pip-version-check $with_dependencies -r "$pins"
  cp "$pins" "$venv/ordo-requirements.txt"
  ORDO_LIBTORCH="$(find_libtorch)"
  [ -n "$ORDO_LIBTORCH" ] || give_up "LibTorch was installed into $venv but is not found there; remove that folder and try again"
}

# As many compilations at once as there are cores, and no more than memory takes: a file that sees LibTorch needs up to 2 GB.
build_jobs() {
  local cores memory
  cores="$(nproc)"
  memory="$(awk '/^MemAvailable/ {print int($2 / 2000000)}' /proc/meminfo)"
  [ "$memory" -ge 1 ] || memory=1
  echo $((cores < memory ? cores : memory))
}

need_cmake() {
  local version
  version="$(cmake --version 2>/dev/null | awk 'NR == 1 {print $3}')"
  [ -n "$version" ] || give_up "cmake is not installed; Ordo needs CMake 3.25 or newer"
  printf '3.25\n%s\n' "$version" | sort -VC ||
    give_up "CMake $version is too old: Ordo needs 3.25 or newer, as in Debian 12 and Ubuntu 24.04 (or from https://cmake.org/download)"
}

set_up() {
  cd "$ORDO_ROOT" || exit 1
  need_packages "${ORDO_PACKAGES[@]}"
  need_cmake
  need_libtorch
}

# build TARGET...: the release preset, in build/.
build() {
  local jobs start=$SECONDS
  jobs="$(build_jobs)"
  if [ ! -e build/build.ninja ] || ! grep -qF "LibTorch_ROOT:PATH=$ORDO_LIBTORCH" build/CMakeCache.txt; then
    quietly configure cmake --preset release -DLibTorch_ROOT="$ORDO_LIBTORCH"
  fi
  say "building $* with $jobs compilations at once"
  cmake --build build --parallel "$jobs" --target "$@" >&2 || give_up "the build failed"
  say "built in $((SECONDS - start)) s"
}
