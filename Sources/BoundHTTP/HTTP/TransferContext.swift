import CCrypto
import CCurl
import ForeignText
import Glibc
import HotspotCore

/// The state of the callbacks of one transfer. libcurl calls them on the thread that performs the transfer, one at a time.
final class TransferContext {
    let request: HTTPRequest
    let link: Link
    let scope: Scope
    private let set: ConnectionSet
    /// Whether the request is repeated on a new connection, because a kept connection was stale.
    private let isNew: Bool
    private let bounds: NetworkPolicy
    /// The rules for addresses; only a new connection needs them.
    private lazy var policy = bounds.addressPolicy(of: link)
    private(set) var status = 0
    private(set) var phrase = ""
    private(set) var headers: [HTTPResponse.Header] = []
    private(set) var body: [UInt8] = []
    private(set) var isTruncated = false
    /// Whether the last head was read up to its empty line. libcurl accepts a head without an empty line as an answer without a
    /// body.
    private(set) var hasWholeHead = false
    private(set) var pin: String?
    /// The reason for which a callback ended the transfer, because libcurl's own code says less.
    private(set) var failure: TransferError?
    private(set) var isConnected = false
    /// Whether libcurl has handed the request to a connection before.
    private var wasSent = false
    /// Whether the server closed the connection, or sent something on it, before the request: no part of the request was sent.
    private(set) var isStale = false
    var easy: OpaquePointer?
    /// A connection to the server that was made before the request.
    var ready: ReadyConnection?
    /// The socket of ``ready``, if libcurl uses it.
    private(set) var readyDescriptor: Int32 = -1

    private var headOctets = 0
    /// The largest size of all heads of one answer, in octets, including interim answers.
    private static let headLimit = 64 * 1024
    private static let headerLimit = 200
    private static let lineLimit = 16 * 1024

    init(request: HTTPRequest, link: Link, policy: NetworkPolicy, set: ConnectionSet, scope: Scope, isNew: Bool) {
        (self.request, self.set, self.isNew) = (request, set, isNew)
        (self.link, self.scope) = (link, scope)
        bounds = policy
    }

    /// Whether the body was cut at the request's limit; the part that was read is valid.
    var wasCut: Bool { isTruncated && failure == nil }

