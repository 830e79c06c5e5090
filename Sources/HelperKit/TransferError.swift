import ForeignText
import HotspotCore

/// Why a transfer gave no answer that can be used.
public struct TransferError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Stable words, one for each class of failure.
    public enum Code: String, Hashable, Sendable, CaseIterable {
        /// The command was cancelled.
        case cancelled
        /// The link announces no nameserver.
        case noNameserver
        /// The nameservers answered that there is no such name, or with nonsense.
        case dnsFailed
        /// No nameserver answered.
        case dnsTimeout
        /// The socket could not be tied to the interface, so nothing was sent.
        case bindFailed
        /// Nobody accepts connections there.
        case connectFailed
        /// The certificate or the handshake is bad.
        case tlsFailed
        /// The certificate is not valid at the time that this machine believes it is.
        case clockWrong
        /// The certificate's key is not the one that was seen before.
        case keyChanged
        /// It took longer than the deadline, or trickled.
        case timeout
        /// The connection broke in the middle.
        case reset
        /// The connection ended without a word.
        case emptyAnswer
        /// The body was shorter than announced.
        case shortAnswer
        /// The answer is not HTTP as it should be.
        case badAnswer
        /// The answer exceeds the limit.
        case tooLarge
        /// The address is one that a portal has no business to send us to.
        case refusedAddress
        /// The URL is one that a portal has no business to send us to.
        case refusedURL
        /// More hops than anybody needs.
        case tooManyRedirects
        /// This machine's fault.
        case system
    }

    /// The class.
    public let code: Code
    /// What exactly, for the trace.
    public let detail: String

    /// An error.
    public init(_ code: Code, _ detail: String = "") {
        self.code = code
        self.detail = Printable.text(detail, limit: 200)
    }

    /// One sentence for the user.
    public var description: String { detail.isEmpty ? sentence : "\(sentence) (\(detail))" }

    private var sentence: String {
        switch code {
        case .cancelled: "The command was cancelled."
        case .noNameserver: "The network announced no nameserver."
        case .dnsFailed: "The network's nameserver does not know the name."
        case .dnsTimeout: "The network's nameserver does not answer."
        case .bindFailed: "The connection could not be tied to the interface, so nothing was sent."
        case .connectFailed: "The server does not accept connections."
        case .tlsFailed: "The server could not prove who it is, so nothing was sent."
        case .clockWrong: "The certificate is not valid today; is this machine's clock right?"
        case .keyChanged: "The portal's key is not the one seen before, so nothing was sent."
        case .timeout: "The server did not answer in time."
        case .reset: "The server broke the connection off."
        case .emptyAnswer: "The server closed the connection without an answer."
        case .shortAnswer: "The server's answer ended in the middle."
        case .badAnswer: "The server's answer is not valid HTTP."
        case .tooLarge: "The server's answer is larger than allowed."
        case .refusedAddress: "The server's address is not one that a portal may use."
        case .refusedURL: "The portal named an address that is not followed."
        case .tooManyRedirects: "The portal redirects in circles."
        case .system: "The request could not be made."
        }
    }

    /// The other side could not be reached, or not understood: neither this machine's fault nor a rule that was broken.
    var isFailureToReach: Bool {
        switch code {
        case .dnsFailed, .dnsTimeout, .connectFailed, .tlsFailed, .clockWrong, .timeout, .reset, .emptyAnswer, .shortAnswer,
            .badAnswer, .tooLarge, .refusedAddress:
            true
        case .cancelled, .noNameserver, .bindFailed, .keyChanged, .refusedURL, .tooManyRedirects, .system: false
        }
    }

    /// A broken or refused connection, as a middlebox causes it.
    var isInterference: Bool {
        switch code {
        case .tlsFailed, .clockWrong, .keyChanged, .reset, .emptyAnswer, .shortAnswer, .badAnswer, .connectFailed: true
        case .cancelled, .noNameserver, .dnsFailed, .dnsTimeout, .bindFailed, .timeout, .tooLarge, .refusedAddress, .refusedURL,
            .tooManyRedirects, .system:
            false
        }
    }
}
