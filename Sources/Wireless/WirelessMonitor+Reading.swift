import CNetlink
import HotspotCore
import EventLoop
import Netlink

/// Reading the kernel's tables.
extension WirelessMonitor {
    /// The command and the attributes of a message of the family; `nil` if it is malformed or another family's.
    func open(_ message: NetlinkMessage) -> (command: UInt32, attributes: AttributeReader)? {
        guard message.type == family else { return nil }
        // struct genlmsghdr: command, version, two reserved octets.
        guard let command = message.payload.first, let rest = message.payload.after(4),
            let attributes = try? AttributeReader(rest)
        else {
            malformedCount += 1
            return nil
        }
        return (UInt32(command), attributes)
    }

    /// Reads all interfaces, then each one's table. A reading that already waits in the queue serves this wish too.
    func readInterfaces() {
        guard !isReadingInterfaces else { return }
        isReadingInterfaces = true
        var found: [Int: WirelessInterface] = [:]
        exchange.enqueue(
            NetlinkExchange.Request(
                type: family, isDump: true,
                payload: PayloadBuilder(command: UInt8(NL80211_CMD_GET_INTERFACE.rawValue)).octets,
                begun: { [weak self] in
                    // From here on an overrun makes this reading doubtful and asks for another.
                    self?.isReadingInterfaces = false
                    found = [:]
                },
                answered: { [weak self] message in
                    if let interface = self?.interface(in: message) { found[interface.index] = interface }
                },
                finished: { [weak self] error in
                    guard let self, error == nil else { return }
                    for index in stations.keys where found[index] == nil { vanish(index) }
                    for interface in found.values.sorted(by: { $0.index < $1.index }) { note(interface, reading: true) }
                }))
    }

    /// Reads one interface again, for the name of its network.
    func readInterface(_ index: Int) {
        var payload = PayloadBuilder(command: UInt8(NL80211_CMD_GET_INTERFACE.rawValue))
        payload.append(Int(NL80211_ATTR_IFINDEX.rawValue), integer: UInt32(index))
        exchange.enqueue(
            NetlinkExchange.Request(
                type: family, isDump: false, payload: payload.octets,
                answered: { [weak self] message in
                    guard let self, let interface = interface(in: message) else { return }
                    note(interface, reading: false)
                },
                finished: { _ in }))
    }

    /// Reads the scan table of an interface. Wishes that come before the reading begins are served by one reading.
    func readTable(_ index: Int, for purpose: Station.Purpose) {
        guard var station = stations[index] else { return }
        let isWaiting = !station.wanted.isEmpty
        station.wanted.insert(purpose)
        stations[index] = station
        guard !isWaiting else { return }
        let generation = station.generation
        var payload = PayloadBuilder(command: UInt8(NL80211_CMD_GET_SCAN.rawValue))
        payload.append(Int(NL80211_ATTR_IFINDEX.rawValue), integer: UInt32(index))
        var table = ScanTable()
        var purposes: Set<Station.Purpose> = []
        exchange.enqueue(
            NetlinkExchange.Request(
                type: family, isDump: true, payload: payload.octets,
                begun: { [weak self] in
                    table = ScanTable()
                    guard let self, stations[index]?.generation == generation else { return }
                    purposes.formUnion(stations[index]!.wanted)
                    stations[index]!.wanted = []
                },
                answered: { [weak self] message in
                    if let entry = self?.entry(in: message, of: index) { table.insert(entry) }
                },
                finished: { [weak self] error in
                    // The index may belong to another interface by now, which is read by itself.
                    guard let self, stations[index]?.generation == generation else { return }
                    if error == nil { stations[index]!.networks = table.best }
                    settle(index, for: purposes, isComplete: error == nil)
                }))
    }

    /// An interface in an answer or event.
    func interface(in message: NetlinkMessage) -> WirelessInterface? {
        guard let (_, attributes) = open(message) else { return nil }
        do {
            return try WirelessInterface(attributes)
        } catch {
            malformedCount += 1
            return nil
        }
    }

    private func entry(in message: NetlinkMessage, of index: Int) -> BSS? {
        guard let (_, attributes) = open(message) else { return nil }
        do {
            guard try attributes.integer(Int(NL80211_ATTR_IFINDEX.rawValue), as: UInt32.self).map(Int.init) == index,
                let bss = try attributes.nested(Int(NL80211_ATTR_BSS.rawValue))
            else { return nil }
            return try BSS(bss, now: EventLoop.now)
        } catch {
            malformedCount += 1
            return nil
        }
    }
}
