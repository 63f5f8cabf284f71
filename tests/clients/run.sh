#!/usr/bin/env bash
# Real MCP clients against the real server, and its graph against the reference server's: tests/clients/run.sh BINARY
# They are installed once, at pinned versions, in CLIENTS_CACHE (default: .cache/clients of the repository).
# One line a client, transport and protocol era, or a group of graph calls; anything that does not work ends the run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "${1:?usage: run.sh BINARY}")
cache=${CLIENTS_CACHE:-$here/../../.cache/clients}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

# The pieces that `remembrancer setup` installed.
if [ -n "${REMEMBRANCER_TEST_PIECES:-}" ]; then pieces=$REMEMBRANCER_TEST_PIECES
elif [ "$(id -u)" = 0 ]; then pieces=/var/lib/remembrancer
elif [ "$(uname)" = Darwin ]; then pieces="$HOME/Library/Application Support/remembrancer"
else pieces=${XDG_DATA_HOME:-$HOME/.local/share}/remembrancer
fi
for piece in runtime models; do
  [ -d "$pieces/$piece" ] || { echo "no $piece in $pieces: run \`remembrancer setup\`" >&2; exit 1; }
done

# install FOLDER LIST COMMAND...: runs the command unless the folder was filled from the same list.
install() {
  local folder=$1 list=$2; shift 2
  cmp -s "$list" "$folder.installed" && return
  rm -rf "$folder" "$folder.installed"
  mkdir -p "$folder"
  "$@"
  cp "$list" "$folder.installed"
}
install_node() {
  cp "$here/package.json" "$here/package-lock.json" "$cache/node/"
  npm ci --prefix "$cache/node" --no-audit --no-fund --ignore-scripts --loglevel=error
}
for generation in 1 2; do
  list=$here/requirements-mcp$generation.txt
  install "$cache/python$generation" "$list" \
    python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
    --target "$cache/python$generation" --requirement "$list"
done
install "$cache/node" "$here/package-lock.json" install_node

# The server, on a data folder of its own.
for name in $(env | sed -n 's/^\(REMEMBRANCER_[A-Z_]*\)=.*/\1/p') DATABASE_URL RUST_LOG; do unset "$name"; done
data=$(mktemp -d)
chmod 755 "$data"
server=
finish() {
  local code=$?
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  [ "$code" = 0 ] || sed 's/^/server: /' "$data/log" >&2 2>/dev/null || true
  rm -rf "$data"
}
trap finish EXIT
ln -s "$pieces/runtime" "$pieces/models" "$data/"
export REMEMBRANCER_DATA_DIR=$data
"$binary" serve --bind 127.0.0.1:0 2>"$data/log" &
server=$!
url=
for _ in $(seq 300); do
  url=$(sed -n 's/.* serves MCP at \(http:[^ ]*\).*/\1/p' "$data/log")
  [ -z "$url" ] || break
  kill -0 "$server" || exit 1
  sleep 0.1
done
[ -n "$url" ] || { echo "the server does not listen" >&2; exit 1; }

report=$data/report
run=run$$
for generation in 1 2; do
  PYTHONPATH=$cache/python$generation PYTHONDONTWRITEBYTECODE=1 \
    python3 "$here/python_sdk.py" "$binary" "$url" "$run" | tee -a "$report"
done
# Node looks for packages beside the script.
cp "$here"/*.mjs "$here/story.json" "$cache/node/"
node "$cache/node/typescript_sdk.mjs" "$binary" "$url" "$run" | tee -a "$report"
node "$cache/node/graph_parity.mjs" "$binary" "$data" | tee -a "$report"
inspector=$cache/node/node_modules/@modelcontextprotocol/inspector
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$inspector/package.json")
for target in "$url" "$binary stdio"; do
  # shellcheck disable=SC2086 # the program and its argument
  node "$inspector/clients/launcher/build/index.js" --cli $target --method tools/list --strict \
    -e "REMEMBRANCER_DATA_DIR=$data" >"$data/tools" 2>"$data/problems" || { cat "$data/problems" >&2; exit 1; }
  grep -q '"name": "recall"' "$data/tools" || { echo "the inspector sees no tools" >&2; exit 1; }
  echo "ok inspector-$version $([ "$target" = "$url" ] && echo http || echo stdio) --strict" | tee -a "$report"
done
echo "$(grep -c '^ok ' "$report") passed, 0 failed"
