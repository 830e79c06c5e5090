import Glibc
import HotspotCore
import Testing

@testable import Store

/// A folder for one test, which is deleted with this object.
final class TemporaryFolder {
    let path: String

    init() {
        var template = Array("/tmp/hotspotd-store-XXXXXX".utf8CString)
        path = String(cString: mkdtemp(&template)!)
    }

    deinit { remove(path) }

    /// The folder that the store creates.
    var state: String { path + "/state" }

    func open(retry: Duration = .zero, busy: Int32 = 50, pages: Int? = nil) throws -> Store {
        try Store(directory: state, retryInterval: retry, busyTimeout: busy, pageLimit: pages)
    }

    var names: [String] { list(state) }

    private func list(_ path: String) -> [String] {
        guard let folder = opendir(path) else { return [] }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    private func remove(_ path: String) {
        for name in list(path) where unlink(path + "/" + name) != 0 { remove(path + "/" + name) }
        rmdir(path)
    }
}

/// Copies a file.
func duplicate(_ from: String, _ to: String) {
    let source = Glibc.open(from, O_RDONLY)
    let target = Glibc.open(to, O_WRONLY | O_CREAT, 0o600)
    defer {
        close(source)
        close(target)
    }
    var chunk = [UInt8](repeating: 0, count: 65536)
    while case let count = Glibc.read(source, &chunk, chunk.count), count > 0 {
        #expect(Glibc.write(target, chunk, count) == count)
    }
}

let cafe = NetworkID.wireless(SSID(octets: Array("Cafe".utf8))!, .open)
let twin = NetworkID.wireless(SSID(octets: Array("Cafe".utf8))!, .psk)
let hotel = NetworkID.wired(HardwareAddress("02:00:00:00:00:01")!)
let day = 24 * 60 * 60 * 1000
