/// The text of `Interfaces/org.hotspotd.Control.varlink`, for introspection; a test holds the two together.
let controlDefinition = #"""
    # What the daemon offers to hotspotctl and to any other Varlink client.
    # Reading is open to every local user, without what prompts ask, traces and portal paths; changing, and reading those, needs root,
    # the hotspotd group, or the active seat's user. All instants are Unix time in milliseconds.
    interface org.hotspotd.Control

    type Problem (
      # Stable word, such as noAddress, helperTimeout, portalChanged, vpnBlocksProbe.
      code: string,
      message: string,
      # The command that helps, if there is one.
      hint: ?string
    )

    type Claim (
      helper: string,
      displayName: string,
      confidence: (low, high),
      # Where the claim comes from: its list, its filter answer, or an earlier visit.
      source: (manifest, filter, remembered),
      # A password or a credential is stored, so that joining asks nothing.
      ready: bool
    )

    type ScannedNetwork (
      ssid: string,
      ssidHex: string,
      bssid: string,
      interface: string,
      frequency: int,
      # dBm
      signal: int,
      signalStrength: float,
      security: (open, owe, wep, psk, sae, enterprise, unknown),
      # Number of BSSs with this name and security.
      stations: int,
      lastSeen: int,
      joined: bool,
      claims: []Claim,
      # So many more are left out; the surest are shown.
      moreClaims: ?int,
      # Handling switched off by the user for this SSID.
      disabled: bool,
      autoJoin: ?bool,
      lastOutcome: ?string
    )

    type InterfaceStatus (
      interface: string,
      state: (inactive, evaluating, authenticating, presentingUI, authenticated, maintaining, loggingOff, failure),
      since: int,
      ssid: ?string,
      ssidHex: ?string,
      bssid: ?string,
      helper: ?string,
      portal: ?string,
      # Nobody claimed the network and the probe found it open.
      captive: ?bool,
      secondsRemaining: ?int,
      bytesRemaining: ?int,
      nextMaintain: ?int,
      # A login that nobody asked for came too soon after the last one, and waits until then.
      nextLogin: ?int,
      prompt: ?string,
      problems: []Problem
    )

    type HelperStatus (
      name: string,
      displayName: string,
      version: ?string,
      enabled: bool,
      disabledFor: []string,
      priority: int,
      ssids: []string,
      activation: (stdio, socket, external),
      running: bool,
      # Consecutive missed deadlines or crashes; a quarantined helper is not waited for.
      strikes: int,
      quarantined: bool,
      problems: []Problem,
      # Where its file is, and what keeps its last process in its place, in words; what could not be had here.
      file: ?string,
      containment: ?[]string,
      missing: ?[]string,
      # It hears of every network in sight.
      scanList: ?bool,
      # What it was told since the daemon started, the newest first.
      given: ?[]Given,
      # So many more are left out of ssids and disabledFor.
      moreSSIDs: ?int,
      moreDisabledFor: ?int
    )

    # The network that was joined, or the list of networks in sight (of a long one the first names), and the last time.
    type Given (
      networks: []string,
      count: int,
      scanList: bool,
      # A stored credential was sent for this network.
      credential: bool,
      at: int
    )

    type Field (
      name: string,
      label: string,
      kind: (text, password, email, phone, code, checkbox, choice),
      required: bool,
      choices: ?[]string,
      value: ?string
    )

    type PendingPrompt (
      id: string,
      interface: string,
      ssid: string,
      helper: string,
      portal: ?string,
      title: string,
      message: ?string,
      fields: []Field,
      termsURL: ?string,
      terms: ?string,
      since: int,
      # Present and true where message, fields and terms are left out: only who may answer sees them.
      withheld: ?bool
    )

    # One step of what happened, for monitor and explain.
    type Step (
      # Milliseconds since the attempt began.
      at: int,
      time: ?int,
      attempt: ?string,
      # For a transition.
      from: ?string,
      to: ?string,
      kind: string,
      helper: ?string,
      detail: string
    )

    type Attempt (
      id: string,
      interface: string,
      ssid: string,
      began: int,
      ended: ?int,
      helper: ?string,
      portal: ?string,
      outcome: string,
      # A timer's maintain that found everything well. When the journal is full these go first.
      routine: ?bool
    )

    # With more: the present status, then a new one at each change.
    # problems: those of the daemon as a whole, such as a machine without Wi-Fi.
    # omitted, here and below: so many more do not fit into one answer. Long texts end with an ellipsis.
    method Status() -> (interfaces: []InterfaceStatus, version: string, problems: ?[]Problem, omitted: ?int)

    # Probe now (at most once a second for each interface).
    method Check(interface: ?string) -> (
      verdict: (online, captive, limited, none, unknown),
      interface: ?string,
      detail: ?string
    )

    # With more: a new list at each scan and every 5 s while the caller listens. Once: what is known, and filter answers that
    # arrive within 1 s. If not all fit, the joined and the strongest are shown.
    method List(interface: ?string) -> (networks: []ScannedNetwork, omitted: ?int)

    # name: this helper alone, or none.
    method Helpers(name: ?string) -> (helpers: []HelperStatus, omitted: ?int)

    # With more: the present prompts, then each change. All texts are as the helper has them: escape them for a terminal.
    # id: this prompt alone, or none. Status has the identifiers of those that are omitted.
    method Prompts(id: ?string) -> (prompts: []PendingPrompt, omitted: ?int)

    # Returns when the answer is accepted, not when online. remember: keep the answers, sealed, for this network and portal;
    # fields of kind code are never kept.
    method Answer(id: string, answers: [string]string, remember: bool) -> ()

    # Ask no more in this association: the interface is held.
    method Dismiss(id: string) -> ()

    # Start over on this interface: evaluate again, and log in.
    method Login(interface: ?string, helper: ?string) -> ()

    method Logoff(interface: ?string) -> ()

    # Switch handling on or off: a helper, a helper for one SSID, or (without helper) an SSID for all.
    method SetEnabled(helper: ?string, ssid: ?string, enabled: bool) -> ()

    # Forget what is remembered of a network: choice, answers, consent, pins.
    method Forget(ssid: string) -> ()

    # With more: each event as it happens.
    method Monitor() -> (interface: string, step: Step)

    # An attempt step by step, and why the winner won: the named one, else the last on this interface or of this network.
    method Explain(interface: ?string, ssid: ?string, attempt: ?string) -> (steps: []Step, verdict: string, omitted: ?int)

    # Past attempts, newest first, as many as fit into one answer. before: the identifier of the last one that is known, for those before it.
    # more: there are older ones.
    method History(ssid: ?string, before: ?string) -> (attempts: []Attempt, more: ?bool)

    # For helpers, which show the token that they were started with (HOTSPOTD_TOKEN).
    method RequestLogoff(token: string, interface: string, ssidHex: string) -> (queued: bool)

    method Current(token: string) -> (interface: ?string, ssidHex: ?string, chosenHelper: bool)

    # Connect to a network in sight, with the helper's or a given password.
    method Join(ssid: string, interface: ?string, password: ?string, once: bool) -> ()

    method Leave(interface: ?string) -> ()

    error NoSuchInterface (interface: string)
    error NoSuchHelper (helper: string)
    error NoSuchNetwork (ssid: string)
    error NoSuchPrompt (id: string)
    error WrongState (interface: string, state: string)
    error InvalidAnswer (field: string, message: string)
    error NotPermitted (message: string)
    error Failed (code: string, message: string)
    """#
