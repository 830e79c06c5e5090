import Glibc
import HelperKit

/// The helpers of this project, in one process: the daemon starts it when a station begins to associate, and it ends when idle.
///
/// Started by hand, it answers one call on standard input: `hotspot-helpers [NAME]`.
@main struct Main {
    static let version = "0.1.0"

    static func main() {
        limitResources()
        // Neither keys of sessions nor another configuration of the library come from the environment.
        for name in ["SSLKEYLOGFILE", "OPENSSL_CONF", "OPENSSL_MODULES"] { unsetenv(name) }
        HelperService([FormHelper(), WISPrHelper(), PortalAPIHelper()], version: version)
            .run(name: CommandLine.arguments.dropFirst().first)
    }

    /// What a hostile page may cost at most: the daemon sets limits as well, these hold also without it.
    private static func limitResources() {
        func limit(_ resource: __rlimit_resource_t, _ value: rlim_t) {
            var limits = rlimit()
            getrlimit(resource, &limits)
            limits.rlim_cur = min(value, limits.rlim_max)
            limits.rlim_max = limits.rlim_cur
            setrlimit(resource, &limits)
        }
        // A core would hold what the user typed. One octet keeps it from programs that take cores as well, none does not (core(5)).
        limit(Int32(RLIMIT_CORE.rawValue), 1)
        limit(Int32(RLIMIT_NOFILE.rawValue), 256)
        limit(Int32(RLIMIT_FSIZE.rawValue), 1 << 20)
        // Address space, not memory: each thread reserves 64 MiB of it for its heap and uses a few.
        limit(Int32(RLIMIT_AS.rawValue), 4 << 30)
    }
}
