import HotspotCore

/// Keeps the resolver's answers for an association, so that connections use the addresses that were checked. Requests for the
/// same name share one DNS query, even while it is running.
public final class NamePins: Sendable {
    private struct PinnedName: Hashable {
        var association: String
        var interface: String
        var name: String
    }
    private typealias Answer = Result<[InternetAddress], TransferError>

    /// The pins of this process.
    public static let shared = NamePins()
    private static let limit = 256
    /// Milliseconds for a DNS query that a request is waiting for. The resolver gives up earlier.
    private static let patience = 60_000
    private let questions = Locked([PinnedName: SharedWork<Answer>]())

    func addresses(of name: String, link: Link, in scope: Scope) throws(TransferError) -> [InternetAddress] {
        while true {
            switch question(name, link).wait(in: scope) {
            case .success(let addresses): return addresses
            // The query was cancelled with the requests that had started it, before this request began to wait: tries again.
            case .failure(let error) where error.code == .cancelled && !scope.cancellation.isCancelled: continue
            case .failure(let error): throw error
            case nil: throw TransferError(scope.cancellation.isCancelled ? .cancelled : .dnsTimeout)
            }
        }
    }

    /// Returns whether a nameserver answered for this name in this association.
    package func knows(_ name: String, link: Link) -> Bool {
        let question = questions.with { $0[PinnedName(association: link.association, interface: link.interface, name: name)] }
        if case .success? = question?.value { return true }
        return false
    }

    /// Returns the running or answered query for a name. If there is no query, or it failed, starts a new query.
    private func question(_ name: String, _ link: Link) -> SharedWork<Answer> {
        let key = PinnedName(association: link.association, interface: link.interface, name: name)
        return questions.with { questions in
            if let known = questions[key], !known.isAbandoned {
                switch known.value {
                case .success, nil: return known
                case .failure: break
                }
            }
            if questions.count >= Self.limit { questions.removeAll() }
            let made = SharedWork(deadline: .after(milliseconds: Self.patience)) { scope in
                Answer { () throws(TransferError) in try Resolver(link: link).addresses(of: name, in: scope) }
            }
            questions[key] = made
            return made
        }
    }

    /// Forgets a name, so that the next request resolves it again: a gateway that gives false answers before the login gives
    /// true ones after it.
    package func forget(_ name: String, link: Link) {
        questions.with { $0[PinnedName(association: link.association, interface: link.interface, name: name)] = nil }
    }
}