    func openSocket(_ address: UnsafeMutablePointer<curl_sockaddr>) -> curl_socket_t {
        // The address, the last member, has `addrlen` octets. Its declared type may be shorter, so this reads it through a
        // pointer.
        let length = Int(address.pointee.addrlen)
        let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) ?? 16
        let pointer = (UnsafeRawPointer(address) + offset).assumingMemoryBound(to: sockaddr.self)
        let target = InternetAddress(pointer, length: length)
        let refusal = target.map { policy.refusal(of: $0) } ?? "an address of an unknown family"
        if let refusal {
            failure = TransferError(.refusedAddress, refusal)
            return CURL_SOCKET_BAD
        }
        if let taken = target.flatMap({ ready?.take(for: $0) }) {
            (readyDescriptor, failure) = (taken, nil)
            set.note(taken)
            return taken
        }
        let descriptor = socket(
            address.pointee.family, address.pointee.socktype | Int32(SOCK_CLOEXEC.rawValue), address.pointee.protocol)
        guard descriptor >= 0 else {
            failure = TransferError(.system, String(cString: strerror(errno)))
            return CURL_SOCKET_BAD
        }
        let code = LinkSocket.bind(descriptor, to: link.interface)
        guard code == 0 else {
            close(descriptor)
            failure = TransferError(.bindFailed, "\(link.interface): \(String(cString: strerror(code)))")
            return CURL_SOCKET_BAD
        }
        // An earlier address of the same name may have been refused; this address is used, so the refusal no longer counts.
        (readyDescriptor, failure) = (-1, nil)
        set.note(descriptor)
        return descriptor
    }

    /// Checks the server's key. libcurl calls this when the connection is open and no part of the request has been sent yet.
    ///
    /// - Parameter port: the connection's local port.
    func beforeRequest(port: Int) -> Bool {
        isConnected = true
        if request.url.isSecure {
            guard let easy, let tls = ccurl_get_tls(UnsafeMutableRawPointer(easy)) else {
                failure = TransferError(.tlsFailed, "the server's key cannot be read")
                return false
            }
            var hash = [UInt8](repeating: 0, count: 32)
            guard ccrypto_peer_key_hash(tls, &hash) == 1 else {
                failure = TransferError(.tlsFailed, "the server showed no certificate")
                return false
            }
            pin = Base64.encode(hash)
            ccrypto_accept_plain_end(tls)
        }
        if let required = request.requiredPin, required != pin {
            failure = TransferError(.keyChanged)
            return false
        }
        // If a kept connection ended without an answer, libcurl repeats the request. The server may already have read the
        // request, so this allows only a GET.
        guard !wasSent || request.method == .get else {
            failure = TransferError(.emptyAnswer, "the request was not sent again")
            return false
        }
        // Input on a new connection is allowed: it may be the server's TLS session tickets.
        if request.method == .post, !isNew, set.hasInput(port: port) {
            isStale = true
            return false
        }
        wasSent = true
        request.onConnected?(set.roundTrip(port: port))
        return true
    }

    func header(_ octets: UnsafeRawBufferPointer) -> Bool {
        headOctets += octets.count
        guard octets.count <= Self.lineLimit, headOctets <= Self.headLimit, headers.count < Self.headerLimit else {
            return fail(.badAnswer, "an endless head")
        }
        guard !octets.contains(0) else { return fail(.badAnswer, "a NUL in the head") }
        if octets.allSatisfy({ $0 == 13 || $0 == 10 }) {
            hasWholeHead = true
            if let target = headers.first(where: { $0.name == "location" })?.value { request.onRedirect?(target) }
            return true
        }
        var line = octets[...]
        while let last = line.last, last == 13 || last == 10 || last == 32 || last == 9 { line = line.dropLast() }
        let text = StreamSafe.text(String(decoding: line, as: UTF8.self))
        if text.hasPrefix("HTTP/") { return statusLine(text) }
        // Folded lines (obsolete since RFC 7230, section 3.2.4) and lines without a colon are ignored.
        guard let colon = text.firstIndex(of: ":"), let first = text.utf8.first, first != 32, first != 9 else { return true }
        let name = text[..<colon].lowercased()
        let value = String(text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" })
        if name == "content-length" {
            guard !value.isEmpty, value.utf8.count <= 18, value.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else {
                return fail(.badAnswer, "a Content-Length that is not a number")
            }
            if let other = headers.first(where: { $0.name == name }), Int(other.value) != Int(value) {
                return fail(.badAnswer, "two different Content-Length headers")
            }
            if request.refusesLongBody, Int(value) ?? .max > request.bodyLimit {
                return fail(.tooLarge, "\(value) octets announced")
            }
        }
        headers.append(HTTPResponse.Header(name: name, value: value))
        return true
    }

    private func statusLine(_ text: String) -> Bool {
        let parts = text.split(separator: " ", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count >= 2, parts[1].utf8.count == 3, let number = Int(parts[1]), (100...599).contains(number) else {
            return fail(.badAnswer, "a status that does not exist")
        }
        guard number != 101 else { return fail(.badAnswer, "an upgrade that was not asked for") }
        status = number
        phrase = parts.count == 3 ? Printable.text(String(parts[2]), limit: 128) : ""
        // A new head begins: the headers of an interim answer do not count.
        (headers, hasWholeHead) = ([], false)
        return true
    }

    func write(_ octets: UnsafeRawBufferPointer) -> Bool {
        let capacity = request.bodyLimit - body.count
        if octets.count > capacity {
            if request.refusesLongBody { return fail(.tooLarge, "more than \(request.bodyLimit) octets") }
            body += octets.prefix(capacity)
            isTruncated = true
            return false
        }
        body += octets
        return true
    }

    func shouldStop() -> Bool {
        if scope.cancellation.isCancelled {
            failure = TransferError(.cancelled)
            return true
        }
        if scope.deadline.isPast {
            failure = TransferError(.timeout)
            return true
        }
        return false
    }

    private func fail(_ code: TransferErrorCode, _ detail: String) -> Bool {
        failure = TransferError(code, detail)
        return false
    }
}
