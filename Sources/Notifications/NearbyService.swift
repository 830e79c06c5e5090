import ControlAPI
import EventLoop
import Glibc
import Varlink

/// The connection with the companion service. An attacker may have taken over the service, so no method of this type waits for it.
struct NearbyService {
    private let connection: BlockingConnection

    /// Connects to the service; `nil` if it does not run, or accepts no connection.
    init?(path: String, awaitsQuestions: Bool) {
        guard let socket = try? Socket.connect(path: path, nonblocking: true).take() else { return nil }
        connection = BlockingConnection(descriptor: socket)
        let wishes = CompanionStatusParameters(awaitsQuestions: awaitsQuestions ? true : nil)
        let call = Call(method: "\(CompanionContract.name).Status", parameters: Coding.value(wishes), more: true)
        guard (try? connection.send(call)) != nil else { return nil }
    }

    var descriptor: Int32 { connection.descriptor }

    /// Reads once, and returns the last complete status; `nil` if there is none yet. Earlier statuses no longer count.
    func status() throws(VarlinkError) -> CompanionStatus? {
        guard let last = try connection.available().last else { return nil }
        return try Coding.decode(CompanionStatus.self, from: try Coding.decode(Answer.self, from: last).get())
    }
}

/// Reports when a socket may have appeared, with inotify(7), which does not wake the process without a change.
struct SocketWatch: ~Copyable {
    /// The descriptor of inotify(7): readable after a change, -1 if the kernel could not create it.
    let descriptor = inotify_init1(Int32(IN_NONBLOCK) | Int32(IN_CLOEXEC))
    private let folder: String
    private var parent: Int32 = -1

    init(_ path: String) { folder = FilePath.parent(of: path) }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Watches the socket's folder; if that is missing, the folder above it.
    mutating func arm() {
        let mask = UInt32(IN_CREATE | IN_MOVED_TO)
        if inotify_add_watch(descriptor, folder, mask | UInt32(IN_DELETE_SELF) | UInt32(IN_ONLYDIR)) >= 0 {
            if parent >= 0 { inotify_rm_watch(descriptor, parent) }
            parent = -1
        } else {
            parent = inotify_add_watch(descriptor, FilePath.parent(of: folder), mask | UInt32(IN_ONLYDIR))
        }
    }

    /// Reads the events and drops them.
    func drain() {
        var octets = [UInt8](repeating: 0, count: 16 * 1024)
        _ = read(descriptor, &octets, octets.count)
    }
}
