import EventLoop
import HotspotCore
import LinkState
import Store

/// The events that concern the whole daemon, although they occur on one interface, in the list of networks or at a helper. ``Coordinator`` implements
/// this protocol.
@LoopActor protocol DaemonEvents: AnyObject {
    /// Reports a step on an interface to the clients that monitor.
    func stepTaken(_ step: Step, on interface: String)
    /// Reports that an attempt begins.
    func attemptBegan()
    /// Reports that `Status` changed.
    func statusChanged()
    /// Reports that `Prompts` changed.
    func promptsChanged()
    /// Reports that `List` changed.
    func networkListChanged()
    /// Reports that a helper was sent the networks in sight, if they differ from the networks in its last question.
    func scanListDisclosed(_ networks: [Network], to helper: String)
    /// Reports that the strikes of a helper changed, and so perhaps the candidates of a network.
    func strikesChanged()
    /// Reports that links, addresses, routes or rules changed.
    func linksChanged()
    /// Ends the daemon, which cannot continue for this reason. The service manager starts it again, and the new daemon continues the sessions.
    func giveUp(because reason: String)
    /// Reports that a machine opens its link to ordinary programs, or closes it.
    func gateChanged()
    /// Reports that a login on a link is proven.
    func loginProven(on index: Int)
    /// Returns the facts about a link that the kernel does not know.
    func facts(for link: LinkSnapshot) -> LinkFacts?
    /// Asks the link's manager to end this link; `false` if that is not possible.
    ///
    /// - Parameter ssid: the network that must not be joined automatically for this duration, or, without a duration, until ``holdReleased(_:)``;
    ///   `nil` for no network.
    func disassociate(_ index: Int, keepingAway ssid: SSID?, for duration: Duration?) -> Bool
    /// Reports that a network is no longer held, so that it may be joined automatically.
    func holdReleased(_ ssid: SSID)
}
