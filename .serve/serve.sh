#!/usr/bin/env bash
# Several processes of the dashboard behind nginx, for a room or a company: make serve PORT=8080 HOST=name PROCESSES=2
set -euo pipefail
cd "$(dirname "$0")/.."
port=${PORT:-8080} host=${HOST:-localhost} processes=${PROCESSES:-2} first=${FIRST_PORT:-18501}

command -v nginx >/dev/null || { echo "nginx is not installed: on Debian and Ubuntu, apt-get install nginx-light."; exit 1; }
folder=$(mktemp -d)
mkdir -m 700 "$folder/logs"

# Started as root, nginx hands its workers to another user, who must reach the folder in which they keep what is on its way: without
# it uploads fail and whoever reads slowly gets half a file. An ordinary user's workers are that user's.
worker_user() {
  [ "$(id -u)" = 0 ] || return 0
  chmod 711 "$folder"  # to pass through; nginx gives its own folders in it to the user
  local user
  for user in www-data nginx nobody; do
    if setpriv --reuid "$user" --regid "$(id -g "$user" 2>/dev/null)" --clear-groups test -x "$folder" 2>/dev/null; then
      echo "user $user $(id -gn "$user");"
      return 0
    fi
  done
  echo "user root root;"
}

# One process, begun again whenever it ends; who was on it comes back by the address of the page, which holds the whole plan.
keep_running() {
  local own=""
  trap 'kill "$own" 2>/dev/null; exit 0' TERM
  while true; do
    .venv/bin/python -m streamlit run dashboard.py --server.address 127.0.0.1 --server.port "$1" --server.allowedHosts "$host" \
      >>"$folder/logs/$1.log" 2>&1 &
    own=$!
    wait "$own" || true
    sleep 0.5
  done
}

export MALLOC_ARENA_MAX=2  # every session's thread takes memory from the same few arenas, so what one frees the next can use
export MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=16777216  # large arrays go back to the system when they are freed
servers=""
for ((number = 0; number < processes; number++)); do
  keep_running $((first + number)) &
  servers+="server 127.0.0.1:$((first + number)) max_fails=1 fail_timeout=2s; "
done
trap 'kill $(jobs -p) 2>/dev/null; wait 2>/dev/null; rm -rf "$folder"' EXIT
trap 'exit 0' INT TERM

sed -e "s|^@USER@$|$(worker_user)|" -e "s|@PORT@|$port|" -e "s|@HOST@|$host|" -e "s|@FOLDER@|$folder|g" -e "s|@PROCESSES@|$servers|" .serve/nginx.conf >"$folder/nginx.conf"
for ((number = 0; number < processes; number++)); do
  until curl --silent --fail --output /dev/null -H "Host: $host" "http://127.0.0.1:$((first + number))/_stcore/health"; do sleep 0.2; done
done
nginx -p "$folder" -c "$folder/nginx.conf" &
echo "Headroom: http://$host:$port ($processes processes; their logs are in $folder/logs)"
wait $!
