import ForeignText
import HotspotCore

/// The kind of a ``TransferError``, as a stable word.
public enum TransferErrorCode: String, Hashable, Sendable, CaseIterable {
    /// The command was cancelled.
    case cancelled
    /// The link announces no nameserver.
    case noNameserver
    /// The nameservers answered that the name does not exist, or gave an invalid answer.
    case dnsFailed
    /// No nameserver answered.
    case dnsTimeout
    /// The socket could not be bound to the interface; nothing was sent.
    case bindFailed
    /// The server, or a firewall on the way, does not accept connections.
    case connectFailed
    /// The certificate is not trusted, or the handshake failed.
    case tlsFailed
    /// The certificate is expired or not valid yet by this machine's clock.
    case clockWrong
    /// The certificate's key differs from the key that was seen before.
    case keyChanged
    /// The answer did not come by the deadline, or came too slowly.
    case timeout
    /// The connection broke in the middle.
    case reset
    /// The connection ended before the first octet of an answer.
    case emptyAnswer
    /// The body was shorter than announced.
    case shortAnswer
    /// The answer is not valid HTTP.
    case badAnswer
    /// The answer begins as HTTP, but one of its header lines is malformed.
    case badHeader
    /// The body is compressed in a way that cannot be unpacked.
    case badEncoding
    /// The answer exceeds the limit.
    case tooLarge
    /// A portal must not lead to this address (``AddressPolicy``).
    case refusedAddress
    /// A portal must not lead to this URL (``RedirectPolicy``).
    case refusedURL
    /// The chain of redirects is too long.
    case tooManyRedirects
    /// A firewall rule of this machine, such as a VPN's kill switch, refused to send the request.
    case refusedHere
    /// A page in a browser would send the answers to another origin, so the answers were not sent.
    case elsewhere
    /// A page in a browser shows other fields after one of the answers, so the user is asked again.
    case asksAnew
    /// A page in a browser did not accept the answers, or has changed.
    case notTaken
    /// The browser that had the page open has ended, or the page no longer exists in it.
    case browserEnded
    /// The request failed on this machine.
    case system
}

/// The reason why a transfer gave no usable answer.
public struct TransferError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of the error.
    public let code: TransferErrorCode
    /// Details for the trace, printable and at most 200 characters.
    public let detail: String

    /// Makes an error; `detail` is made printable.
    public init(_ code: TransferErrorCode, _ detail: String = "") {
        self.code = code
        self.detail = Printable.text(detail, limit: 200)
    }

    /// One sentence for the user.
    public var description: String {
        if code == .notTaken { return "\(detail); nothing was sent." }
        return detail.isEmpty ? sentence : "\(sentence) (\(detail))"
    }

    private var sentence: String {
        switch code {
        case .cancelled: "The command was cancelled."
        case .noNameserver: "The network announced no nameserver."
        case .dnsFailed: "The network's nameserver does not know the name."
        case .dnsTimeout: "No nameserver answered."
        case .bindFailed: "The connection could not be bound to the interface, so nothing was sent."
        case .connectFailed: "The connection was not accepted, by the server or by a firewall."
        case .tlsFailed: "The server could not prove its identity, so nothing was sent."
        case .clockWrong: "The certificate is not valid today; is this machine's clock right?"
        case .keyChanged: "The portal's key has changed, so nothing was sent."
        case .timeout: "The server did not answer in time."
        case .reset: "The server broke the connection."
        case .emptyAnswer: "The server closed the connection without an answer."
        case .shortAnswer: "The server's answer ended in the middle."
        case .badAnswer: "The server's answer is not valid HTTP."
        case .badHeader: "The server's answer has a header line that is not valid HTTP."
        case .badEncoding: "The server's answer is compressed in a way that hotspotd cannot read."
        case .tooLarge: "The server's answer is larger than allowed."
        case .refusedAddress: "The server's address is not one that a portal may use."
        case .refusedURL: "The portal named an address that hotspotd does not follow."
        case .tooManyRedirects: "The portal redirects in circles."
        case .refusedHere: "A firewall rule of this computer refused to send the request."
        case .elsewhere: "The page would send the answers to another address, so nothing was sent."
        case .asksAnew: "After an answer the page asks for something else; nothing was sent."
        case .notTaken: "The page did not accept the answers; nothing was sent."
        case .browserEnded: "The page did not stay open in the browser."
        case .system: "The request could not be made."
        }
    }

    /// Whether the server could not be reached or its answer could not be read, and the cause is neither this machine nor a rule
    /// of this library.
    package var isFailureToReach: Bool {
        switch code {
        case .dnsFailed, .dnsTimeout, .connectFailed, .tlsFailed, .clockWrong, .timeout, .reset, .emptyAnswer, .shortAnswer,
            .badAnswer, .badHeader, .badEncoding, .tooLarge, .refusedAddress:
            true
        case .cancelled, .noNameserver, .bindFailed, .keyChanged, .refusedURL, .tooManyRedirects, .refusedHere, .elsewhere,
            .asksAnew, .notTaken, .browserEnded, .system:
            false
        }
    }

    /// Whether another try would end the same way, but a browser may get further: a browser can show pages with untrusted
    /// certificates, and is more tolerant.
    package var needsBrowser: Bool {
        switch code {
        case .tlsFailed, .clockWrong, .shortAnswer, .badAnswer, .badHeader, .badEncoding, .tooLarge, .browserEnded: true
        case .cancelled, .noNameserver, .dnsFailed, .dnsTimeout, .bindFailed, .connectFailed, .keyChanged, .timeout,
            .reset, .emptyAnswer, .refusedAddress, .refusedURL, .tooManyRedirects, .refusedHere, .elsewhere, .asksAnew, .notTaken,
            .system:
            false
        }
    }

    /// Whether the error is of the kind that a middlebox causes when it breaks or refuses connections.
    var isInterference: Bool {
        switch code {
        case .tlsFailed, .clockWrong, .keyChanged, .reset, .emptyAnswer, .shortAnswer, .badAnswer, .badHeader, .badEncoding,
            .connectFailed:
            true
        case .cancelled, .noNameserver, .dnsFailed, .dnsTimeout, .bindFailed, .timeout, .tooLarge, .refusedAddress, .refusedURL,
            .tooManyRedirects, .refusedHere, .elsewhere, .asksAnew, .notTaken, .browserEnded,
            .system:
            false
        }
    }
}
