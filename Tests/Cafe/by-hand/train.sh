#!/bin/sh
# The WISPr login as one writes it by hand: probe, credentials, proof. The password comes on standard input.
# Usage: train.sh PROBE-URL USER <password
set -e
agent='Mozilla/5.0 (X11; Linux x86_64) curl'
read -r password
login=$(curl -sS -m 10 -A "$agent" "$1" | sed -n 's/.*<LoginURL>\(.*\)<\/LoginURL>.*/\1/p' | sed 's/&amp;/\&/g')
[ -n "$login" ] || { echo "no portal"; exit 3; }
printf '%s' "$password" | curl -sS -m 10 -A "$agent" -o "${ANSWER:-/dev/null}" --data-urlencode "UserName=$2" \
    --data-urlencode Password@- -d button=Login -d FNAME=0 --data-urlencode "OriginatingServer=$1" "$login" \
    --next -sS -m 10 -A "$agent" -o /dev/null -w '%{http_code}\n' "$1"
