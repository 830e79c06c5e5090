/// The texts of the interfaces that a helper process answers to, for introspection; a test holds them against `Interfaces/`.
enum InterfaceTexts {
    /// org.hotspotd.Helper
    static let helper = #"""
        # What a helper answers: one method for each hotspot helper command.
        # Deadlines are the caller's: 45 s for every method. The wait for the user lies before PresentUI and has none.
        # Each command has a connection of its own; closing it cancels the command.
        # MethodNotFound and MethodNotImplemented count as commandNotRecognized; any other error counts as failure, in Evaluate as none.
        interface org.hotspotd.Helper

        type Network (
          # Printable form: UTF-8 where valid, other octets as \xNN.
          ssid: string,
          # The 0 to 32 raw octets, lower-case hexadecimal.
          ssidHex: string,
          bssid: ?string,
          interface: string,
          # 0.0 (weak or none) to 1.0 (strong).
          signalStrength: ?float,
          security: (open, owe, wep, psk, sae, enterprise, wired, unknown),
          # Joined by the system rather than by the user.
          autoJoined: bool,
          # In Maintain: this is the join itself, not the periodic call.
          justJoined: bool,
          # This helper is the chosen one for the network.
          chosenHelper: bool
        )

        # How to reach this network, and only this one.
        type Link (
          # New at each entry to evaluating, maintaining, and authenticating from maintaining; kept through what follows from it.
          # Helpers that share a process share one probe by it.
          attempt: string,
          # The same from joining to leaving.
          association: string,
          interface: string,
          index: int,
          # CIDR notation, most preferred first.
          addresses: []string,
          gateways: []string,
          nameservers: []string,
          # RFC 8910: from DHCPv4 114, DHCPv6 103 or RA 37.
          portalAPI: ?string,
          # The probe in use, for helpers that want to look for themselves.
          probeURL: ?string,
          probeExpect: ?string
        )

        # Who asks for the login. Credentials are released for a portal, never for a name alone.
        type Portal (
          # scheme://host[:port], after the redirects, and nothing more, or the answer is refused: http or https, and a name of
          # the DNS in ASCII, an IPv4 address, or an IPv6 address in brackets.
          origin: string,
          # SHA-256 of the certificate's public key, base64; absent over plain HTTP.
          pin: ?string,
          # Protocol or vendor word, such as wispr, coova, mikrotik, form.
          kind: string,
          title: ?string
        )

        type Field (
          name: string,
          label: string,
          kind: (text, password, email, phone, code, checkbox, choice),
          required: bool,
          choices: ?[]string,
          value: ?string
        )

        type Prompt (
          title: string,
          message: ?string,
          fields: []Field,
          # Where the terms can be read, and their text if it was on the page.
          termsURL: ?string,
          terms: ?string
        )

        type Session (
          # What is less than 0, or more than ten years or a petabyte, counts as unknown.
          secondsRemaining: ?int,
          bytesRemaining: ?int,
          canExtend: ?bool,
          venueURL: ?string,
          # Kept by the daemon for this network, sealed, and handed back in the next command; at most 16 KiB; dropped at logoff.
          memory: ?object
        )

        type Annotation (
          ssidHex: string,
          # Absent: every network of this name.
          security: ?string,
          confidence: (low, high),
          # Required for a secured network, else the annotation is not shown.
          password: ?string
        )

        type Reply (
          result: (success, failure, uiRequired, commandNotRecognized, authenticationRequired, unsupportedNetwork, temporaryFailure),
          # With uiRequired.
          prompt: ?Prompt,
          # The portal as it is now. Required with authenticationRequired and uiRequired, else no stored credential is released.
          portal: ?Portal,
          session: ?Session,
          # One sentence for the user: what happened, and what to do.
          reason: ?string,
          # Steps taken: requests, statuses, durations; secrets masked. Shown by explain.
          trace: ?[]string
        )

        # Who is this helper? Display names have at most 15 characters.
        method Describe() -> (name: string, displayName: string, version: string)

        # Which of the networks in sight would this helper take? No network access here.
        method FilterScanList(networks: []Network) -> (annotations: []Annotation)

        # Is this network captive, and mine? The first high wins; others are cancelled.
        method Evaluate(network: Network, link: Link) -> (
          confidence: (none, low, high),
          portal: ?Portal,
          # Names of the credential fields that Authenticate will want.
          needs: ?[]string,
          # What Authenticate should get back: the address, page or cookies found, for a helper that is a new process each time.
          session: ?Session,
          reason: ?string
        )

        # Free the network. The credential is present if the vault holds one for this portal and released it; it is for this origin
        # and key alone: if the live portal differs, send nothing and answer uiRequired with what was found.
        # consent is true if the user accepted this portal's terms before, or by policy.
        method Authenticate(
          network: Network,
          link: Link,
          portal: ?Portal,
          credential: ?[string]string,
          consent: bool,
          session: ?Session
        ) -> (reply: Reply)

        # The user answered the prompt. A further uiRequired asks the next question (a code sent by text message, say).
        method PresentUI(
          network: Network,
          link: Link,
          portal: ?Portal,
          answers: [string]string,
          credential: ?[string]string,
          consent: bool,
          session: ?Session
        ) -> (reply: Reply)

        # Is the session still good? justJoined tells the join from the periodic call.
        method Maintain(network: Network, link: Link, session: ?Session) -> (reply: Reply)

        # End the session at the portal.
        method Logoff(network: Network, link: Link, session: ?Session) -> (reply: Reply)
        """#

    /// org.hotspotd.Probe
    static let probe = #"""
        # The verdict on a link, for the daemon itself: unclaimed networks, the proof after a login, check.
        interface org.hotspotd.Probe

        type Link (
          attempt: string,
          association: string,
          interface: string,
          index: int,
          addresses: []string,
          gateways: []string,
          nameservers: []string,
          portalAPI: ?string,
          probeURL: ?string,
          probeExpect: ?string
        )

        type Endpoint (
          url: string,
          # A status such as 204, or the exact body.
          expect: string
        )

        type Evidence (
          request: string,
          status: ?int,
          headers: [string]string,
          # First bytes only.
          body: ?string,
          error: ?string,
          milliseconds: int
        )

        # fresh: do not reuse this attempt's verdict.
        method Probe(link: Link, endpoints: []Endpoint, httpsURL: ?string, fresh: bool) -> (
          verdict: (online, partial, captive, limited),
          portalURL: ?string,
          problem: ?string,
          secondsRemaining: ?int,
          evidence: []Evidence
        )
        """#
}
