import Foundation

/// A TCP connection over loopback; waits ten seconds at most.
final class LoopbackSocket: Sendable {
    private let socket: Int32

    init(to port: UInt16) throws {
        socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var limit = timeval(tv_sec: 10, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let code = Self.withAddress(port) { connect(socket, $0, $1) }
        guard code == 0 else { throw POSIXError(.ECONNREFUSED) }
    }

    deinit { close(socket) }

    var port: UInt16 { Self.port(socket, getsockname) }

    func send(_ octets: [UInt8]) {
        var rest = octets[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Returns this number of octets, or fewer if the other end sends no more.
    func receive(_ count: Int) -> [UInt8] {
        var octets: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: min(count, 65536))
        while octets.count < count {
            let got = recv(socket, &buffer, min(buffer.count, count - octets.count), 0)
            guard got > 0 else { break }
            octets += buffer[..<got]
        }
        return octets
    }

    func finishSending() { shutdown(socket, Int32(SHUT_WR)) }

    static func listener() throws -> (socket: Int32, port: UInt16) {
        let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard withAddress(0, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0 else { throw POSIXError(.EADDRINUSE) }
        return (listener, port(listener, getsockname))
    }

    /// Serves one connection and sends everything back. Returns the port.
    static func echo() throws -> UInt16 {
        let (listener, port) = try listener()
        Thread.detachNewThread {
            let peer = accept(listener, nil, nil)
            var buffer = [UInt8](repeating: 0, count: 65536)
            while true {
                let count = recv(peer, &buffer, buffer.count, 0)
                guard count > 0 else { break }
                var sent = 0
                while sent < count {
                    let more = buffer[sent..<count].withUnsafeBytes {
                        Glibc.send(peer, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
                    }
                    guard more > 0 else { break }
                    sent += more
                }
            }
            close(peer)
            close(listener)
        }
        return port
    }

    static func peerPort(of socket: Int32) -> UInt16 { port(socket, getpeername) }

    private static func port(
        _ socket: Int32, _ name: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
    ) -> UInt16 {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(socket, $0, &length) }
        }
        return UInt16(bigEndian: address.sin_port)
    }

    private static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }
}
