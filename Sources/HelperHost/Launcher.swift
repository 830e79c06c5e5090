import CLaunch
import FoundationEssentials
import Glibc
import HotspotCore

/// What a new process is given.
struct LaunchRequest {
    var exec: [String]
    /// `NAME=VALUE`, without LISTEN_PID.
    var environment: [String]
    /// They become 0, 1 and 2.
    var input: Int32
    var output: Int32
    var error: Int32
    /// They become 3 and up.
    var listeners: [Int32] = []
    var scratch: String
    /// As ``Launcher/view(exec:writable:)`` gives it.
    var view = ProcessView()
    var withoutNetwork = false
    /// The entrance of its control group, if it has one.
    var group: Int32?
    var processorTime: UInt64
}

/// Prepares the plan of a launch: everything that allocates happens here, before the clone.
struct Launcher {
    private let configuration: HostConfiguration
    /// The folders that helpers never see, links resolved.
    private let hidden: [String]
    /// Where programs meet, links resolved; they need not exist.
    private let shared: [String]
    /// What helpers may write to: nobody else's is shown to a helper, for all have the same user.
    var writableFolders = WritableFolders()
    /// Helpers' files that links lead to, and the sockets that helpers listen on themselves.
    var filesOfAll: [String] = []
    private let mounts = MountWatch()
    /// What names networks: settings, and the files of helpers.
    private var protected: [String]
    /// The folders that helpers never write to, links resolved.
    var refused: [String] { hidden + protected }
    /// Whether a launch was seen to cover the hidden folders, so that reading needs no list.
    var coversFolders = false
    /// The kernel gave no process, for this reason.
    var onRefusal: (Int32) -> Void = { _ in }
    /// Where every process gets a control group; `nil` where the daemon has none to divide.
    var groups: ControlGroups?
    /// The system's service manager keeps the daemon's group, although it could give it away.
    var missesGroups = false
    /// Refuses a start as the kernel would, in tests; 0 lets it through.
    var refusal: (LaunchRequest) -> Int32 = { _ in 0 }
    /// The levels that are tried at all; fewer only in tests of what happens without them.
    var wanted = LAUNCH_ALL.rawValue & ~LAUNCH_NO_NETWORK.rawValue

    init(_ configuration: HostConfiguration) {
        self.configuration = configuration
        hidden = configuration.hiddenDirectories.map(Self.canonical)
        shared = configuration.sharedDirectories.map(Self.canonical)
        protected = configuration.protectedDirectories.map(Self.canonical)
    }

    /// Other folders and files than before are kept from being written to, from the next launch on.
    mutating func protect(_ paths: [String]) { protected = paths.map(Self.canonical) }

    /// What a process with this command line and these `ReadWritePaths=` is to see and may write to, if it is started now.
    func view(exec: [String], writable paths: [String]) -> ProcessView {
        let writable = paths.filter { writableFolders.refusal(of: $0, exec: exec, hidden: refused) == nil }.map(Self.canonical)
        // What is its own must stay there: its program, a script among the arguments, what it may write to.
        let scripts = FileTrust.files(amongArguments: exec, writable: writableFolders.all)
        let own = (exec.prefix(1) + scripts).map(Self.canonical) + writable
        let table = mounts.current()
        return ProcessView(
            own: own, writable: writable, covered: covered(except: own, table, withRun: true),
            awaited: table.awaited.filter { folder in !own.contains { FolderPath.isWithin($0, folder) } })
    }

    /// Starts the program. Throws an errno.
    func start(_ request: LaunchRequest) throws(Errno) -> launch_result {
        let arguments = CStringList(request.exec)
        let environment = CStringList(request.environment)
        let view = request.view
        let hidden = CStringList(view.covered)
        let awaited = CStringList(view.awaited)
        let reachable = CStringList(
            configuration.reachableSockets.map(Self.canonical) + (request.withoutNetwork ? [] : Self.nameservers))
        let writable = CStringList(view.writable)
        let readable = CStringList(Self.everything(but: ["/dev"]))
        let readableUncovered = CStringList(
            coversFolders
                ? [] : Self.everything(but: covered(except: view.own, mounts.current(), withRun: false) + ["/dev"]))
        let scratch = CStringList([Self.canonical(request.scratch)])
        var plan = launch_plan()
        plan.program = arguments.pointer[0]
        plan.arguments = UnsafePointer(arguments.pointer)
        plan.environment = UnsafePointer(environment.pointer)
        plan.input = request.input
        plan.output = request.output
        plan.error = request.error
        plan.listener_count = UInt32(request.listeners.count)
        plan.scratch = scratch.pointer[0]
        plan.scratch_size = configuration.limits.scratch
        plan.hidden = UnsafePointer(hidden.pointer)
        plan.awaited = UnsafePointer(awaited.pointer)
        plan.reachable = UnsafePointer(reachable.pointer)
        plan.writable = UnsafePointer(writable.pointer)
        plan.readable = UnsafePointer(readable.pointer)
        plan.readable_uncovered = UnsafePointer(readableUncovered.pointer)
        plan.limits = launch_limits(
            address_space: configuration.limits.addressSpace, data: configuration.limits.data,
            processor_time: request.processorTime, processes: configuration.limits.processes,
            // Each helper that shares the process has a listener in it.
            descriptors: configuration.limits.descriptors + UInt64(request.listeners.count),
            file_size: configuration.limits.fileSize)
        plan.user = geteuid()
        plan.group = getegid()
        plan.has_ipv6 = access("/proc/self/net/if_inet6", F_OK) == 0 || access("/proc/self/net", F_OK) != 0 ? 1 : 0
        plan.wanted = request.withoutNetwork ? wanted | LAUNCH_NO_NETWORK.rawValue : wanted
        plan.control_group = request.group ?? 0
        var result = launch_result()
        var code = refusal(request)
        if code == 0 {
            code = request.listeners.withUnsafeBufferPointer { listeners in
                plan.listeners = listeners.baseAddress
                return launch(&plan, &result)
            }
        }
        // The lists must live until here.
        _ = (
            arguments.count, environment.count, hidden.count, awaited.count, reachable.count, writable.count, readable.count,
            readableUncovered.count, scratch.count
        )
        guard code == 0 else {
            onRefusal(code)
            throw Errno(code: code)
        }
        return result
    }

