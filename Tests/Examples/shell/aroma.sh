#!/bin/sh
# A hotspot helper: it reads the form on the portal's page, asks whether the terms are accepted, and sends the form.
# It needs jq and curl, and openssl for portals over https. The call on standard input and the reply on standard output end with a NUL.
call=$(head -z -n 1 | tr -d '\0')
[ -n "$call" ] || exit 0 # The end of standard input: the command was cancelled.
get() { printf '%s' "$call" | jq -r "$1 // empty"; }
say() { jq -cj "$@" && printf '\0'; }
# The portal for the answer: its origin, and over https its key.
portal='(if $origin == "" then {} else {portal: ({origin: $origin, kind: "aroma"} + if $pin == "" then {} else {pin: $pin} end)} end)'
reply() { say -n --arg result "$1" --arg origin "$origin" --arg pin "$pin" --arg logoff "$2" --arg reason "$3" '{parameters: {reply: ({result: $result}
    + '"$portal"'
    + if $reason == "" then {} else {reason: $reason} end
    + if $logoff == "" then {} else {session: {memory: {logoff: $logoff}}} end)}}'; }
# One request over this link and no other. curl checks certificates; a redirect never leads it from https back to http.
ask() { curl --silent --max-time 10 --noproxy '*' --interface "$(get .parameters.link.interface)" "$@"; }
# The SHA-256 of the public key of the first certificate on standard input, in base64.
key_of() { openssl x509 -noout -pubkey | openssl pkey -pubin -outform der | openssl dgst -sha256 -binary | openssl base64; }
# Sets $seen to online, captive (then the page is in $TMPDIR/page, its address in $page, its portal's key in $pin), or unknown.
look() {
    seen=unknown page='' origin='' pin=''
    probe=$(get .parameters.link.probeURL) expect=$(get .parameters.link.probeExpect)
    answer=$(ask --output "$TMPDIR/page" --write-out '%{http_code} %{redirect_url}' "$probe") || return
    status=${answer%% *} page=${answer#* }
    if [ "$status" = "${expect:-204}" ] || { [ "$status" = 200 ] && [ "$(cat "$TMPDIR/page")" = "$expect" ]; }; then
        seen=online page=''
        return
    fi
    case $page in
    https:*) page=$(ask --location --proto-redir =https --output "$TMPDIR/page" --write-out '%{url_effective}\n%{certs}' "$page") || return ;;
    http:*) page=$(ask --location --proto-redir =http,https --output "$TMPDIR/page" --write-out '%{url_effective}\n%{certs}' "$page") || return ;;
    *) page=$probe ;; # The portal answered the probe with its page.
    esac
    case $page in https:*) pin=$(printf '%s\n' "$page" | key_of) ;; esac
    page=$(printf '%s\n' "$page" | head -n 1)
    origin=$(printf '%s' "$page" | sed -n 's|^\(https\{0,1\}://[^/?#]*\).*|\1|p')
    # The first form, on one line. Forms with text fields or lists are not supported by this helper.
    tr '\r\n' '  ' <"$TMPDIR/page" | sed -n 's/.*\(<form.*\)/\1/Ip' | sed 's|</form.*||I' >"$TMPDIR/form"
    [ -s "$TMPDIR/form" ] && ! grep -qiE '<(select|textarea)|type=["'\'']?(text|password|email|tel)' "$TMPDIR/form" && seen=captive
}
# The value of an attribute of the tag on standard input.
value() { sed -nE "s/.*[[:space:]]$1=(\"([^\"]*)\"|'([^']*)'|([^\"'>[:space:]]+)).*/\2\3\4/Ip" | sed 's/&quot;/"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/\&/g'; }
# The fields that a browser sends with all boxes ticked: of several buttons the first, of radio buttons the checked one.
fields() {
    pressed=''
    grep -oiE '<(input|button)([[:space:]][^>]*)?>' "$TMPDIR/form" | while IFS= read -r tag; do
        kind=$(printf '%s' "$tag" | value type | tr 'A-Z' 'a-z')
        case $tag in '<'[bB]*) : "${kind:=submit}" ;; esac
        content=$(printf '%s' "$tag" | value value)
        case $kind in
        hidden) ;;
        checkbox) : "${content:=on}" ;;
        radio) printf '%s' "$tag" | grep -qiE '[[:space:]]checked[[:space:]=/>]' || continue ;;
        submit) [ -z "$pressed" ] || continue; pressed=yes ;;
        *) continue ;;
        esac
        jq -rn --arg name "$(printf '%s' "$tag" | value name)" --arg value "$content" \
            'if $name == "" then empty else "\($name | @uri)=\($value | @uri)" end'
    done | paste -sd '&' -
}
send() {
    action=$(grep -oi '^<form[^>]*>' "$TMPDIR/form" | value action)
    method=$(grep -oi '^<form[^>]*>' "$TMPDIR/form" | value method | tr 'A-Z' 'a-z')
    case $action in
    '') target=$page ;;
    http:* | https:*) target=$action ;;
    //*) target=${page%%:*}:$action ;;
    /*) target=$origin$action ;;
    *) target=$(printf '%s' "$page" | sed 's|[?#].*||; s|\(://[^/]*\)$|\1/|; s|[^/]*$||')$action ;;
    esac
    case $page,$target in https:*,http:*) return 1 ;; esac # A form on an https page is not sent over http.
    # By standard input, because every user can read arguments.
    if [ "$method" = post ]; then
        fields | ask --output "$TMPDIR/answer" --data @- "$target"
    else
        fields | ask --output "$TMPDIR/answer" --get --data @- "$target"
    fi
}

method=$(get .method)
case ${method##*.} in
Describe) say -n '{parameters: {name: "aroma", displayName: "Aroma portal", version: "1"}}' ;;
FilterScanList)
    printf '%s' "$call" | say '{parameters: {annotations: [.parameters.networks[] | select(.security == "open")
        | {ssidHex, security, confidence: "high"}]}}'
    ;;
Evaluate)
    look
    say -n --arg seen "$seen" --arg origin "$origin" --arg pin "$pin" '{parameters: (if $seen != "captive" then {confidence: "none"}
        else {confidence: "high"} + '"$portal"' end)}'
    ;;
Authenticate | PresentUI)
    look
    asked=$origin key=$pin
    if [ "$seen" = online ]; then
        reply success
    elif [ "$seen" != captive ]; then
        reply temporaryFailure '' "There is no portal's page with a form of this kind."
    elif [ "$(get .parameters.portal.origin)" = "$origin" ] && [ "$(get .parameters.portal.pin)" = "$pin" ] &&
        { [ "$(get .parameters.consent)" = true ] || get .parameters.answers.terms | grep -qx -e yes -e true; }; then
        # The probe decides, not the portal's page.
        send && logoff=$(grep -oiE '<a [^>]*log-?(out|off)[^>]*>' "$TMPDIR/answer" | head -n 1 | value href) && look
        case $logoff in /*) logoff=$asked$logoff ;; http:* | https:*) ;; *) logoff='' ;; esac
        if [ "$seen" = online ]; then
            origin=$asked pin=$key
            reply success "$logoff"
        else
            reply temporaryFailure '' "The portal took the form and is still closed."
        fi
    else
        say -n --arg origin "$origin" --arg pin "$pin" --arg ssid "$(get .parameters.network.ssid)" '{parameters: {reply: ({result: "uiRequired",
            prompt: {title: $ssid, fields: [{name: "terms", label: "I accept the terms", kind: "checkbox", required: true}]}} + '"$portal"')}}'
    fi
    ;;
Maintain)
    look
    case $seen in
    online) reply success ;;
    captive) reply authenticationRequired ;;
    *) reply temporaryFailure '' "The portal does not answer, or its page is another one." ;;
    esac
    ;;
Logoff)
    logoff=$(get .parameters.session.memory.logoff)
    if [ -n "$logoff" ] && ask --output /dev/null "$logoff"; then reply success; else reply failure; fi
    ;;
*) say -n --arg method "$method" '{error: "org.varlink.service.MethodNotFound", parameters: {method: $method}}' ;;
esac
