#!/bin/sh
# The click-through login as one writes it by hand: probe, splash page, two clicks, proof.
# Usage: aroma.sh PROBE-URL
set -e
agent='Mozilla/5.0 (X11; Linux x86_64) curl'
portal=$(curl -sS -m 10 -A "$agent" -o /dev/null -w '%{redirect_url}' "$1")
[ -n "$portal" ] || { echo "no portal"; exit 3; }
fas=$(printf '%s' "${portal#*fas=}" | sed 's/=/%3d/g')
# The last of them opens the gateway; version 10 closes the connection without a reply.
base=${portal%%\?*}
curl -sS -m 10 -A "$agent" -o /dev/null "$base?fas=$fas" \
    --next -sS -m 10 -A "$agent" -o /dev/null "$base?fas=$fas&continue=clicked" \
    --next -s -m 10 -A "$agent" -o /dev/null "$base?fas=$fas&landing=yes" \
    --next -sS -m 10 -A "$agent" -o /dev/null -w '%{http_code}\n' "$1"
