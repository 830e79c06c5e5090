import Companion
import ForeignText
import Glibc
import HotspotCore
import Varlink
import Vault

/// The service's folder: its key and its peers, readable only by its user.
struct CompanionStore {
    /// The reason why the folder cannot be used: one sentence.
    struct Fault: Error, Hashable, CustomStringConvertible {
        let description: String
        /// Whether a file is refused, so that another start would fail too. Otherwise the disk or the machine failed, and another start may succeed.
        var isRefusal = false
    }

    private struct Record: Codable { var (id, name): (String, String) }
    private struct Records: Codable { var peers: [Record] }

    let folder: String
    private var keyPath: String { folder + "/key" }
    private var peersPath: String { folder + "/peers" }
    /// The largest file of peers, in octets; eight peers need far less.
    private static let limit = 16 * 1024

    /// Reads the key, or makes one if no laptop is paired yet.
    func key() throws(Fault) -> KeyPair {
        do throws(VaultError) {
            if let secret = try KeyFile.read(keyPath) { return try pair(secret) }
            // Makes no new key while laptops are paired, because they know this machine by its old key.
            guard access(peersPath, F_OK) != 0 else {
                throw .keyRefused(path: keyPath, reason: "it is missing, and laptops are paired; remove \(peersPath) as well")
            }
            return try pair(try KeyFile.make(keyPath))
        } catch {
            // The fault is a refusal if the key exists, or is missing although peers are stored. Otherwise no key could be made.
            throw Fault(description: "\(error)", isRefusal: access(keyPath, F_OK) == 0 || access(peersPath, F_OK) == 0)
        }
    }

    private func pair(_ secret: consuming SecretBytes) throws(VaultError) -> KeyPair {
        do throws(CompanionError) { return try KeyPair(secret: secret) } catch {
            throw .keyRefused(path: keyPath, reason: error.message)
        }
    }

    /// Reads the peers from their file. If the file does not exist, no laptop is paired.
    func peers() throws(Fault) -> [Peer] {
        func refuse(_ reason: String) -> Fault { Fault(description: "\(peersPath) is refused: \(reason)", isRefusal: true) }
        let file = open(peersPath, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else {
            if errno == ENOENT { return [] }
            let code = errno
            guard code == ELOOP || code == EACCES else {
                throw Fault(description: "\(peersPath) cannot be read: \(String(cString: strerror(code)))")
            }
            throw refuse(String(cString: strerror(code)))
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { throw refuse("it is not a file") }
        guard status.st_uid == geteuid() else { throw refuse("it belongs to user \(status.st_uid)") }
        guard status.st_mode & 0o077 == 0 else { throw refuse("others may read or write it; set its mode to 0600") }
        var octets = [UInt8](repeating: 0, count: Self.limit)
        let count = read(file, &octets, octets.count)
        guard count >= 0, count < octets.count else { throw refuse("it is too long") }
        let records: [Record]
        do throws(VarlinkError) { records = try Coding.decode(Records.self, from: Array(octets[..<count])).peers } catch {
            throw refuse("\(error)")
        }
        let peers = records.compactMap { record in
            Hex.decode(record.id).flatMap { PeerID($0) }.map { Peer(id: $0, name: record.name) }
        }
        guard peers.count == records.count, peers.allSatisfy({ Self.isName($0.name) }), peers.count <= 8,
            Set(peers.map(\.id)).count == peers.count
        else { throw refuse("it was changed") }
        return peers
    }

    private static func isName(_ name: String) -> Bool {
        (1...64).contains(name.utf8.count) && Printable.shown(name, limit: 64) == name
    }

    /// Replaces the stored peers, completely or not at all.
    func save(_ peers: [Peer]) throws(Fault) {
        func refuse(_ operation: String) -> Fault {
            Fault(description: "\(peersPath): \(operation): \(String(cString: strerror(errno)))")
        }
        let octets = Coding.encode(Records(peers: peers.map { Record(id: $0.id.description, name: $0.name) }), isIndented: true)
        let draft = "\(peersPath).new"
        unlink(draft)
        let file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw refuse("open") }
        let isWritten = write(file, octets, octets.count) == octets.count && fsync(file) == 0
        close(file)
        guard isWritten, rename(draft, peersPath) == 0 else {
            unlink(draft)
            throw refuse("write")
        }
        let parent = open(folder, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
        if parent >= 0 {
            fsync(parent)
            close(parent)
        }
    }
}