    /// The folders and files that this helper does not see, wherever they are mounted.
    private func covered(except own: [String], _ table: MountTable, withRun: Bool) -> [String] {
        let views = hidden.flatMap { folder in table.views(of: folder).filter { $0 == folder || Self.isFolder($0) } }
        let others = writableFolders.all.filter { !own.contains($0) && WritablePath.refusal(of: $0, hidden: refused) == nil }
        func isAround(_ folder: String) -> Bool { own.contains { FolderPath.isWithin($0, folder) } }
        // Where its program lies among them, the files are covered one by one.
        let files = protected.filter(isAround).flatMap(Self.files)
        func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
        // Most of them no machine has: every start does this.
        let named = (shared + protected + files + filesOfAll + others).filter(exists).flatMap(table.views)
        // A file of `/run` that is mounted in this place tells of nameservers and no more.
        let nameservers = Self.nameserverFile
        let run = withRun ? table.views(of: configuration.runDirectory).filter { $0 != nameservers } : []
        return Self.outermost(views + (named + run).filter { exists($0) && !isAround($0) })
    }

    /// The files of helpers and of settings in a folder.
    private static func files(of folder: String) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { $0.hasSuffix(".helper") || $0.hasSuffix(".conf") }.map { FolderPath.joined(folder, $0) }
    }

    /// What tells of nameservers, where it is a link into `/run`: resolved's whole folder, which changes with the network and has its
    /// socket, and the file of anybody else.
    private static var nameservers: [String] {
        let file = nameserverFile
        let folder = "/run/systemd/resolve"
        return [FolderPath.isWithin(file, folder) ? folder : file]
    }

    private static var nameserverFile: String { canonical("/etc/resolv.conf") }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Links resolved, as far as the path exists.
    static func canonical(_ path: String) -> String {
        guard let pointer = realpath(path, nil) else { return path }
        defer { free(pointer) }
        return String(cString: pointer)
    }

    /// Without those that lie in others.
    static func outermost(_ folders: [String]) -> [String] {
        // What lies in a folder follows it directly, when each ends with a slash: every start does this for all that is hidden.
        func end(_ folder: String) -> String { folder == "/" ? folder : folder + "/" }
        var outermost: [String] = []
        for folder in Set(folders).sorted(by: { end($0).utf8.lexicographicallyPrecedes(end($1).utf8) }) {
            if let last = outermost.last, FolderPath.isWithin(folder, last) { continue }
            outermost.append(folder)
        }
        return outermost.sorted()
    }

    /// What has to be allowed so that everything but these folders can be read: Landlock knows no exceptions, so every neighbour of
    /// the folders and of their parents is named.
    static func everything(but hidden: [String]) -> [String] {
        var readable: [String] = []
        var waiting = ["/"]
        while let folder = waiting.popLast() {
            for name in (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [] {
                let path = FolderPath.joined(folder, name)
                if hidden.contains(path) { continue }
                if hidden.contains(where: { FolderPath.isWithin($0, path) }) {
                    waiting.append(path)
                } else {
                    readable.append(path)
                }
            }
        }
        return readable
    }
}

/// An error number of the kernel.
struct Errno: Error, Hashable, CustomStringConvertible {
    let code: Int32
    var description: String { String(cString: strerror(code)) }
}

/// Strings for C, ended by a null pointer.
private struct CStringList: ~Copyable {
    let pointer: UnsafeMutablePointer<UnsafePointer<CChar>?>
    let count: Int

    init(_ strings: [String]) {
        count = strings.count
        pointer = .allocate(capacity: strings.count + 1)
        for (index, string) in strings.enumerated() { (pointer + index).initialize(to: UnsafePointer(strdup(string))) }
        (pointer + strings.count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { free(UnsafeMutablePointer(mutating: pointer[index])) }
        pointer.deallocate()
    }
}
