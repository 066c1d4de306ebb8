#!/usr/bin/env bash
# Runs billingd on SQLite under load, for 1,000 to 1,000,000 requests at 128 and at
# 256 workers and as many requests outstanding, and appends a line for each run to
# the CSV of command series.
#   RADBLAST=/path/to/load/generator series/sqlite.sh FILE.csv [ROUNDS [WORKERS... -- REQUESTS...]]
# The load generator sends Access-Requests of 1,000 users, each a new request, and
# prints JSON with the fields answered, accept, lost and seconds; it takes the
# options -p PORT -n REQUESTS -w OUTSTANDING -U USERS -t SECONDS before it asks again.
set -euo pipefail
: "${RADBLAST:?is not set: the path of the load generator}"
csv=${1:?which file?} rounds=${2:-3}
shift $(($# < 2 ? $# : 2))
workers=() requests=()
while (($#)) && [[ $1 != -- ]]; do workers+=("$1"); shift; done
if (($#)); then shift; requests=("$@"); fi
((${#workers[@]})) || workers=(128 256)
((${#requests[@]})) || requests=(1000 10000 100000 1000000)
port=${PORT:-21112}

dir=$(mktemp -d)
server=
finish() {
  if [[ -n $server ]]; then kill -TERM "$server" 2>/dev/null && wait "$server" || true; fi
  rm -rf "$dir"
}
trap finish EXIT
(cd "$(dirname "$0")/../../.." && go build -o "$dir/billingd" ./examples/billingd)

field() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" <<<"$2"; }
[[ -s $csv ]] || echo 'workers,requests,seconds,lost' >"$csv"
for ((round = 0; round < rounds; round++)); do
  for w in "${workers[@]}"; do
    for n in "${requests[@]}"; do
      # A server and a database of its own for each run, so that none finds
      # the caches of the one before.
      rm -f "$dir"/db*
      "$dir/billingd" -db "sqlite:$dir/db" -demo 1000 -max-servers "$w" -start-servers "$w" -max-spare-servers "$w" \
        -auth "127.0.0.1:$port" -acct "127.0.0.1:$((port + 1))" >"$dir/out" 2>"$dir/log" &
      server=$!
      for _ in {1..300}; do
        grep -q '^billingd ready ' "$dir/out" && break
        kill -0 "$server" 2>/dev/null || { cat "$dir/log" >&2; exit 1; }
        sleep 0.1
      done
      out=$("$RADBLAST" -p "$port" -n "$n" -w "$w" -U 1000 -t 3)
      [[ $(field accept "$out") == "$n" ]] || { echo "not all were accepted: $out" >&2; cat "$dir/log" >&2; exit 1; }
      echo "$w,$n,$(field seconds "$out"),$(field lost "$out")" | tee -a "$csv"
      kill -TERM "$server"
      wait "$server"
      server=
    done
  done
done
