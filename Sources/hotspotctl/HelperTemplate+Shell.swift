extension HelperTemplate {
    /// A helper in POSIX shell, with jq and curl. The same text as in `Tests/Examples/shell/aroma.sh`; a test holds the two together.
    static let shell = ##"""
        #!/bin/sh
        # A hotspot helper: it accepts the terms on the portal's page, if the user did, and presses the button.
        # Needs jq and curl. The call is on standard input and ends with a NUL, and so does the reply on standard output.
        call=$(head -z -n 1 | tr -d '\0')
        [ -n "$call" ] || exit 0 # The end of standard input: nobody waits any more.
        get() { printf '%s' "$call" | jq -r "$1 // empty"; }
        say() { jq -cj "$@" && printf '\0'; }
        reply() { say -n --arg result "$1" --arg origin "$origin" --arg logoff "$2" '{parameters: {reply: ({result: $result}
            + if $origin == "" then {} else {portal: {origin: $origin, kind: "aroma"}} end
            + if $logoff == "" then {} else {session: {memory: {logoff: $logoff}}} end)}}'; }
        # One request over this link and no other.
        ask() { curl --silent --max-time 10 --noproxy '*' --interface "$(get .parameters.link.interface)" "$@"; }
        # The address of the portal's page; nothing if the Internet answers.
        look() {
            page=$(ask --output /dev/null --write-out '%{redirect_url}' "$(get .parameters.link.probeURL)")
            origin=$(printf '%s' "$page" | sed -n 's|^\(https\{0,1\}://[^/?#]*\).*|\1|p')
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
            say -n --arg origin "$origin" '{parameters: (if $origin == "" then {confidence: "none"}
                else {confidence: "high", portal: {origin: $origin, kind: "aroma"}} end)}'
            ;;
        Authenticate | PresentUI)
            look
            if [ -z "$page" ]; then
                reply success ""
            elif [ "$(get .parameters.consent)" = true ] || get .parameters.answers.terms | grep -qx -e yes -e true; then
                token=$(ask "$page" | sed -n 's/.*name="token" value="\([^"]*\)".*/\1/p')
                # Through standard input: what stands in arguments, everybody can read.
                printf 'token=%s&accept=yes' "$token" | ask --output /dev/null --data @- "$origin/login"
                reply success "$origin/logout"
            else
                say -n --arg origin "$origin" --arg ssid "$(get .parameters.network.ssid)" '{parameters: {reply: {result: "uiRequired",
                    portal: {origin: $origin, kind: "aroma"}, prompt: {title: $ssid, termsURL: ($origin + "/terms"), fields:
                    [{name: "terms", label: "I accept the house rules", kind: "checkbox", required: true}]}}}}'
            fi
            ;;
        Maintain)
            look
            if [ -z "$page" ]; then reply success ""; else reply authenticationRequired ""; fi
            ;;
        Logoff)
            logoff=$(get .parameters.session.memory.logoff)
            if [ -n "$logoff" ] && ask --output /dev/null "$logoff"; then reply success ""; else reply failure ""; fi
            ;;
        *) say -n --arg method "$method" '{error: "org.varlink.service.MethodNotFound", parameters: {method: $method}}' ;;
        esac
        """##
}
