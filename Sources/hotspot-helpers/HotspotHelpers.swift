import AuthorTools
import Browse
import Glibc
import HelperKit
import HotspotCore
import Rendering

/// The helpers of this project and the prober in one process. The daemon starts it while a radio is in no network; it ends when idle.
///
/// Started by hand, the program answers one call on standard input: `hotspot-helpers [NAME]`. It also contains the other parts that need the
/// libraries for pages and portals, so that these libraries are linked only once. Two of these parts run as the user, without a sandbox:
/// `--browse` for `hotspotctl browse`, and `--author` for `hotspotctl helpers test` and `portals`. `--render` starts a browser in its
/// sandbox.
@main struct HotspotHelpers {
    static func main() {
        let words = Array(CommandLine.arguments.dropFirst())
        switch words.first {
        case BrowseProgram.option: BrowseProgram.run(Array(words.dropFirst()))
        case RenderProgram.option: RenderProgram.run(Array(words.dropFirst()))
        case AuthorProgram.option: AuthorProgram.run(Array(words.dropFirst()))
        default: serve(words.first)
        }
    }

    private static func serve(_ name: String?) {
        limitResources()
        // Environment variables must not make the TLS library write session keys or load another configuration.
        for name in ["SSLKEYLOGFILE", "OPENSSL_CONF", "OPENSSL_MODULES"] { unsetenv(name) }
        HelperService(
            [FormHelper(), CatalogueHelper(), WISPrHelper(), PortalAPIHelper(), BrowserHelper()], version: hotspotdVersion
        )
        .run(name: name)
    }

    /// Limits the cost of a hostile page. The daemon also sets limits; the limits here apply even without the daemon.
    private static func limitResources() {
        func limit(_ resource: __rlimit_resource_t, _ value: rlim_t) {
            var limits = rlimit()
            getrlimit(resource, &limits)
            limits.rlim_cur = min(value, limits.rlim_max)
            limits.rlim_max = limits.rlim_cur
            setrlimit(resource, &limits)
        }
        // A core file would contain the user's answers. Unlike 0, a limit of 1 also stops programs that receive cores through a pipe (core(5)).
        limit(Int32(RLIMIT_CORE.rawValue), 1)
        limit(Int32(RLIMIT_NOFILE.rawValue), 512)
        limit(Int32(RLIMIT_FSIZE.rawValue), 1 << 20)
        // This limits addresses, not memory: each thread reserves 64 MiB of addresses for its heap and uses little of them.
        limit(Int32(RLIMIT_AS.rawValue), 4 << 30)
    }
}
