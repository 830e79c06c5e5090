/// What a peer is to a server: found once, when it connects, because looking a user up may be slow.
public enum Standing: Hashable, Sendable {
    /// It may change things, and seats are kept for it.
    case permitted
    /// A local user like any other.
    case stranger
    /// A helper: whatever user it runs as, it asks for itself alone.
    case restricted
}
