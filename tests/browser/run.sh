#!/usr/bin/env bash
# The pages in a real browser, against the real server: tests/browser/run.sh BINARY [JOURNEY...]
# Playwright and axe are installed once, at pinned versions, in BROWSER_CACHE (default: .cache/browser of the repository); the
# browser is the system's Chromium (CHROMIUM names another). Pictures of all pages in both themes are left in
# .cache/browser/pictures. Anything that does not work ends the run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "${1:?usage: run.sh BINARY [JOURNEY...]}")
shift
chromium=${CHROMIUM:-$(command -v chromium || command -v chromium-browser || true)}
[ -n "$chromium" ] || { echo "no Chromium: install the package chromium, or name one by CHROMIUM" >&2; exit 1; }
CLIENTS_CACHE=${BROWSER_CACHE:-$here/../../.cache/browser}
source "$here/../clients/lib.sh"

packages() {
  cp "$here/package.json" "$here/package-lock.json" "$cache/node/"
  npm ci --prefix "$cache/node" --no-audit --no-fund --ignore-scripts --loglevel=error
}
install "$cache/node" "$here/package-lock.json" packages
start_server

# Node looks for packages beside the script.
cp "$here"/*.mjs "$here"/*.json "$cache/node/"
mkdir -p "$cache/pictures"
CHROMIUM_BINARY=$chromium PICTURES=$cache/pictures BINARY=$binary DATA=$data \
  node "$cache/node/journeys.mjs" "${url%/mcp}" "$@"
