/// The requests for a network's portal API, and the answers so far: decides which request is sent when, and which answers are reported.
///
/// Only answers of the ``Announcers`` count. An answer from any other host leaves the request open.
public struct Inquiry: Hashable, Sendable {
    public enum Question: Hashable, Sendable {
        /// The DHCPINFORM message (RFC 2131, 4.4.3), sent only with an IPv4 address.
        case inform
        /// The router solicitation.
        case solicitation
        /// The Information-request of DHCPv6 (RFC 8415, 18.2.6).
        case informationRequest
    }

    public enum Reply: Hashable, Sendable {
        case dhcp4(DHCPPacket)
        case dhcp6(DHCPv6Reply)
        case ra(RouterAdvertisement)

        var message: AnnouncingMessage {
            switch self {
            case .dhcp4: .dhcp4
            case .dhcp6: .dhcp6
            case .ra: .ra
            }
        }
    }

    public enum Action: Hashable, Sendable {
        case ask(Question)
        case tell(AnnouncingMessage, PortalAPIAddress)
        /// Reports a reply that does not count.
        case object(AnnouncingMessage, Announcers.Objection, LinkHost)
    }

    /// The transaction number of the requests, which distinguishes answers to this machine from answers to other machines. DHCPv6 uses the
    /// lower 24 bits.
    public let transaction: UInt32
    private let announcers: Announcers
    private var answered: Set<AnnouncingMessage> = []
    private var told: Set<AnnouncingMessage> = []
    private var objections: Set<Action> = []

    /// The largest number of reports about replies that do not count.
    static let objectionLimit = 4

    public init(transaction: UInt32, announcers: Announcers) {
        self.transaction = transaction
        self.announcers = announcers
    }

    /// Whether all expected answers have arrived. If there are no hosts of a family (IPv4 or IPv6), no answer over that family is expected.
    public var isComplete: Bool {
        (!asks(IPv6: false) || answered.contains(.dhcp4))
            && (!asks(IPv6: true) || told.contains(.ra) || answered.contains(.dhcp6))
    }

    private func asks(IPv6 isIPv6: Bool) -> Bool { announcers.hosts.contains { $0.isIPv6 == isIPv6 } }

    /// Returns the requests of a round. Each round repeats the requests that have no answer: a packet may be lost, and the interface may get its
    /// addresses late.
    public func actions(inRound round: Int) -> [Action] {
        var questions: [Question] = []
        if asks(IPv6: false), !answered.contains(.dhcp4) { questions.append(.inform) }
        guard asks(IPv6: true) else { return questions.map(Action.ask) }
        if !answered.contains(.ra) { questions.append(.solicitation) }
        // A router advertisement can announce DHCPv6. If none has announced the API by the second round, the DHCPv6 request is sent anyway.
        if round > 0, !told.contains(.ra), !answered.contains(.dhcp6) { questions.append(.informationRequest) }
        return questions.map(Action.ask)
    }

    /// Returns the actions that follow from a reply. Reports at most one address for each kind of message, and ignores answers to other
    /// requests.
    ///
    /// - Parameter sender: the source addresses of the packet and of its frame.
    public mutating func handle(_ reply: Reply, from sender: LinkHost) -> [Action] {
        guard answersThis(reply) else { return [] }
        if let objection = announcers.objection(to: reply, from: sender) {
            let action = Action.object(reply.message, objection, sender)
            return objections.count < Self.objectionLimit && objections.insert(action).inserted ? [action] : []
        }
        switch reply {
        case .dhcp4(let packet): return tell(packet.portalAPI, from: .dhcp4)
        case .dhcp6(let message): return tell(message.portalAPI, from: .dhcp6)
        case .ra(let advertisement):
            let isFirst = !answered.contains(.ra)
            let told = tell(advertisement.portalAPI, from: .ra)
            return isFirst && told.isEmpty && advertisement.namesDHCPv6 ? [.ask(.informationRequest)] : told
        }
    }

    private func answersThis(_ reply: Reply) -> Bool {
        switch reply {
        case .dhcp4(let packet): packet.isAcknowledgement && packet.transaction == transaction
        case .dhcp6(let message): message.transaction == transaction & 0xFF_FFFF
        case .ra: true
        }
    }

    private mutating func tell(_ api: PortalAPIAddress?, from message: AnnouncingMessage) -> [Action] {
        answered.insert(message)
        guard let api, told.insert(message).inserted else { return [] }
        return [.tell(message, api)]
    }
}
