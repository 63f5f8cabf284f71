# What the scripts share: finding or installing what a fresh machine lacks. Sourced, not run.
set -euo pipefail
repo=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$repo"

say() { printf '\n== %s\n' "$*"; }

# limit SECONDS COMMAND...: ends the command, and what it started, when it takes longer: what hangs fails with its name.
limit() {
  local seconds=$1 code=0; shift
  if ! command -v timeout >/dev/null 2>&1; then "$@"; return; fi
  timeout --kill-after=30 "$seconds" "$@" || code=$?
  [ "$code" != 124 ] || echo "FAILED: not done after $seconds s: $*" >&2
  return "$code"
}

# folder_in_memory: makes a temporary folder in memory and names it, where there is room for all that tests leave.
folder_in_memory() {
  local shm=/dev/shm room memory folder
  room=$(df --output=avail --block-size=G "$shm" 2>/dev/null | tail -n 1 | tr -dc 0-9)
  memory=$(awk '/^MemAvailable/ { print int($2 / 1024 / 1024) }' /proc/meminfo 2>/dev/null)
  [ "${room:-0}" -ge 10 ] && [ "${memory:-0}" -ge 12 ] || return 0
  folder=$(mktemp -d "$shm/remembrancer-XXXXXX")
  chmod 1777 "$folder"
  printf '#!/bin/sh\n' >"$folder/probe" && chmod +x "$folder/probe"
  # Some systems let no program there be run.
  if "$folder/probe" 2>/dev/null; then echo "$folder"; else rm -rf "$folder"; fi
}

# need PROGRAM PACKAGE...: installs Debian packages when the program is missing.
need() {
  local program=$1; shift
  command -v "$program" >/dev/null 2>&1 || install_packages "$@"
}

install_packages() {
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "missing: $* (install it with your system's package manager, then run this again)" >&2
    exit 1
  fi
  local as_root=()
  if [ "$(id -u)" != 0 ]; then as_root=(sudo); fi
  say "installing $*"
  "${as_root[@]}" apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

need cc gcc libc6-dev
need c++ g++
need make make
need python3 python3
python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip
command -v cargo >/dev/null 2>&1 || { echo "missing: Rust 1.94 or later (install it with rustup, then run this again)" >&2; exit 1; }
# Where the toolchain of rust-toolchain.toml is neither there nor to be fetched, the installed one serves; Cargo holds it to rust-version.
if ! cargo --version >/dev/null && RUSTUP_TOOLCHAIN=stable cargo --version >/dev/null 2>&1; then
  export RUSTUP_TOOLCHAIN=stable
fi
