import CNetlink
import EventLoop
import Glibc
import HotspotCore
import Netlink
import Testing

@testable import LinkState

@Suite struct LinkMonitorTests {
    init() { EventLoop.startThread() }

    @LoopActor final class Watched {
        let kernel = ScriptedKernel()
        let monitor: LinkMonitor
        var changes: [LinkChange] = []

        init(_ prepare: (ScriptedKernel) -> Void = { _ in }) throws {
            let kernel = kernel
            kernel.links = [ScriptedKernel.link(1, "lo"), ScriptedKernel.link(2, "eth0")]
            prepare(kernel)
            monitor = try LinkMonitor { () throws(NetlinkError) in kernel }
            monitor.onChange = { [unowned self] in changes.append($0) }
            monitor.start()
        }

        func drain() -> [LinkChange] {
            readTurns()
            defer { changes = [] }
            return changes
        }

        /// Reads as the loop does, until the socket is empty.
        func readTurns() {
            while !kernel.inbox.isEmpty { monitor.exchange.readTurn() }
        }
    }

    private static func online(_ kernel: ScriptedKernel) {
        kernel.addresses = [ScriptedKernel.address(2, "192.168.7.5", 24), ScriptedKernel.address(2, "2001:db8::5", 64)]
        kernel.routes = [
            ScriptedKernel.route(2, "192.168.7.1"), ScriptedKernel.route(2, "fe80::1", metric: 1024),
            ScriptedKernel.route(2, "10.0.0.1", length: 8), ScriptedKernel.route(2, "10.0.0.2", table: 255),
            ScriptedKernel.route(2, "10.0.0.3", type: 7),
        ]
    }

    @Test @LoopActor func existingLinksAreReportedAtTheStart() throws {
        let watched = try Watched(Self.online)
        let changes = watched.drain()
        #expect(changes.count == 2)
        guard case .appeared(let link) = changes.last else {
            Issue.record("\(changes)")
            return
        }
        #expect(link.name == "eth0" && link.isUp && link.hasCarrier && link.type == 1 && link.kind == nil)
        #expect(link.hardwareAddress?.description == "02:00:00:00:00:02")
        #expect(link.addresses == ["192.168.7.5/24", "2001:db8::5/64"])
        #expect(link.gateways == ["192.168.7.1", "fe80::1"])
        #expect(watched.monitor.isComplete)
        #expect(watched.monitor.links[2] == link)
    }

    @Test @LoopActor func manyEventsOfATurnAreOneChange() throws {
        let watched = try Watched()
        _ = watched.drain()
        let before = watched.monitor.links[2]!
        for number in 0..<1000 {
            watched.kernel.happen(Int(RTM_NEWLINK), ScriptedKernel.link(2, "eth0", hasCarrier: number.isMultiple(of: 2)))
        }
        watched.kernel.happen(Int(RTM_NEWADDR), ScriptedKernel.address(2, "10.0.0.9", 8))
        let changes = watched.drain()
        // A turn reads 64 datagrams, and no change is reported while routes are being read again.
        #expect(changes.count <= 16)
        guard case .changed(let after, from: let first)? = changes.last else {
            Issue.record("\(changes)")
            return
        }
        #expect(after.addresses == ["10.0.0.9/8"] && !after.hasCarrier)
        #expect(changes.count > 1 || first == before)
    }

    @Test @LoopActor func aRenameKeepsTheLink() throws {
        let watched = try Watched(Self.online)
        _ = watched.drain()
        watched.kernel.happen(Int(RTM_NEWLINK), ScriptedKernel.link(2, "cafe0"))
        let changes = watched.drain()
        guard changes.count == 1, case .changed(let after, from: let before) = changes[0] else {
            Issue.record("\(changes)")
            return
        }
        #expect(before.name == "eth0" && after.name == "cafe0")
        #expect(before.addresses == after.addresses && before.gateways == after.gateways)
    }

    @Test @LoopActor func aRemovedLinkTakesItsAddressesAndRoutesAlong() throws {
        let watched = try Watched(Self.online)
        _ = watched.drain()
        let last = watched.monitor.links[2]!
        watched.kernel.links.removeLast()
        watched.kernel.routes = []
        watched.kernel.happen(Int(RTM_DELLINK), ScriptedKernel.link(2, "eth0"))
        #expect(watched.drain() == [.vanished(last)])
        #expect(watched.monitor.links[2] == nil)
    }

