import Glibc

/// Removes folders with everything in them, piece by piece and however deep they are: a folder within another that is not empty is
/// moved up under a name of our own, and is then one of those that are to be removed. So nothing is ever two levels deep.
///
/// No link is followed. What cannot be removed, such as a mount point, stays.
final class FolderRemoval {
    private static let prefix = "gone-"
    /// What another program of the same user cannot be kept from doing is bounded: a folder that fills up again is left.
    private static let passes = 8

    /// Where the folders are moved to; everything is in this file system.
    private let parent: Int32
    /// By the numbers in their names, with the passes that are left.
    private var waiting: [(number: UInt64, passes: Int)] = []
    private var current: Pass?

    private struct Pass {
        let name: String
        let number: UInt64
        let passes: Int
        /// A directory stream, which owns the descriptor.
        let stream: OpaquePointer
        let descriptor: Int32
        var removedSome = false
    }

    /// - Parameter directory: what is to be removed lies here. `nil` if it cannot be opened.
    init?(in directory: String) {
        parent = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if parent < 0 { return nil }
    }

    deinit {
        if let current { closedir(current.stream) }
        if parent >= 0 { close(parent) }
    }

    /// Whether there is nothing to do.
    var isDone: Bool { waiting.isEmpty && current == nil }

    /// How many folders are known to be there still.
    var count: Int { waiting.count + (current == nil ? 0 : 1) }

    /// A folder or file of the directory, by its name, is to be removed; it has another name from now on.
    @discardableResult func add(_ name: String) -> Bool {
        if let number = Self.number(of: name) {
            waiting.append((number, Self.passes))
            return true
        }
        return name.withCString { moveUp($0, from: parent) }
    }

    /// What an earlier removal in the directory did not finish is to be removed, and the other names with one of the prefixes.
    func addLeftovers(_ prefix: String) {
        let copy = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard copy >= 0 else { return }
        guard let stream = fdopendir(copy) else {
            close(copy)
            return
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            if name.hasPrefix(prefix) || Self.number(of: name) != nil { names.append(name) }
        }
        for name in names { add(name) }
    }

    /// Goes on: at most so many entries, and as long as `mayGoOn` says so. Returns whether something is left to do.
    func step(atMost most: Int, while mayGoOn: () -> Bool = { true }) -> Bool {
        var left = most
        while !isDone, left > 0, mayGoOn() {
            left -= 1
            guard let pass = current else {
                begin()
                continue
            }
            guard let entry = readdir(pass.stream) else {
                end(pass)
                continue
            }
            let isRemoved = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { remove($0, in: pass.descriptor) }
            }
            if isRemoved { current?.removedSome = true }
        }
        return !isDone
    }

    private func begin() {
        guard let (number, passes) = waiting.popLast() else { return }
        let name = Self.name(number)
        if unlinkat(parent, name, 0) == 0 || unlinkat(parent, name, AT_REMOVEDIR) == 0 { return }
        let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC
        var descriptor = openat(parent, name, flags)
        if descriptor < 0, errno == EACCES, Self.makeAccessible(name, in: parent) { descriptor = openat(parent, name, flags) }
        guard descriptor >= 0 else { return }
        fchmod(descriptor, 0o700)
        guard let stream = fdopendir(descriptor) else {
            close(descriptor)
            return
        }
        current = Pass(name: name, number: number, passes: passes, stream: stream, descriptor: descriptor)
    }

    /// A file system may pass over entries while others are removed, so there is another pass as long as one removes something.
    private func end(_ pass: Pass) {
        closedir(pass.stream)
        current = nil
        guard unlinkat(parent, pass.name, AT_REMOVEDIR) != 0, errno == ENOTEMPTY || errno == EEXIST else { return }
        if pass.removedSome, pass.passes > 1 { waiting.append((pass.number, pass.passes - 1)) }
    }

    private func remove(_ name: UnsafePointer<CChar>, in folder: Int32) -> Bool {
        if strcmp(name, ".") == 0 || strcmp(name, "..") == 0 { return false }
        return unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0 || moveUp(name, from: folder)
    }

    private func moveUp(_ name: UnsafePointer<CChar>, from folder: Int32) -> Bool {
        let number = UInt64.random(in: 0...UInt64.max)
        // A folder gets another parent only from who may write to it.
        guard
            renameat(folder, name, parent, Self.name(number)) == 0
                || (errno == EACCES && Self.makeAccessible(name, in: folder)
                    && renameat(folder, name, parent, Self.name(number)) == 0)
        else { return false }
        waiting.append((number, Self.passes))
        return true
    }

    /// O_PATH (asm-generic/fcntl.h), which Glibc's module leaves out.
    private static let place: Int32 = 0o10000000

    /// A folder that may not even be opened; a link with the name is none.
    private static func makeAccessible(_ name: UnsafePointer<CChar>, in folder: Int32) -> Bool {
        let descriptor = openat(folder, name, place | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return chmod("/proc/self/fd/\(descriptor)", 0o700) == 0
    }

    private static func name(_ number: UInt64) -> String { prefix + String(number, radix: 16) }

    private static func number(of name: String) -> UInt64? {
        guard name.hasPrefix(prefix), let number = UInt64(name.dropFirst(prefix.count), radix: 16), Self.name(number) == name
        else {
            return nil
        }
        return number
    }
}
