import ForeignText
import HotspotCore

/// The folders of all helpers' `ReadWritePaths=`, and who keeps whom from which.
///
/// What the daemon looks up by its path, and what one helper trusts, must not lie where a helper can write: it would put a link in its
/// place. So a folder in which the file of a helper, its program or socket, another's script or another's folder lies is nobody's to
/// write to.
struct WritableFolders {
    private struct Owner {
        let exec: [String]
        let folders: [String]
        let script: [String]
    }

    private let owners: [Owner]
    /// On the way to helpers' files and programs.
    private let ways: [String]
    /// As the files of helpers name them, without slashes that say nothing.
    let all: [String]

    /// No helper may write anywhere.
    init() { (owners, ways, all) = ([], [], []) }

    init(_ entries: [HelperEntry]) {
        func folders(_ spec: HelperSpec) -> [String] {
            spec.activation.exec == nil ? [] : spec.readWritePaths.map(FolderPath.plain)
        }
        let all = Array(Set(entries.flatMap { folders($0.spec) }))
        self.all = all
        guard !all.isEmpty else {
            (owners, ways) = ([], [])
            return
        }
        func places(_ path: String) -> [String] { FileTrust.places(on: path, until: all) }
        owners = Dictionary(grouping: entries) { $0.spec.activation.exec ?? [] }.map { exec, entries in
            let own = entries.flatMap { folders($0.spec) }
            // What it is given in a folder of its own it does not take for a program.
            let scripts = exec.dropFirst().filter { path in
                path.hasPrefix("/") && !own.contains { FolderPath.isWithin(FolderPath.plain(path), $0) }
            }
            return Owner(exec: exec, folders: own, script: scripts.flatMap(places))
        }
        ways = entries.flatMap { entry in
            switch entry.spec.activation {
            case .stdio(let exec), .socket(let exec): places(entry.file) + places(exec[0])
            case .external(let socket): places(entry.file) + places(socket)
            }
        }
    }

    /// Where others than the program with this command line may write.
    func folders(besideThoseOf exec: [String]) -> [String] { owners.filter { $0.exec != exec }.flatMap(\.folders) }

    /// Why a program with this command line may not write there, whatever the kernel would say; `nil` if it may.
    func refusal(of folder: String, exec: [String], hidden: [String]) -> Problem? {
        let plain = FolderPath.plain(folder)
        func lies(_ place: String, in folder: String) -> Bool { place != folder && FolderPath.isWithin(place, folder) }
        // Before anything is looked up there.
        if let place = ways.last(where: { lies($0, in: plain) }) {
            return WritablePath.refuse(
                folder, "\(Printable.text(place, limit: 200)), a helper's file, program or socket, lies in it")
        }
        for owner in owners where owner.exec != exec {
            if let place = owner.script.last(where: { lies($0, in: plain) }) {
                return WritablePath.refuse(
                    folder, "\(Printable.text(place, limit: 200)), which another helper is given, lies in it")
            }
            if let other = owner.folders.first(where: { lies($0, in: plain) || lies(plain, in: $0) }) {
                return WritablePath.refuse(
                    folder, "it and \(Printable.text(other, limit: 200)), where another helper may write, lie in one another")
            }
        }
        return WritablePath.refusal(of: folder, hidden: hidden)
    }
}
