import Foundation
import HotspotCore
import TestSupport
import Testing

@testable import Store

extension TemporaryFolder {
    /// The folder that the store creates.
    var state: String { path + "/state" }

    func open(retry: Duration = .zero, busy: Int32 = 50, pages: Int? = nil) throws -> Store {
        try Store(directory: state, retryInterval: retry, busyTimeout: busy, pageLimit: pages)
    }

    var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: state)) ?? []).sorted() }
}

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
