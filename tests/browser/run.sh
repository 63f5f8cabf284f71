#!/usr/bin/env bash
# The pages in a real browser, against the real server: tests/browser/run.sh BINARY [JOURNEY...]
# Playwright and axe are installed once, at pinned versions, in BROWSER_CACHE (default: .cache/browser of the repository); the
# browser is the system's Chromium (CHROMIUM names another). Pictures of all pages in both themes are left in
# .cache/browser/pictures. Anything that does not work ends the run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "${1:?usage: run.sh BINARY [JOURNEY...]}")
shift
cache=${BROWSER_CACHE:-$here/../../.cache/browser}
mkdir -p "$cache/node" "$cache/pictures"
cache=$(cd "$cache" && pwd)
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[ -n "$chromium" ] || { echo "no Chromium: install the package chromium, or name one by CHROMIUM" >&2; exit 1; }

# The pieces that `remembrancer setup` installed.
if [ -n "${REMEMBRANCER_TEST_PIECES:-}" ]; then pieces=$REMEMBRANCER_TEST_PIECES
elif [ "$(id -u)" = 0 ]; then pieces=/var/lib/remembrancer
elif [ "$(uname)" = Darwin ]; then pieces="$HOME/Library/Application Support/remembrancer"
else pieces=${XDG_DATA_HOME:-$HOME/.local/share}/remembrancer
fi
for piece in runtime models; do
  [ -d "$pieces/$piece" ] || { echo "no $piece in $pieces: run \`remembrancer setup\`" >&2; exit 1; }
done

if ! cmp -s "$here/package-lock.json" "$cache/node.installed"; then
  rm -rf "$cache/node" "$cache/node.installed"
  mkdir -p "$cache/node"
  cp "$here/package.json" "$here/package-lock.json" "$cache/node/"
  npm ci --prefix "$cache/node" --no-audit --no-fund --ignore-scripts --loglevel=error
  cp "$here/package-lock.json" "$cache/node.installed"
fi

# The server, on a data folder of its own.
for name in $(env | sed -n 's/^\(REMEMBRANCER_[A-Z_]*\)=.*/\1/p') DATABASE_URL RUST_LOG; do unset "$name"; done
data=$(mktemp -d)
chmod 755 "$data"
server=
finish() {
  local code=$?
  if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
  [ "$code" = 0 ] || { grep -v " INFO " "$data/log" | tail -n 40 | sed "s/^/server: /" >&2; } || true
  rm -rf "$data"
}
trap finish EXIT
ln -s "$pieces/runtime" "$pieces/models" "$data/"
export REMEMBRANCER_DATA_DIR=$data
# Before it is read: what runs in the background opens its file whenever it comes to run.
: >"$data/log"
"$binary" serve --bind 127.0.0.1:0 2>>"$data/log" &
server=$!
url=
for _ in $(seq 600); do
  url=$(sed -n 's/.* serves MCP at \(http:[^ ]*\)\/mcp.*/\1/p' "$data/log")
  [ -z "$url" ] || break
  kill -0 "$server" || exit 1
  sleep 0.1
done
[ -n "$url" ] || { echo "the server does not listen" >&2; exit 1; }

# Node looks for packages beside the script.
cp "$here"/*.mjs "$here"/*.json "$cache/node/"
CHROMIUM_BINARY=$chromium PICTURES=$cache/pictures BINARY=$binary DATA=$data \
  node "$cache/node/journeys.mjs" "$url" "$@"
