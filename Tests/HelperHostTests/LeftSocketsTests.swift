import EventLoop
import Glibc
import HotspotCore
import Testing

@testable import HelperHost

/// What ends the connections of a group that is gone. The kernel is played here, by recorded bytes where they are its own; the real
/// one is asked by `Tests/Support/under-systemd`.
@Suite(.serialized, .timeLimit(.minutes(10))) struct LeftSocketsTests {
    init() { EventLoop.startThread() }

    /// What Linux 6.1 said of a connection in FIN-WAIT-1 of the group 23: the header, `inet_diag_msg`, and its attributes.
    private static func recorded(group: UInt64 = 23, port: UInt8 = 1, family: UInt8 = 2) -> [UInt8] {
        var octets: [UInt8] = [116, 0, 0, 0, 20, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, family, 4, 1, 0]
        // Ports, addresses, interface, cookie.
        octets += [0x9c, port, 0x1e, 0x61, 127, 0, 0, 1] + [UInt8](repeating: 0, count: 12) + [127, 0, 0, 1]
        octets += [UInt8](repeating: 0, count: 16) + [port, 0x10, 0, 0, 0, 0, 0, 0]
        // Expiry, queues, user, inode.
        octets += [UInt8](repeating: 0, count: 20)
        octets += [5, 0, 8, 0, 3, 0, 0, 0, 8, 0, 15, 0, 0, 0, 0, 0, 12, 0, 21, 0] + withUnsafeBytes(of: group) { Array($0) }
        octets[0] = UInt8(octets.count)
        return octets
    }
    /// Nothing follows (NLMSG_DONE).
    static let done: [UInt8] = [20, 0, 0, 0, 3, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    private static func said(_ code: Int32) -> [UInt8] {
        [36, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0] + withUnsafeBytes(of: -code) { Array($0) }
            + [UInt8](repeating: 0, count: 16)
    }

    /// The group whose connections are asked for.
    static func group(in request: [UInt8]) -> UInt64 { request[80..<88].reversed().reduce(0) { $0 << 8 | UInt64($1) } }

    @Test func theRequestNamesTheGroup() {
        let list = SocketMessages.list(AF_INET6, ofGroup: 0x0102_0304_0506_0708)
        #expect(list.count == 88)
        #expect(Array(list[..<16]) == [88, 0, 0, 0, 20, 0, 1, 3, 1, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(list[16..<24]) == [10, 6, 0, 0, 0x36, 0x0b, 0, 0])
        #expect(Array(list[24..<72]).allSatisfy { $0 == 0 })
        #expect(Array(list[72...]) == [16, 0, 1, 0, 13, 12, 16, 0, 8, 7, 6, 5, 4, 3, 2, 1])
        let found = SocketMessages.Found(family: 2, identity: Array(1...48))
        let destroy = SocketMessages.destroy(found)
        #expect(Array(destroy[..<16]) == [72, 0, 0, 0, 21, 0, 5, 0, 1, 0, 0, 0, 0, 0, 0, 0])
        #expect(Array(destroy[16..<20]) == [2, 6, 0, 0] && Array(destroy[24...]) == Array(1...48))
    }

    @Test func onlySocketsOfTheGroupAreFound() {
        let datagram = Self.recorded(port: 1) + Self.recorded(group: 24, port: 2) + Self.recorded(port: 3, family: 10) + Self.done
        let answer = SocketMessages.read(datagram, ofGroup: 23)
        #expect(answer.end == 0 && answer.found.map(\.family) == [2, 10] && answer.found.map { $0.identity[1] } == [1, 3])
        #expect(answer.found.allSatisfy { $0.identity.count == 48 })
        #expect(SocketMessages.read(Self.recorded(), ofGroup: 23).end == nil)
        #expect(SocketMessages.read(Self.said(EPERM), ofGroup: 23).end == EPERM)
        // A kernel before 5.9 says nothing of groups.
        var silent = Self.recorded()
        silent[silent.count - 10] = 22
        #expect(SocketMessages.read(silent, ofGroup: 23).found == [])
    }

    @Test func noLengthLeadsOutOfTheAnswer() {
        let whole = Self.recorded() + Self.done
        for length in 0..<whole.count {
            let answer = SocketMessages.read(whole[..<length], ofGroup: 23)
            #expect(answer.found.count == (length >= Self.recorded().count ? 1 : 0))
        }
        for position in whole.indices {
            for value in [0, 1, 3, 4, 127, 128, 255] as [UInt8] {
                var octets = whole
                octets[position] = value
                #expect(SocketMessages.read(octets, ofGroup: 23).found.count <= 1)
            }
        }
    }

    /// A kernel with so many sockets of one group.
    @LoopActor private final class Kernel {
        var sockets: [(group: UInt64, port: UInt8)]
        var lists = 0, refused: Int32?
        /// Ends none that belongs to no process, as Linux did.
        var isOld = false
        private(set) var ended: [UInt8] = []

        init(_ sockets: [(group: UInt64, port: UInt8)]) { self.sockets = sockets }

        func answer(_ request: [UInt8], _ isEnough: (ArraySlice<UInt8>) -> Bool) {
            if request[4] == 20 {
                lists += 1
                let group = LeftSocketsTests.group(in: request)
                if request[16] == 2 {
                    for socket in sockets where socket.group == group {
                        if isEnough(LeftSocketsTests.recorded(group: group, port: socket.port)[...]) { return }
                    }
                }
                _ = isEnough(LeftSocketsTests.done[...])
            } else {
                let port = request[25]
                let isThere = sockets.contains { $0.port == port }
                if isThere, refused == nil {
                    ended.append(port)
                    if !isOld { sockets.removeAll { $0.port == port } }
                }
                _ = isEnough(LeftSocketsTests.said(refused ?? (isThere ? 0 : ENOENT))[...])
            }
        }
    }

    @Test @LoopActor func allOfAGroupEndAndNoOthers() async {
        let kernel = Kernel((1...200).map { (23, $0) } + [(24, 201)])
        let left = LeftSockets(grace: .zero) { kernel.answer($0, $1) }
        left.end(ofGroup: 23)
        // Nothing happens in the turn of the loop in which the group ended.
        #expect(kernel.lists == 0 && left.count == 1)
        #expect(await eventually { left.count == 0 })
        #expect(kernel.ended.count == 200 && kernel.sockets.map(\.port) == [201])
        // Not all in one turn; each asks for the first family, the last one for both.
        #expect(kernel.lists >= 200 / LeftSockets.sockets + 2)
    }

    /// What the kernel refuses, or does by half, is tried once.
    @Test(arguments: [EPERM, EOPNOTSUPP, nil]) @LoopActor func whatTheKernelCannotDoIsLeft(_ code: Int32?) async {
        let kernel = Kernel((1...100).map { (23, $0) })
        kernel.refused = code
        kernel.isOld = true
        let left = LeftSockets(grace: .zero) { kernel.answer($0, $1) }
        left.end(ofGroup: 23)
        left.end(ofGroup: 24)
        #expect(await eventually { left.count == 0 })
        #expect(kernel.sockets.count == 100 && Set(kernel.ended).count == (code == nil ? 1 : 0))
        let lists = kernel.lists
        left.end(ofGroup: 23)
        #expect(left.count == 0 && kernel.lists == lists)
    }

    /// A peer could take what waits just before the kernel is asked to end the connection, and have all the others stay for good.
    @Test @LoopActor func aFewRefusalsAreNotTheKernels() async {
        let kernel = Kernel([(23, 1), (23, 2), (24, 3)])
        kernel.refused = EOPNOTSUPP
        let left = LeftSockets(grace: .zero, pause: .seconds(1000)) { kernel.answer($0, $1) }
        left.end(ofGroup: 23)
        #expect(await eventually { kernel.lists >= 2 } && kernel.ended == [])
        kernel.refused = nil
        left.end(ofGroup: 24)
        #expect(await eventually { kernel.ended == [3] })
    }

    /// One that hides behind another with the same numbers is said not to be there, until that one is gone.
    @Test(arguments: [ENOENT, EOPNOTSUPP]) @LoopActor func whatIsHiddenIsTriedAgain(_ code: Int32) async {
        let kernel = Kernel([(22, 1)])
        let left = LeftSockets(grace: .zero, pause: .milliseconds(5)) { kernel.answer($0, $1) }
        left.end(ofGroup: 22)
        #expect(await eventually { left.count == 0 } && kernel.ended == [1], "it can")
        kernel.sockets = [(23, 1), (24, 2)]
        kernel.refused = code
        let lists = kernel.lists
        left.end(ofGroup: 23)
        #expect(left.hasFresh)
        #expect(await eventually { kernel.lists > lists + 6 })
        #expect(left.count == 1 && kernel.ended == [1] && !left.hasFresh, "nobody waits for what may take a minute")
        kernel.refused = nil
        #expect(await eventually { left.count == 0 })
        #expect(kernel.ended == [1, 1] && kernel.sockets.map(\.port) == [2])
        // And it is given up some time.
        kernel.sockets = [(23, 1)]
        kernel.refused = code
        left.end(ofGroup: 23)
        #expect(await eventually { left.count == 0 })
        #expect(kernel.sockets.count == 1)
    }

    @Test @LoopActor func aKernelWithoutAnyOfThisIsLeftAlone() async {
        var requests = 0
        for code in [nil, EINVAL] as [Int32?] {
            requests = 0
            let left = LeftSockets(grace: .zero) { _, isEnough in
                requests += 1
                if let code { _ = isEnough(Self.said(code)[...]) }
            }
            left.end(ofGroup: 23)
            #expect(await eventually { left.count == 0 })
            #expect(requests <= 2)
        }
    }

    /// The one of this machine, whatever it can: nobody is in this group.
    @Test @LoopActor func theRealKernelIsAskedWithoutWaiting() async {
        let left = LeftSockets(grace: .zero)
        left.end(ofGroup: .max)
        #expect(await eventually { left.count == 0 })
    }
}
