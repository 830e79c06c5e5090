import CNetlink
import HotspotCore
import EventLoop
import Netlink

/// Reads the kernel's tables.
extension WirelessMonitor {
    /// Returns the command and the attributes of a message; `nil` if it is malformed or of another family.
    func parse(_ message: NetlinkMessage) -> (command: UInt32, attributes: AttributeReader)? {
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

    /// Reads all interfaces, and then the scan table of each interface. Does nothing if such a reading is already waiting.
    func readInterfaces() {
        guard !isReadingInterfaces else { return }
        isReadingInterfaces = true
        var interfaces: [Int: WirelessInterface] = [:]
        exchange.enqueue(
            NetlinkExchange.Request(
                type: family, isDump: true,
                payload: PayloadBuilder(command: UInt8(NL80211_CMD_GET_INTERFACE.rawValue)).octets,
                begun: { [weak self] in
                    // Let another reading wait from now on: if the kernel drops events during this reading, its result is doubtful.
                    self?.isReadingInterfaces = false
                    interfaces = [:]
                },
                answered: { [weak self] message in
                    if let interface = self?.interface(in: message) { interfaces[interface.index] = interface }
                },
                finished: { [weak self] error in
                    guard let self, error == nil else { return }
                    for index in stations.keys where interfaces[index] == nil { remove(index) }
                    for interface in interfaces.values.sorted(by: { $0.index < $1.index }) {
                        update(interface, isReadingAll: true)
                    }
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
                    update(interface)
                },
                finished: { _ in }))
    }

    /// Reads the scan table of a station. Requests that come before the reading begins share it.
    func readTable(_ index: Int, for purpose: Station.ReadingPurpose) {
        guard var station = stations[index], station.interface.isStation else { return }
        let isWaiting = !station.waitingPurposes.isEmpty
        station.waitingPurposes.insert(purpose)
        stations[index] = station
        guard !isWaiting else { return }
        let generation = station.generation
        var payload = PayloadBuilder(command: UInt8(NL80211_CMD_GET_SCAN.rawValue))
        payload.append(Int(NL80211_ATTR_IFINDEX.rawValue), integer: UInt32(index))
        var table = ScanTable()
        var purposes: Set<Station.ReadingPurpose> = []
        exchange.enqueue(
            NetlinkExchange.Request(
                type: family, isDump: true, payload: payload.octets,
                begun: { [weak self] in
                    table = ScanTable()
                    guard let self, stations[index]?.generation == generation else { return }
                    purposes.formUnion(stations[index]!.waitingPurposes)
                    stations[index]!.waitingPurposes = []
                },
                answered: { [weak self] message in
                    if let entry = self?.entry(in: message, of: index) { table.insert(entry) }
                },
                finished: { [weak self] error in
                    // The index may now belong to another interface, whose table is read separately.
                    guard let self, stations[index]?.generation == generation else { return }
                    handle(.tableRead(error == nil ? table.best : nil, for: purposes), of: index)
                }))
    }

    /// Returns the interface in an answer or event.
    func interface(in message: NetlinkMessage) -> WirelessInterface? {
        guard let (_, attributes) = parse(message) else { return nil }
        do {
            return try WirelessInterface(attributes)
        } catch {
            malformedCount += 1
            return nil
        }
    }

    private func entry(in message: NetlinkMessage, of index: Int) -> BSS? {
        guard let (_, attributes) = parse(message) else { return nil }
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
