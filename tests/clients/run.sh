#!/usr/bin/env bash
# Real MCP clients against the real server, its graph against the reference server's, and the manifests for hosts: tests/clients/run.sh BINARY
# They are installed once, at pinned versions, in CLIENTS_CACHE (default: .cache/clients of the repository).
# With a browser, their OAuth clients too. Chromium has to be there (package chromium).
# One line a client, transport and protocol era, or a group of graph calls; anything that does not work ends the run.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
binary=$(realpath "${1:?usage: run.sh BINARY}")
source "$here/lib.sh"
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

list=$here/requirements-manifests.txt
install "$cache/manifests" "$list" \
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore --no-deps \
  --target "$cache/manifests" --requirement "$list"

start_server

report=$data/report
run=run$$
for generation in 1 2; do
  PYTHONPATH=$cache/python$generation PYTHONDONTWRITEBYTECODE=1 \
    python3 "$here/python_sdk.py" "$binary" "$url" "$run" | tee -a "$report"
done
# Node looks for packages beside the script.
cp "$here"/*.mjs "$here/oauth_python.py" "$here/story.json" "$cache/node/"
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
# The manifests for hosts, by what publishes their schemas. scripts/check-host-manifests asks hosts themselves.
agents=$here/../../packaging/agents
PYTHONPATH=$cache/manifests PYTHONDONTWRITEBYTECODE=1 python3 "$here/manifests.py" "$agents" | tee -a "$report"
mcpb=$cache/node/node_modules/@anthropic-ai/mcpb
version=$(sed -n 's/^  "version": "\(.*\)",$/\1/p' "$mcpb/package.json")
node "$mcpb/dist/cli/cli.js" validate "$agents/mcpb/manifest.json" >"$data/said" 2>&1 || { cat "$data/said" >&2; exit 1; }
echo "ok mcpb-$version manifest.json" | tee -a "$report"
# OAuth, with a browser; last, since it makes a key, which closes loopback to those without one.
node "$cache/node/oauth.mjs" "$binary" "$cache/python1" "$cache/python2" | tee -a "$report"
echo "$(grep -c '^ok ' "$report") passed, 0 failed"
