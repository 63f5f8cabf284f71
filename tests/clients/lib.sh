# shellcheck shell=bash
# What the scripts here share: pinned packages, and a server on a data folder of its own. Sourced with $here and $binary set.
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

# Starts $binary on an unused data folder, $data, and sets $url; both are gone when the script ends.
start_server() {
  for name in $(env | sed -n 's/^\(REMEMBRANCER_[A-Z_]*\)=.*/\1/p') DATABASE_URL RUST_LOG; do unset "$name"; done
  data=$(mktemp -d)
  chmod 755 "$data"
  server=
  finish() {
    local code=$?
    if [ -n "$server" ]; then kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; fi
    [ "$code" = 0 ] || { grep -v " INFO " "$data/log" | tail -n 100 | sed 's/^/server: /' >&2; } || true
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
  for _ in $(seq 300); do
    url=$(sed -n 's/.* serves MCP at \(http:[^ ]*\).*/\1/p' "$data/log")
    [ -z "$url" ] || break
    kill -0 "$server" || exit 1
    sleep 0.1
  done
  [ -n "$url" ] || { echo "the server does not listen" >&2; exit 1; }
}
