import ForeignText

/// A file of `[Section]` and `Key=Value` lines, as systemd and iwd use. Each entry keeps its line number for errors.
public struct Keyfile: Hashable, Sendable {
    /// One `Key=Value`.
    public struct Entry: Hashable, Sendable {
        public let section: String
        /// The text left of the first `=`, trimmed.
        public let key: String
        /// The text right of the first `=`, trimmed.
        public let value: String
        /// The line of the entry, counted from 1.
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

    /// Parses a file's octets, appends every error to `errors`, and keeps the entries that can be read.
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
        guard String(validating: octets, as: UTF8.self) != nil, !octets.contains(0) else {
            errors.append(error(0, "not UTF-8 text"))
            return
        }
        var section: (name: String, line: Int)?
        // Whether the last section's name could not be read. The entries below it are then skipped, because their meaning is unknown.
        var isLost = false
        var (number, rest) = (0, octets[...])
        while let raw = Self.nextLine(&rest) {
            number += 1
            guard StreamSafe.isSafe(utf8: raw) else {
                errors.append(error(number, "more than \(StreamSafe.limit) combining marks follow one character"))
                continue
            }
            let line = Self.trimmed(raw)
            guard let first = line.first, first != UInt8(ascii: "#"), first != UInt8(ascii: ";") else { continue }
            if first == UInt8(ascii: "[") {
                guard line.last == UInt8(ascii: "]"), line.count > 2 else {
                    errors.append(error(number, "a section is written [Name]"))
                    isLost = true
                    continue
                }
                isLost = false
                section = (String(decoding: line.dropFirst().dropLast(), as: UTF8.self), number)
                continue
            }
            guard let equals = line.firstIndex(of: UInt8(ascii: "=")), equals != line.startIndex else {
                errors.append(error(number, "expected Key=Value, a [Section] or a # comment"))
                continue
            }
            if isLost { continue }
            guard let section else {
                errors.append(error(number, "an entry comes before the first [Section]"))
                continue
            }
            func text(_ part: ArraySlice<UInt8>) -> String { String(decoding: Self.trimmed(part), as: UTF8.self) }
            entries.append(
                Entry(
                    section: section.name, key: text(line[..<equals]), value: text(line[(equals + 1)...]), line: number,
                    sectionLine: section.line))
        }
    }

    /// Returns the last entry of a key, which overrides the earlier entries.
    public func last(_ section: String, _ key: String) -> Entry? {
        entries.last { $0.section == section && $0.key == key }
    }

    /// Returns an error at an entry of this file.
    public func error(_ entry: Entry, _ message: String) -> Error {
        Error(file: file, line: entry.line, message: "\(entry.key)= \(message)")
    }

    /// Returns the next line without its line end, and removes both from `rest`; `nil` after the last line. Works on octets, because a helper reads
    /// all portal files before its first answer: characters cost 30 times as many instructions.
    private static func nextLine(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        if rest.isEmpty { return nil }
        var index = rest.startIndex
        while index < rest.endIndex {
            let length = lineEnd(rest, at: index)
            if length > 0 {
                defer { rest = rest[(index + length)...] }
                return rest[..<index]
            }
            index += 1
        }
        defer { rest = [] }
        return rest
    }

    /// Returns the number of octets of the line end at an index, as `Character.isNewline` defines it; 0 if there is none.
    private static func lineEnd(_ octets: ArraySlice<UInt8>, at index: Int) -> Int {
        func octet(_ distance: Int) -> UInt8? { index + distance < octets.endIndex ? octets[index + distance] : nil }
        switch octets[index] {
        case 0x0A...0x0C: return 1
        case 0x0D: return octet(1) == 0x0A ? 2 : 1
        // U+0085, U+2028 and U+2029.
        case 0xC2: return octet(1) == 0x85 ? 2 : 0
        case 0xE2: return octet(1) == 0x80 && (octet(2) == 0xA8 || octet(2) == 0xA9) ? 3 : 0
        default: return 0
        }
    }

    private static func trimmed(_ octets: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        func isBlank(_ octet: UInt8) -> Bool { octet == 0x20 || (0x09...0x0D).contains(octet) }
        var (start, end) = (octets.startIndex, octets.endIndex)
        while start < end, isBlank(octets[start]) { start += 1 }
        while start < end, isBlank(octets[end - 1]) { end -= 1 }
        let part = octets[start..<end]
        guard let first = part.first, let last = part.last, max(first, last) >= 0x80 else { return part }
        let scalars = String(decoding: part, as: UTF8.self).unicodeScalars
        guard let firstWord = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let lastWord = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return [] }
        return Array(String(scalars[firstWord...lastWord]).utf8)[...]
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
