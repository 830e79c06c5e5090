import ForeignText

/// A file of `[Section]` and `Key=Value` lines, as systemd and iwd use them. Every entry has its line for errors.
public struct Keyfile: Hashable, Sendable {
    /// One `Key=Value`.
    public struct Entry: Hashable, Sendable {
        public let section: String
        /// Left of the first `=`, trimmed.
        public let key: String
        /// Right of it, trimmed.
        public let value: String
        /// Counted from 1.
        public let line: Int
        /// The line of its section's name, counted from 1.
        public let sectionLine: Int
    }

    /// An error in a file, with its place and the valid choices.
    public struct Error: Swift.Error, Hashable, Sendable, CustomStringConvertible {
        public let file: String
        /// Counted from 1; 0 for the file as a whole.
        public let line: Int
        /// One sentence.
        public let message: String

        public init(file: String, line: Int, message: String) {
            self.file = file
            self.line = line
            self.message = message
        }

        /// `FILE:LINE: MESSAGE`
        public var description: String { line > 0 ? "\(file):\(line): \(message)" : "\(file): \(message)" }
    }

    /// The largest file that is read, in octets.
    public static let maximumSize = 64 * 1024

    /// The file's path, for errors.
    public let file: String
    public private(set) var entries: [Entry] = []

    /// Parses a file's octets. Comments begin with `#` or `;`. Throws the first ``Error``.
    public init(_ octets: [UInt8], file: String) throws(Error) {
        var errors: [Error] = []
        self.init(octets, file: file, errors: &errors)
        if let first = errors.first { throw first }
    }

    /// Parses a file's octets, adds every error, and keeps the entries that can be read.
    public init(_ octets: [UInt8], file: String, errors: inout [Error]) {
        self.file = file
        func error(_ line: Int, _ message: String) -> Error { Error(file: file, line: line, message: message) }
        guard octets.count <= Self.maximumSize else {
            errors.append(error(0, "larger than \(Self.maximumSize / 1024) KiB"))
            return
        }
        guard !octets.starts(with: [0xEF, 0xBB, 0xBF]) else {
            errors.append(error(1, "the file begins with a byte order mark (BOM); save it as UTF-8 without one"))
            return
        }
        guard let text = String(validating: octets, as: UTF8.self), !octets.contains(0) else {
            errors.append(error(0, "not UTF-8 text"))
            return
        }
        var section: (name: String, line: Int)?
        // Below a heading that cannot be read it is not known what entries mean.
        var isLost = false
        var number = 0
        for raw in text.split(omittingEmptySubsequences: false, whereSeparator: { $0.isNewline }) {
            number += 1
            guard StreamSafe.isSafe(raw) else {
                errors.append(error(number, "more than \(StreamSafe.limit) combining marks follow one character"))
                continue
            }
            let line = Self.trim(raw)
            if line.isEmpty || line.hasPrefix("#") || line.hasPrefix(";") { continue }
            if line.hasPrefix("[") {
                guard line.hasSuffix("]"), line.count > 2 else {
                    errors.append(error(number, "a section is written [Name]"))
                    isLost = true
                    continue
                }
                isLost = false
                section = (String(line.dropFirst().dropLast()), number)
                continue
            }
            guard let equals = line.firstIndex(of: "="), equals != line.startIndex else {
                errors.append(error(number, "expected Key=Value, a [Section] or a # comment"))
                continue
            }
            if isLost { continue }
            guard let section else {
                errors.append(error(number, "an entry comes before the first [Section]"))
                continue
            }
            entries.append(
                Entry(
                    section: section.name, key: Self.trim(line[..<equals]), value: Self.trim(line[line.index(after: equals)...]),
                    line: number, sectionLine: section.line))
        }
    }

    /// Returns the last entry of a key, which is the one that counts.
    public func last(_ section: String, _ key: String) -> Entry? {
        entries.last { $0.section == section && $0.key == key }
    }

    /// Returns an error at an entry of this file.
    public func error(_ entry: Entry, _ message: String) -> Error {
        Error(file: file, line: entry.line, message: "\(entry.key)= \(message)")
    }

    private static func trim(_ text: some StringProtocol) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(text[first...last])
    }
}

extension Keyfile.Entry {
    /// `yes`, `true`, `on`, `1` and their opposites; `nil` for anything else.
    public var boolean: Bool? {
        switch value.lowercased() {
        case "yes", "true", "on", "1": true
        case "no", "false", "off", "0": false
        default: nil
        }
    }
}
