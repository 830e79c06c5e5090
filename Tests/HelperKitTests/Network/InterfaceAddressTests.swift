import Glibc
import Testing

@testable import BoundHTTP
@testable import HelperKit

@Suite struct InterfaceAddressTests {
    @Test func parsesTheKernelsLines() {
        let text = """
            00000000000000000000000000000001 01 80 10 80       lo
            20010db8000900000000000000000002 02 40 00 80     eth0
            not a line
            20010db8000900000000000000000002 02 zz 00 80     eth0
            2001 02 40 00 80     eth0

            """
        #expect(
            InterfaceAddress.parse(text) == [
                InterfaceAddress(name: "lo", prefix: AddressPrefix("::1/128")!),
                InterfaceAddress(name: "eth0", prefix: AddressPrefix("2001:db8:9::2/64")!),
            ])
    }

    /// The addresses are those of getifaddrs(3).
    @Test func readsThisMachinesAddresses() {
        var first: UnsafeMutablePointer<ifaddrs>?
        guard getifaddrs(&first) == 0 else { return }
        defer { freeifaddrs(first) }
        var wanted: Set<String> = []
        var next = first
        while let entry = next?.pointee {
            next = entry.ifa_next
            if let address = entry.ifa_addr, let found = InternetAddress(address, length: 128) {
                wanted.insert("\(String(cString: entry.ifa_name)) \(found)")
            }
        }
        let found = InterfaceAddress.all()
        #expect(Set(found.map { "\($0.name) \($0.prefix.address)" }) == wanted)
        #expect(found.first { $0.prefix.address.description == "127.0.0.1" }.map(\.prefix.length) ?? 8 == 8)
    }
}
