import HotspotCore

/// A command line with the paths that it may see. One process serves all helpers with this command line.
struct Program: Hashable {
    var exec: [String]
    /// The names of the helpers, in the order of LISTEN_FDNAMES.
    var names: [String]
    var readPaths: [String] = []
    var readWritePaths: [String] = []
    var hasNetwork = true
    /// Whether the program may use a browser.
    var browses = false

    /// The same program for the scan list, without a network; the prober never gets the list.
    var withoutNetwork: Program {
        var program = self
        program.names.removeAll { $0 == HelperHost.proberName }
        (program.hasNetwork, program.browses) = (false, false)
        return program
    }

    /// Groups the helpers with `Activation=socket`, and the prober, by command line. Returns the program of each.
    static func shared(of helpers: [HelperSpec], prober: [String]?) -> [String: Program] {
        var programs: [[String]: Program] = [:]
        for spec in helpers {
            guard case .socket(let exec) = spec.activation else { continue }
            var program = programs[exec] ?? Program(exec: exec, names: [])
            program.names.append(spec.name)
            program.readPaths += spec.readPaths
            program.readWritePaths += spec.readWritePaths
            program.browses = program.browses || spec.browses
            programs[exec] = program
        }
        if let prober { programs[prober, default: Program(exec: prober, names: [])].names.append(HelperHost.proberName) }
        let named = programs.values.flatMap { program in program.names.map { ($0, program) } }
        return Dictionary(named, uniquingKeysWith: { first, _ in first })
    }
}