    /// A port that leaves its bridge, and messages of the wireless extensions, do not change the link.
    @Test @LoopActor func messagesOfOtherFamiliesAreIgnored() throws {
        let watched = try Watched(Self.online)
        _ = watched.drain()
        watched.kernel.happen(Int(RTM_DELLINK), ScriptedKernel.link(2, "eth0", family: UInt8(AF_BRIDGE)))
        watched.kernel.happen(Int(RTM_NEWLINK), ScriptedKernel.link(2, "else", family: UInt8(AF_BRIDGE)))
        var wireless = PayloadBuilder(header: Array(ScriptedKernel.link(2, "eth0")[..<16]))
        wireless.append(Int(IFLA_IFNAME), Array("eth0".utf8) + [0])
        wireless.append(Int(IFLA_WIRELESS), [1, 2, 3, 4])
        watched.kernel.happen(Int(RTM_NEWLINK), wireless.octets)
        #expect(watched.drain() == [])
    }

    @Test @LoopActor func routesThatVanishWithoutAnEventAreRead() throws {
        let watched = try Watched(Self.online)
        _ = watched.drain()
        watched.kernel.routes = []
        watched.kernel.happen(Int(RTM_NEWLINK), ScriptedKernel.link(2, "eth0", isUp: false, hasCarrier: false))
        let changes = watched.drain()
        guard case .changed(let after, from: _)? = changes.last else {
            Issue.record("\(changes)")
            return
        }
        #expect(after.gateways == [] && after.routeMetric == nil && !after.isUp)
        #expect(changes.count == 1)
    }

    @Test @LoopActor func onlyDefaultRoutesAreReadAgain() throws {
        let watched = try Watched(Self.online)
        _ = watched.drain()
        watched.kernel.asked = []
        watched.kernel.happen(Int(RTM_NEWROUTE), ScriptedKernel.route(2, "10.1.1.1", length: 24))
        #expect(watched.drain() == [])
        #expect(watched.kernel.asked == [])
        watched.kernel.routes = [ScriptedKernel.route(2, "192.168.7.254", metric: 50)] + watched.kernel.routes
        watched.kernel.happen(Int(RTM_NEWROUTE), watched.kernel.routes[0])
        _ = watched.drain()
        #expect(watched.monitor.links[2]?.gateways == ["192.168.7.254", "192.168.7.1", "fe80::1"])
        #expect(watched.monitor.links[2]?.routeMetric == 50)
        #expect(watched.kernel.asked == [Int(RTM_GETROUTE)])
    }

    @Test @LoopActor func addressesAreUsableOrNotThere() throws {
        let watched = try Watched()
        _ = watched.drain()
        watched.kernel.addresses = [
            ScriptedKernel.address(2, "2001:db8::1", 64, flags: UInt32(IFA_F_DEPRECATED)),
            ScriptedKernel.address(2, "2001:db8::2", 64, flags: UInt32(IFA_F_TENTATIVE)),
            ScriptedKernel.address(2, "2001:db8::3", 64, flags: UInt32(IFA_F_TENTATIVE | IFA_F_OPTIMISTIC)),
            ScriptedKernel.address(2, "2001:db8::4", 64, flags: UInt32(IFA_F_DADFAILED)),
            ScriptedKernel.address(2, "2001:db8::5", 64, flags: UInt32(IFA_F_SECONDARY)),
            ScriptedKernel.address(2, "fe80::1", 64, scope: 253), ScriptedKernel.address(2, "169.254.1.1", 16),
            ScriptedKernel.address(2, "10.0.0.2", 8, flags: UInt32(IFA_F_SECONDARY)), ScriptedKernel.address(2, "10.0.0.1", 8),
            ScriptedKernel.address(1, "127.0.0.1", 8, scope: 254),
        ]
        for payload in watched.kernel.addresses { watched.kernel.happen(Int(RTM_NEWADDR), payload) }
        _ = watched.drain()
        let expected = ["10.0.0.1/8", "10.0.0.2/8", "2001:db8::5/64", "2001:db8::3/64", "2001:db8::1/64"]
        #expect(watched.monitor.links[2]?.addresses == expected)
        #expect(watched.monitor.links[1]?.addresses == [])
        watched.kernel.happen(Int(RTM_NEWADDR), ScriptedKernel.address(2, "2001:db8::2", 64))
        watched.kernel.happen(Int(RTM_DELADDR), ScriptedKernel.address(2, "10.0.0.1", 8))
        _ = watched.drain()
        #expect(watched.monitor.links[2]?.addresses.contains("2001:db8::2/64") == true)
        #expect(watched.monitor.links[2]?.addresses.first == "10.0.0.2/8")
    }

    @Test @LoopActor func multipathRoutesCountForEachLink() throws {
        let watched = try Watched { kernel in
            var hops: [UInt8] = []
            for (index, last) in [(Int32(1), UInt8(7)), (2, 8)] {
                hops.appendHost(UInt16(16))
                hops += [0, 0]
                hops.appendHost(index)
                hops.appendHost(UInt16(8))
                hops.appendHost(UInt16(RTA_GATEWAY.rawValue))
                hops += [10, 0, 0, last]
            }
            var route = PayloadBuilder(header: [UInt8(AF_INET), 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0])
            route.append(Int(RTA_MULTIPATH.rawValue), hops)
            kernel.routes = [route.octets]
        }
        _ = watched.drain()
        #expect(watched.monitor.links[1]?.gateways == ["10.0.0.7"])
        #expect(watched.monitor.links[2]?.gateways == ["10.0.0.8"])
    }

