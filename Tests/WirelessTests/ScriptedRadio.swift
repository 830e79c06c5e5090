import CNetlink
import HotspotCore
import Netlink

@testable import Wireless

/// A kernel with radios as a value of the test: answers dumps from its tables, and sends the events that the test adds.
final class ScriptedRadio: NetlinkTransport {
    static let family: UInt16 = 27

    /// The number under which the family is known here; a recording has its own.
    var family = ScriptedRadio.family
    let descriptor: Int32? = nil
    let port: UInt32 = 4711
    var interfaces: [[UInt8]] = []
    var tables: [Int: [[UInt8]]] = [:]
    /// The messages that the socket holds.
    var inbox: [NetlinkReceived] = []
    /// The commands of the requested dumps.
    var asked: [UInt32] = []
    /// The number of dumps that will report an interruption.
    var interruptions = 0

    func send(_ octets: [UInt8]) throws(NetlinkError) {
        var messages = NetlinkMessages(datagram: octets)
        let request = messages.next()!
        let command = UInt32(request.payload.first!)
        asked.append(command)
        let attributes = try! AttributeReader(request.payload.after(4)!)
        let index = (try! attributes.integer(Int(NL80211_ATTR_IFINDEX.rawValue), as: UInt32.self)).map(Int.init)
        let answers: [[UInt8]] =
            switch command {
            case NL80211_CMD_GET_INTERFACE.rawValue:
                interfaces.filter { index == nil || Self.index(of: $0) == index }
            case NL80211_CMD_GET_SCAN.rawValue: tables[index!] ?? []
            default: []
            }
        let isDump = request.flags & UInt16(NLM_F_DUMP) == UInt16(NLM_F_DUMP)
        var flags = UInt16(isDump ? NLM_F_MULTI : 0)
        if isDump, interruptions > 0 {
            interruptions -= 1
            flags |= 0x10
        }
        func answer(_ type: UInt16, _ payload: [UInt8]) {
            inbox.append(
                .datagram(
                    NetlinkMessage(type: type, flags: flags, sequence: request.sequence, port: port, payload: payload[...]).octets
                ))
        }
        for payload in answers { answer(family, payload) }
        answer(UInt16(isDump ? NLMSG_DONE : NLMSG_ERROR), [0, 0, 0, 0])
    }

    func receive() -> NetlinkReceived { inbox.isEmpty ? .nothing : inbox.removeFirst() }

    /// Queues an event in the socket.
    func happen(_ command: UInt32, index: Int, _ build: (inout PayloadBuilder) -> Void = { _ in }) {
        var payload = PayloadBuilder(command: UInt8(command))
        payload.append(Int(NL80211_ATTR_IFINDEX.rawValue), integer: UInt32(index))
        build(&payload)
        inbox.append(
            .datagram(
                NetlinkMessage(type: Self.family, flags: 0, sequence: 0, port: 0, payload: payload.octets[...]).octets))
    }

    static func index(of payload: [UInt8]) -> Int? {
        (try! AttributeReader(payload[4...]).integer(Int(NL80211_ATTR_IFINDEX.rawValue), as: UInt32.self)).map(Int.init)
    }

    static func interface(_ index: Int, _ name: String, wdev: UInt64? = nil, ssid: SSID? = nil) -> [UInt8] {
        var payload = PayloadBuilder(command: UInt8(NL80211_CMD_NEW_INTERFACE.rawValue))
        payload.append(Int(NL80211_ATTR_IFINDEX.rawValue), integer: UInt32(index))
        payload.append(Int(NL80211_ATTR_IFNAME.rawValue), Array(name.utf8) + [0])
        payload.append(Int(NL80211_ATTR_WIPHY.rawValue), integer: UInt32(0))
        payload.append(Int(NL80211_ATTR_IFTYPE.rawValue), integer: UInt32(2))
        payload.append(Int(NL80211_ATTR_WDEV.rawValue), integer: wdev ?? UInt64(index))
        payload.append(Int(NL80211_ATTR_MAC.rawValue), [2, 0, 0, 0, 0, UInt8(index)])
        if let ssid { payload.append(Int(NL80211_ATTR_SSID.rawValue), ssid.octets) }
        return payload.octets
    }

    static func entry(
        _ index: Int, _ bssid: UInt8, _ ssid: String, signal: Int32 = -5000, isAssociated: Bool = false, elements: [UInt8] = []
    ) -> [UInt8] {
        var payload = PayloadBuilder(command: UInt8(NL80211_CMD_NEW_SCAN_RESULTS.rawValue))
        payload.append(Int(NL80211_ATTR_IFINDEX.rawValue), integer: UInt32(index))
        payload.append(Int(NL80211_ATTR_BSS.rawValue)) { bss in
            bss.append(Int(NL80211_BSS_BSSID.rawValue), address(bssid))
            bss.append(Int(NL80211_BSS_FREQUENCY.rawValue), integer: UInt32(2412))
            bss.append(Int(NL80211_BSS_CAPABILITY.rawValue), integer: UInt16(1))
            bss.append(
                Int(NL80211_BSS_INFORMATION_ELEMENTS.rawValue), [0, UInt8(ssid.utf8.count)] + Array(ssid.utf8) + elements)
            bss.append(Int(NL80211_BSS_SIGNAL_MBM.rawValue), integer: signal)
            bss.append(Int(NL80211_BSS_SEEN_MS_AGO.rawValue), integer: UInt32(10))
            if isAssociated { bss.append(Int(NL80211_BSS_STATUS.rawValue), integer: NL80211_BSS_STATUS_ASSOCIATED.rawValue) }
        }
        return payload.octets
    }

    static func address(_ number: UInt8) -> [UInt8] { [2, 0, 0, 0, 1, number] }
}

extension HardwareAddress {
    static func numbered(_ number: UInt8) -> HardwareAddress { HardwareAddress(octets: ScriptedRadio.address(number))! }
}

extension SSID {
    init(_ text: String) { self.init(octets: Array(text.utf8))! }
}
