import EventLoop
import Glibc
import HelperHost
import Logging
import Varlink

/// How the host of the helpers is set up, and which callers of the control interface are helpers.
enum HostSetup {
    @LoopActor static func host(_ settings: Settings, file: String) throws -> HelperHost {
        let scratch = settings.runtimeDirectory + "/scratch"
        try OwnFolder.make(scratch, mode: 0o711)
        var configuration = HostConfiguration(
            runtimeDirectory: settings.runtimeDirectory,
            hiddenDirectories: [settings.stateDirectory, settings.runtimeDirectory], scratchDirectory: scratch,
            reachableSockets: [settings.helperControlSocket])
        configuration.dividesControlGroup = true
        configuration.protectedDirectories = protected(settings, file: file)
        return HelperHost(configuration: configuration)
    }

    /// What no helper may write to, beside the system: helper files, and the settings.
    static func protected(_ settings: Settings, file: String) -> [String] {
        settings.helperDirectories + [file, file + ".d"]
    }

    @LoopActor static func start(_ services: Services) {
        services.host.onRelief = { [weak services] names, what in
            services?.log.warning(
                "\(what): used up, perhaps by a helper; ended, as nobody waits for them: \(names.joined(separator: ", "))"
            )
        }
        // What a helper starts stays below the daemon, and is known by that.
        services.host.adoptOrphans()
    }

    /// Tells the control interface's servers which callers are helpers.
    @LoopActor static func callers(
        of host: HelperHost
    ) -> (helper: (PeerCredentials) -> pid_t?, descent: (pid_t) -> Lineage.Descent?) {
        // A process that lost its parent is the daemon's own child and no helper's first process: all such share the seats of one helper.
        let helper: (PeerCredentials) -> pid_t? = { peer in peer.child.flatMap { host.isHelper(process: $0) ? $0 : nil } }
        let descent: (pid_t) -> Lineage.Descent? = { host.descent(of: $0) }
        return (helper, descent)
    }
}
