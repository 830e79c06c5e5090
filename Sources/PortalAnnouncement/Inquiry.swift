/// The questions to one network for its portal's API, and the answers so far: it decides what is sent when, and what is reported.
public struct Inquiry: Hashable, Sendable {
    public enum Question: Hashable, Sendable {
        /// DHCPINFORM (RFC 2131, 4.4.3); with an address of IPv4 only.
        case inform
        /// A router solicitation.
        case solicitation
        /// DHCPv6's question for information.
        case informationRequest
    }

    public enum Reply: Hashable, Sendable {
        case dhcp4(DHCPPacket)
        case dhcp6(DHCPv6Reply)
        case ra(RouterAdvertisement)
    }

    public enum Action: Hashable, Sendable {
        case ask(Question)
        case tell(AnnouncingMessage, PortalAPIAddress)
    }

    /// The questions' number, by which answers to others are told apart; DHCPv6 has the lower 24 bits.
    public let transaction: UInt32
    private var answered: Set<AnnouncingMessage> = []
    private var told: Set<AnnouncingMessage> = []

    public init(transaction: UInt32) { self.transaction = transaction }

    /// All that can come has come.
    public var isComplete: Bool { answered.contains(.dhcp4) && (told.contains(.ra) || answered.contains(.dhcp6)) }

    /// Returns the questions of a round. Rounds repeat what was not answered: a packet may be lost, and addresses may come late.
    public func actions(inRound round: Int) -> [Action] {
        var questions: [Question] = []
        if !answered.contains(.dhcp4) { questions.append(.inform) }
        if !answered.contains(.ra) { questions.append(.solicitation) }
        // Routers say whether there is DHCPv6; where no router has told in the first round, it is asked all the same.
        if round > 0, !told.contains(.ra), !answered.contains(.dhcp6) { questions.append(.informationRequest) }
        return questions.map(Action.ask)
    }

    /// Returns what follows from a reply: at most one address of each kind is told, and answers to other questions are ignored.
    public mutating func handle(_ reply: Reply) -> [Action] {
        switch reply {
        case .dhcp4(let packet):
            guard packet.isAcknowledgement, packet.transaction == transaction else { return [] }
            return tell(packet.portalAPI, from: .dhcp4)
        case .dhcp6(let message):
            guard message.transaction == transaction & 0xFF_FFFF else { return [] }
            return tell(message.portalAPI, from: .dhcp6)
        case .ra(let advertisement):
            let isFirst = !answered.contains(.ra)
            let told = tell(advertisement.portalAPI, from: .ra)
            return isFirst && told.isEmpty && advertisement.namesDHCPv6 ? [.ask(.informationRequest)] : told
        }
    }

    private mutating func tell(_ api: PortalAPIAddress?, from message: AnnouncingMessage) -> [Action] {
        answered.insert(message)
        guard let api, told.insert(message).inserted else { return [] }
        return [.tell(message, api)]
    }
}
