import ForeignText

/// A helper's `.helper` file, read and checked.
public struct HelperSpec: Hashable, Sendable {
    /// How a helper is reached.
    public enum Activation: Hashable, Sendable {
        /// One process for one command, on standard input and output.
        case stdio(exec: [String])
        /// The daemon listens on a socket, and passes the socket to the program when starting the program.
        case socket(exec: [String])
        /// The helper is a separate service and listens at this path.
        case external(path: String)

        /// Distinguishes helpers that have the same name but different programs: the command line, or the path of the socket. Printable, and
        /// different for different command lines.
        public var identity: String {
            switch self {
            case .stdio(let exec), .socket(let exec):
                exec.map { Printable.text(of: $0.utf8).map { $0 == " " ? "\\x20" : String($0) }.joined() }.joined(separator: " ")
            case .external(let path): "socket " + Printable.text(of: path.utf8)
            }
        }

        /// The program and its arguments, if the daemon starts it.
        public var exec: [String]? {
            switch self {
            case .stdio(let exec), .socket(let exec): exec
            case .external: nil
            }
        }

        /// The value of `activation` in the control interface.
        public var word: String {
            switch self {
            case .stdio: "stdio"
            case .socket: "socket"
            case .external: "external"
            }
        }
    }

    /// The longest display name, in characters.
    public static let displayNameLimit = 15

    /// The longest name, in octets: it is part of a socket's path.
    public static let nameLimit = 48
    /// The placeholder for the network's name in a new helper's file; the helper's author replaces it.
    public static let networkPlaceholder = "Name Of Your Network"

    /// Returns whether a helper may have this name: letters, digits, dots, hyphens and underscores, the first a letter or digit.
    public static func isName(_ text: String) -> Bool {
        guard let first = text.utf8.first, text.utf8.count <= nameLimit else { return false }
        func isAlphanumeric(_ octet: UInt8) -> Bool {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
                || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
        }
        return isAlphanumeric(first) && text.utf8.allSatisfy { isAlphanumeric($0) || Array("._-".utf8).contains($0) }
    }

    /// The name by which the helper is chosen, remembered and switched.
    public var name: String
    /// The name that people read, at most 15 characters.
    public var displayName: String
    public var activation: Activation
    /// The networks that the helper may learn about; empty for every joined network.
    public var ssids: [SSIDPattern]
    /// The kinds of security that the helper may learn about; empty for all.
    public var security: Set<Security>
    /// The priority, from 0 to 100. Among helpers that claim with low confidence, the one with the highest priority is chosen (D8).
    public var priority: Int
    /// Whether the helper is switched on in its file.
    public var enabled: Bool
    /// Whether the helper gets the scan list even without `SSID=`.
    public var scanList: Bool
    /// Folders and files that the helper may read, besides those that every helper may read.
    public var readPaths: [String]
    /// Folders to which the helper may write.
    public var readWritePaths: [String]
    /// Whether the helper gets a browser for pages that need their scripts.
    public var browses = false

    public init(
        name: String, displayName: String? = nil, activation: Activation, ssids: [SSIDPattern] = [], security: Set<Security> = [],
        priority: Int = 50, enabled: Bool = true, scanList: Bool = false, readPaths: [String] = [], readWritePaths: [String] = []
    ) {
        self.name = name
        self.displayName = displayName ?? name
        self.activation = activation
        self.ssids = ssids
        self.security = security
        self.priority = priority
        self.enabled = enabled
        self.scanList = scanList
        self.readPaths = readPaths
        self.readWritePaths = readWritePaths
    }

    /// Returns whether the helper may learn about this network.
    public func covers(_ ssid: SSID, _ security: Security) -> Bool {
        guard self.security.isEmpty || self.security.contains(security) else { return false }
        return ssids.isEmpty || ssids.contains { $0.matches(ssid) }
    }
}
