import HotspotCore
import HotspotMachine

/// Questions to the prober outside of attempts, and what a verdict changes beside the machine.
extension InterfaceController {
    /// The link for such a question: what the prober saw beside a login is no answer to it.
    var linkOfItsOwn: Link? {
        var link = link
        link?.attempt = Services.randomID()
        return link
    }

    /// Probes for a client; the machine hears the verdict too.
    func check(_ answer: @escaping (ProbeAnswer?) -> Void) {
        guard let link = linkOfItsOwn else { return answer(nil) }
        prober.ask(about: link, fresh: true, asksNames: true) { [weak self] found in
            if let found { self?.feed(.verdictSeen(found.verdict, place: found.place)) }
            answer(found)
        }
    }
}
