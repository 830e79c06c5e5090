import HotspotCore

/// What is kept of an answer to Evaluate until the race is decided: what the winner's Authenticate gets back, which the reader of
/// answers holds to 20 KiB or so. The rest, a megabyte perhaps of each of a hundred helpers, went into the journal as far as the journal
/// shows it, and is not held for as long as the slowest one thinks.
struct Found {
    /// The portal it found.
    let portal: Portal?
    /// What Authenticate gets back.
    let session: Session?

    /// Of a helper that does not claim the network nothing is kept.
    init?(_ evaluation: Evaluation) {
        guard evaluation.confidence != .none else { return nil }
        portal = evaluation.portal
        session = evaluation.session
    }
}
