import EventLoop
import HotspotCore
import LinkState
import Store

/// What happens on one interface, in the list or at a helper, and concerns the whole daemon. The coordinator hears it.
@LoopActor protocol DaemonEvents: AnyObject {
    /// A step was taken on an interface; clients that monitor see it.
    func stepTaken(_ step: Step, on interface: String)
    /// An attempt begins on some interface.
    func attemptBegan()
    /// `Status` has something else to show.
    func statusChanged()
    /// `Prompts` has something else to show.
    func promptsChanged()
    /// `List` has something else to show.
    func networkListChanged()
    /// A helper is sent networks in sight that were not in its last question.
    func scanListDisclosed(_ networks: [Network], to helper: String)
    /// The strikes of a helper changed, and so perhaps the candidates of a network.
    func strikesChanged()
    /// Links, addresses, routes or rules changed.
    func linksChanged()
    /// A machine opens its link to ordinary programs, or closes it.
    func gateChanged()
    /// A login on a link is proven.
    func loginProven(on index: Int)
    /// Returns what is known of a link now beside what the kernel knows.
    func facts(for link: LinkSnapshot) -> LinkFacts?
    /// Ends this link; `false` if that is not possible.
    func disassociate(_ index: Int) -> Bool
}
