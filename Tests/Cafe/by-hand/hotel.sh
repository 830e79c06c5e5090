#!/bin/sh
# The hotel's login as one writes it by hand: probe, form with its hidden fields and cookie, answers, proof.
# Usage: hotel.sh PROBE-URL JAR <answers, where the answers are one line: ROOM SURNAME
set -e
agent='Mozilla/5.0 (X11; Linux x86_64) curl'
read -r room surname
portal=$(curl -sS -m 10 -A "$agent" -o /dev/null -w '%{redirect_url}' "$1")
[ -n "$portal" ] || { echo "no portal"; exit 3; }
token=$(curl -sS -m 10 -A "$agent" -c "$2" "$portal" | sed -n 's/.*name="csrf" value="\([0-9a-f]*\)".*/\1/p')
origin=$(printf '%s' "$portal" | cut -d/ -f1-3)
printf 'csrf=%s&room=%s&surname=%s&terms=yes&go=connect' "$token" "$room" "$surname" |
    curl -sS -m 10 -A "$agent" -b "$2" -L -o "${ANSWER:-/dev/null}" --data-binary @- "$origin/login?lang=en" \
    --next -sS -m 10 -A "$agent" -o /dev/null -w '%{http_code}\n' "$1"
