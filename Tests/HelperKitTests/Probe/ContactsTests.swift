import Foundation
import HotspotCore
import Testing

@testable import HelperKit

/// People read which hosts the probe contacts.
@Suite struct ContactsTests {
    @Test(arguments: ["README.md", "Sources/hotspotctl/Verbs/Check.swift"]) func everyHostOfTheProbeIsNamed(_ page: String) throws
    {
        let text = try String(contentsOfFile: "\(Program.checkout)/\(page)", encoding: .utf8)
        let plan = ProbeRun.Plan(link: Link(attempt: "a", association: "b", interface: "c", index: 1))
        let addresses = plan.named.map(\.url) + [plan.address?.url, plan.https].compactMap { $0 }
        #expect(addresses.count == 5)
        for address in addresses {
            let host = try #require(WebURL(address)?.host)
            #expect(text.contains(host), "\(host) is not in \(page)")
        }
    }
}
