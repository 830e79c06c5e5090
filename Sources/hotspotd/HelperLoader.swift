import EventLoop
import Glibc
import HelperHost
import HotspotCore

/// Reads the helper folders, again after each change, and passes the helpers and the prober to the host.
@LoopActor final class HelperLoader {
    /// The problems with the files of helpers.
    private(set) var fileProblems: [HelperProblem] = []
    private let services: Services
    private let problems: ProblemList
    private let folders = FolderWatch()
    /// Called when the helpers of the host were replaced.
    var onLoad: () -> Void = {}

    init(services: Services, problems: ProblemList) {
        self.services = services
        self.problems = problems
        folders.onChange = { [weak self] in
            self?.services.log.info("helper folders, or files that helpers read, have changed")
            self?.load()
        }
    }

    /// Loads all changes so far at once, without the usual delay.
    func catchUp() { folders.catchUp() }

    /// Returns why a helper with this name was refused; `nil` if there is no such file, or its name could not be read.
    func problem(of helper: String) -> Problem? { fileProblems.first { $0.subject == helper }?.problem }

    func load() {
        let directories = services.settings.helperDirectories
        // The folders are watched before they are read, so that no change is missed.
        folders.watch(directories)
        var catalog = HelperCatalog(directories: directories)
        // Watch the files that helpers read as well: portal files, for example, affect which networks a helper claims.
        let readPaths = catalog.entries.flatMap(\.spec.readPaths)
        let read = readPaths.map { FilePath.kind(of: $0) == .file ? $0 : $0 + "/" }
        if folders.await(files: catalog.awaited.union(read).union(BrowserHost.places)) {
            catalog = HelperCatalog(directories: directories)
        }
        services.editions = Dictionary(
            catalog.entries.map { ($0.spec.name, Self.lastChange(of: [$0.file] + $0.spec.readPaths)) }, uniquingKeysWith: max)
        problems.set(
            .helperFoldersNotWatched,
            folders.failure.map {
                Problem(
                    .helperFoldersNotWatched, "hotspotd cannot notice changes in the helper folders: \($0)",
                    hint: "\(OwnService.reload), after a change")
            })
        let known = Set(fileProblems)
        for problem in catalog.problems where !known.contains(problem) {
            services.log.warning("\(problem.subject): \(problem.problem.message)")
        }
        fileProblems = catalog.problems
        offerBrowser()
        services.host.setHelpers(catalog.entries)
        setProber(catalog.entries.map(\.spec))
        onLoad()
    }

    /// Returns when one of these files and folders, or a file in them, last changed, in milliseconds of Unix time.
    private static func lastChange(of paths: [String]) -> Int {
        let all = paths + paths.flatMap { folder in SettingsFile.names(in: folder).map { "\(folder)/\($0)" } }
        return all.map { path in
            var status = stat()
            // Uses the change time, because packages set the modification time back.
            return stat(path, &status) == 0 ? status.st_ctim.tv_sec * 1000 + status.st_ctim.tv_nsec / 1_000_000 : 0
        }.max() ?? 0
    }

    /// Offers the browser of the settings to helpers whose pages need their scripts.
    private func offerBrowser() {
        let choice: BrowserHost.Choice =
            switch services.settings.browser {
            case .auto: BrowserHost.find()
            case .none: .none
            case .path(let path): .browser(path)
            }
        services.host.browsers.offer(choice, by: (ProberProgram.find() ?? []) + ["--render"])
    }

    private func setProber(_ helpers: [HelperSpec]) {
        let configured = services.settings.probeExec
        let exec = configured.isEmpty ? ProberProgram.find() : configured
        services.host.setProber(exec: exec.map { ProberProgram.spelled($0, as: helpers) })
        let missing = Problem(
            .proberMissing, "hotspot-helpers was not found beside hotspotd or in libexec.", hint: "set [Probe] Exec=")
        problems.set(.proberMissing, exec == nil ? missing : nil)
    }
}

/// The programs that are installed with the daemon.
enum OwnProgram {
    /// Returns the path of a program in the folder of the daemon's own program; if there is none, the path in libexec.
    static func path(_ name: String) -> String? {
        let folder = FilePath.parent(of: FilePath.canonical("/proc/self/exe"))
        let places = ["\(folder)/\(name)", "\(folder)/../libexec/hotspotd/\(name)", "/usr/libexec/hotspotd/\(name)"]
        return places.first { access($0, X_OK) == 0 }.map { FilePath.canonical($0) }
    }
}

/// The command line of the prober.
enum ProberProgram {
    /// Returns hotspot-helpers in the folder of the daemon's own program; if there is none, the one in libexec.
    static func find() -> [String]? { OwnProgram.path("hotspot-helpers").map { [$0] } }

    /// Returns the prober's command line as a helper's file writes it, if program and arguments are the same: one process then serves both, and they
    /// share each attempt's probe.
    static func spelled(_ exec: [String], as helpers: [HelperSpec]) -> [String] {
        for helper in helpers {
            guard case .socket(let words) = helper.activation, words.dropFirst() == exec.dropFirst() else { continue }
            // Compare the paths with links and dots resolved, because entries with the same program share one process.
            if FilePath.canonical(words[0]) == FilePath.canonical(exec[0]) { return words }
        }
        return exec
    }
}
