#!/bin/sh
# A hotspot helper: it reads the form on the portal's page, asks the user for its fields, and sends it. It needs curl, jq and openssl.
call=$(head -z -n 1 | tr -d '\0') && [ -n "$call" ] || exit 0 # Up to the NUL: the input stays open. Its end cancels the command.
rules=$(cat <<'END'
def attributes: [scan("([\\w-]+)=(\"[^\"]*\"|'[^']*'|[^\\s\"']+)") | {key: (.[0] | ascii_downcase), value: (.[1] | gsub("^[\"']|[\"']$"; "")
    | gsub("&quot;"; "\"") | gsub("&lt;"; "<") | gsub("&gt;"; ">") | gsub("&amp;"; "&"))}] | from_entries;
def tags: [scan("(?i)<(form|input|button)\\b([^>]*)") | {type: {input: "text", button: "submit"}[.[0] | ascii_downcase], value: ""} + (.[1] | attributes)];
def form: ([scan("(?is)<form.*?(?=</form|\\z)")] | first // "" | tags) as $all # The first form, with the first of several buttons.
    | ($all | map(select(.type != "submit"))) + ([$all[] | select(.type == "submit")][:1]);
{text: "text", password: "password", email: "email", tel: "phone", checkbox: "checkbox"} as $kinds
| ({origin: $origin, kind: "aroma"} + if $pin == "" then {} else {pin: $pin} end) as $portal
| (.parameters.portal | .origin == $origin and (.pin // "") == $pin) as $same # Else the answers are not for this portal, or this key.
| (if $same then (.parameters.credential // {}) + (.parameters.answers // {}) else {} end) as $given
| ($page | form) as $form | [$form[1:][] | select(.name and (.type == "hidden" or .type == "submit" or $kinds[.type]))] as $fields
| def is_open: if .type == "checkbox" then ($same and $consent == "true" or $given[.name] == "yes" or $given[.name] == "true") | not
    else $kinds[.type] and ($given[.name] // "") == "" end;
{result: "uiRequired", portal: $portal, prompt: {title: .parameters.network.ssid, fields: [$fields[] | select($kinds[.type]) | {name,
    label: (if .type == "checkbox" then "I accept the terms" else .name end), kind: $kinds[.type], required: true}
    + if .type == "text" and ($given[.name] // .value) != "" then {value: ($given[.name] // .value)} else {} end]}} as $question |
END
)
get() { printf '%s' "$call" | jq -r ".parameters.$1 // empty"; }
run() { printf '%s' "$call" | jq -cj --rawfile page "$TMPDIR/page" --arg origin "$origin" --arg pin "$pin" --arg consent "$(get consent)" "$rules $1"; }
answer() { run "{parameters: ($1)}" && printf '\0' && exit; }
fetch() { curl -sm 10 --noproxy '*' --interface "$(get link.interface)" "$@"; } # One request over this link and no other.
# Reads the portal's page: its text, its address, and its origin with its key. Fails if the Internet answers the probe.
look() {
    probe=$(get link.probeURL) expect=$(get link.probeExpect) pin=''
    seen=$(fetch -Lo "$TMPDIR/page" -w '%{http_code} %{url_effective}\n%{certs}' "${probe:-http://connectivitycheck.gstatic.com/generate_204}") ||
        answer '{confidence: "none", reply: {result: "temporaryFailure", reason: "The portal cannot be reached."}}'
    page=$(printf '%s\n' "$seen" | sed -n '1s/^[0-9]* //p')
    origin=$(printf '%s\n' "$page" | cut -d / -f 1-3)
    case $page in https:*) pin=$(printf '%s\n' "$seen" | openssl x509 -noout -pubkey | openssl pkey -pubin -outform der |
        openssl dgst -sha256 -binary | openssl base64) ;; esac
    [ "${seen%% *}" != "${expect:-204}" ] && [ "$(cat "$TMPDIR/page")" != "$expect" ]
}
: >"$TMPDIR/page"
case $(printf '%s' "$call" | jq -r .method) in
*.Describe) answer '{name: "aroma", displayName: "Aroma portal", version: "1"}' ;;
*.Evaluate) look && answer 'if $form == [] then {confidence: "none"} else {confidence: "high", portal: $portal} end' || answer '{confidence: "none"}' ;;
*.Maintain) look && answer '{reply: {result: "authenticationRequired", portal: $portal}}' || answer '{reply: {result: "success"}}' ;;
*.Authenticate | *.PresentUI) look || answer '{reply: {result: "success"}}' ;;
*) run '{error: "org.varlink.service.MethodNotFound", parameters: {method}}' && printf '\0' && exit ;;
esac
action=$(run '$form[0].action // ""')
case $action in
http:* | https:*) target=$action ;;
/*) target=$origin$action ;;
*) target=${action:+$(printf '%s' "$page" | sed 's|[?#].*||; s|\(://[^/]*\)$|\1/|; s|[^/]*$||')$action} ;;
esac
case ${target:=$page} in "$origin"/*) ;; *) answer '{reply: {result: "unsupportedNetwork", reason: "The form leads away; nothing was sent."}}' ;; esac
[ "$(run 'any($fields[]; is_open)')" = false ] || answer '{reply: $question}'
[ "$(run '$form[0].method // "" | ascii_downcase')" = post ] && get='' || get=--get
run '[$fields[] | {name, value: (if .type == "checkbox" and .value == "" then "on" elif $kinds[.type] and .type != "checkbox"
    then $given[.name] else .value end)} | "\(.name | @uri)=\(.value | @uri)"] | join("&")' |
    fetch ${pin:+--pinnedpubkey "sha256//$pin"} $get --data @- -o "$TMPDIR/answer" "$target" # By standard input, because every user can read arguments.
asked=$origin key=$pin && look || : >"$TMPDIR/answer"
mv "$TMPDIR/answer" "$TMPDIR/page" # A form again: nothing is sent twice without the user. Otherwise the daemon's probe decides.
origin=$asked pin=$key
answer '{reply: (if $form == [] then {result: "success", portal: $portal} else $question | .prompt.message = "The portal did not accept this." end)}'