    /// Every tenth read reports that messages were lost: at the end the monitor has the kernel's state.
    @Test @LoopActor func lostMessagesAreMadeUpFor() throws {
        let watched = try Watched(Self.online)
        _ = watched.drain()
        for round in 0..<200 {
            watched.kernel.inbox.insert(.overrun, at: min(round % 10, watched.kernel.inbox.count))
            watched.monitor.exchange.readTurn()
        }
        // The kernel's tables change without an event.
        watched.kernel.links = [ScriptedKernel.link(2, "eth9"), ScriptedKernel.link(5, "new0", kind: "veth")]
        watched.kernel.addresses = [ScriptedKernel.address(5, "10.9.9.9", 8)]
        watched.kernel.routes = []
        watched.kernel.inbox.append(.overrun)
        _ = watched.drain()
        let links = watched.monitor.links
        #expect(Set(links.keys) == [2, 5])
        #expect(links[2]?.name == "eth9" && links[2]?.addresses == [] && links[2]?.gateways == [])
        #expect(links[5]?.addresses == ["10.9.9.9/8"] && links[5]?.kind == "veth")
    }

    @Test @LoopActor func changesOfAReadingAreReportedBeforeItsEnd() throws {
        let watched = try Watched(Self.online)
        _ = watched.drain()
        watched.kernel.links = [ScriptedKernel.link(5, "new0", kind: "veth")]
        watched.kernel.addresses = []
        var known: [Set<Int>] = []
        watched.monitor.readAgain { known.append(Set(watched.monitor.links.keys)) }
        #expect(known.isEmpty)
        _ = watched.drain()
        #expect(known == [[5]])
        _ = watched.drain()
        #expect(known.count == 1)
        watched.monitor.readAgain { known.append([]) }
        watched.monitor.stop()
        #expect(known.count == 2, "stopping also calls the handler")
    }

    @Test @LoopActor func aReadingThatFailsChangesNothing() throws {
        let watched = try Watched(Self.online)
        _ = watched.drain()
        let before = watched.monitor.links
        watched.kernel.failure = EPERM
        watched.kernel.inbox.append(.overrun)
        #expect(watched.drain() == [])
        #expect(watched.monitor.links == before)
    }

    /// Messages that are cut anywhere, or have one wrong octet: no crash, no endless loop.
    @Test @LoopActor func damagedMessagesDoNoHarm() throws {
        let messages: [(Int, [UInt8])] = [
            (Int(RTM_NEWLINK), ScriptedKernel.link(2, "eth0", kind: "veth")),
            (Int(RTM_NEWADDR), ScriptedKernel.address(2, "2001:db8::5", 64)),
            (Int(RTM_NEWROUTE), ScriptedKernel.route(2, "192.168.7.1")),
        ]
        for (type, payload) in messages {
            var damaged = (0..<payload.count).map { Array(payload[..<$0]) }
            for position in payload.indices {
                for value in [0, 1, 3, 0x7F, 0x80, 0xFF] as [UInt8] {
                    var copy = payload
                    copy[position] = value
                    damaged.append(copy)
                }
            }
            for payload in damaged {
                var table = LinkTable()
                let message = NetlinkMessage(type: UInt16(type), flags: 0, sequence: 0, port: 0, payload: payload[...])
                _ = try? table.apply(
                    NetlinkMessage(
                        type: UInt16(RTM_NEWLINK), flags: 0, sequence: 0, port: 0, payload: ScriptedKernel.link(2, "eth0")[...]))
                _ = try? table.apply(message)
                try? table.addRoute(message)
                #expect(table.snapshots.count <= 2)
            }
        }
    }

    /// The machine itself: its loopback is there, on a real socket and the real loop.
    @Test @LoopActor func theMachinesOwnLoopbackIsSeen() async throws {
        let monitor = try LinkMonitor()
        await withCheckedContinuation { continuation in
            var waiting: CheckedContinuation<Void, Never>? = continuation
            monitor.onChange = { change in
                guard case .appeared(let link) = change, link.index == 1 else { return }
                waiting?.resume()
                waiting = nil
            }
            monitor.start()
        }
        monitor.stop()
        let loopback = try #require(monitor.links[1])
        #expect(loopback.name == "lo" && loopback.type == 772 && loopback.addresses.isEmpty)
        #expect(monitor.malformedCount == 0 && monitor.foreignCount == 0)
        #expect(NeighbourTable.hardwareAddress(of: "192.0.2.1", on: 1) == nil)
        #expect(NeighbourTable.hardwareAddress(of: "no address", on: 1) == nil)
    }
}
