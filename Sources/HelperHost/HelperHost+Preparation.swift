import EventLoop
import HotspotCore

/// Processes that are started before they are asked, so that their start-up hides behind association and DHCP.
///
/// Each interface has its own wishes; a process stays as long as one of them still wants it. A wish that is neither used nor withdrawn
/// (an association that never gets an address) ends by itself.
extension HelperHost {
    /// A station begins to associate: the processes that will be asked are started. Many of them are started over several turns of the
    /// loop. What the interface wanted before stays wanted.
    public func prepare(_ names: [String], for interface: Int = 0) {
        guard !isShut else { return }
        wanted[interface, default: []].formUnion(names + [Self.proberName])
        expiries[interface] = try? EventLoop.shared.schedule(after: configuration.preparation, accuracy: .seconds(1)) {
            [weak self] in
            self?.standDown(interface: interface)
        }
        // The prober first: everybody's answer is weighed against its verdict.
        if hasProber { services[Self.proberName]?.prepare() }
        for name in names {
            toPrepare.insert(name)
            pacer.run { [weak self] in
                // Who was asked meanwhile was started for that, and needs no second process; who is not wanted any more, none.
                if let self, toPrepare.remove(name) != nil { prepare(name) }
            }
        }
    }

    private func prepare(_ name: String) {
        guard let entry = byName[name] else { return }
        switch entry.spec.activation {
        case .stdio(let exec):
            guard prepared[name] == nil else { return }
            // If it fails, the first command says so.
            guard
                let process = try? start(
                    exec, .stdio(withoutNetwork: false), names: [name], writable: entry.spec.readWritePaths)
            else { return }
            prepared[name] = process
            process.onExit = { [weak self, weak process] in
                if self?.prepared[name] === process { self?.prepared[name] = nil }
            }
        case .socket: services[name]?.prepare()
        case .external: break
        }
    }

    /// What was prepared for this interface alone and not used is ended.
    public func standDown(interface: Int) {
        expiries.removeValue(forKey: interface)?.cancel()
        guard let names = wanted.removeValue(forKey: interface) else { return }
        endUnused(names)
    }

    private func endUnused(_ names: Set<String>) {
        let stillWanted = wanted.values.reduce(into: Set<String>()) { $0.formUnion($1) }
        for name in names.subtracting(stillWanted) {
            toPrepare.remove(name)
            prepared.removeValue(forKey: name)?.end(term: configuration.cancelTerm, kill: configuration.cancelKill)
            // Others may want the process that they share.
            if let service = services[name], stillWanted.isDisjoint(with: service.key.names) { service.standDown() }
        }
    }
}
