import Glibc
import HotspotCore
import Testing

@testable import BoundHTTP
@testable import HelperKit

@Suite struct ResolverTests {
    private func resolve(_ servers: [ScriptedNameserver], ipv6: Bool = false, interface: String = "lo") throws(TransferError)
        -> [String]
    {
        var link = loopback(nameservers: servers.map { "127.0.0.1:\($0.port)" })
        link.interface = interface
        if ipv6 { link.addresses.append("2001:db8::1/64") }
        return try Resolver(link: link).addresses(of: "portal.test", in: Scope(deadline: .after(milliseconds: 20_000))).map(
            \.description)
    }

    private func failure(_ server: ScriptedNameserver, interface: String = "lo") -> TransferErrorCode? {
        do throws(TransferError) {
            _ = try resolve([server], interface: interface)
            return nil
        } catch {
            return error.code
        }
    }

    @Test func asksTheLinksServer() throws {
        let server = ScriptedNameserver(a: .address([192, 0, 2, 7]))
        #expect(try resolve([server]) == ["192.0.2.7"])
        // AAAA is not asked for if the link has no IPv6.
        #expect(server.questions == 1)
    }

    @Test func putsIPv4First() throws {
        let six: [UInt8] = [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [9]
        let server = ScriptedNameserver(a: .address([192, 0, 2, 7]), aaaa: .address(six))
        #expect(try resolve([server], ipv6: true) == ["192.0.2.7", "2001:db8::9"])
        #expect(try resolve([ScriptedNameserver(a: .code(0), aaaa: .address(six))], ipv6: true) == ["2001:db8::9"])
    }

    /// DNS64 answers later than the server of the A record, and only its addresses can be reached.
    @Test func asksForIPv6AloneIfTheLinkHasNothingElse() throws {
        let six: [UInt8] = [0x20, 1, 0xD, 0xB8] + [UInt8](repeating: 0, count: 11) + [9]
        let server = ScriptedNameserver(a: .address([192, 0, 2, 7]), aaaa: .address(six))
        var link = loopback(nameservers: ["127.0.0.1:\(server.port)"])
        link.addresses = ["fe80::2/64", "2001:db8::2/64", "169.254.7.7/16"]
        #expect(try Resolver(link: link).addresses(of: "portal.test", in: Scope()).map(\.description) == ["2001:db8::9"])
        #expect(server.questions == 1)
    }

    @Test func doesNotWaitForUnansweredAAAA() throws {
        let began = Instant.now
        #expect(try resolve([ScriptedNameserver(a: .address([192, 0, 2, 7]), aaaa: .silence)], ipv6: true) == ["192.0.2.7"])
        // An unanswered question is repeated after 800 ms and given up after 5 s.
        #expect(began.millisecondsAgo < 4000)
    }

    @Test func oneWorkingServerIsEnough() throws {
        let good = ScriptedNameserver(a: .address([192, 0, 2, 7]))
        #expect(try resolve([ScriptedNameserver(a: .code(2)), good]) == ["192.0.2.7"])
        #expect(try resolve([ScriptedNameserver(a: .silence), good]) == ["192.0.2.7"])
    }

    @Test func reportsFailures() {
        #expect(failure(ScriptedNameserver(a: .code(3))) == .dnsFailed)
        #expect(failure(ScriptedNameserver(a: .garbage)) == .dnsFailed)
        #expect(failure(ScriptedNameserver(a: .code(0))) == .dnsFailed)
        let server = ScriptedNameserver(a: .address([192, 0, 2, 7]))
        #expect(failure(server, interface: "no-such-link0") == .bindFailed)
        #expect(server.questions == 0)
    }

    @Test(arguments: ["", "portal", "127.0.0.1,evil", "127.0.0.1:x", "127.0.0.1:99999", "::g"])
    func refusesInvalidServers(_ text: String) {
        #expect(throws: TransferError(.noNameserver)) {
            try Resolver(link: loopback(nameservers: [text])).addresses(of: "portal.test", in: Scope())
        }
    }

    /// An answer is kept for the association; another association asks again.
    @Test func keepsAnswersForTheAssociation() throws {
        let server = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let link = loopback(nameservers: ["127.0.0.1:\(server.port)"])
        let pins = NamePins()
        for _ in 0..<3 { _ = try pins.addresses(of: "portal.test", link: link, in: Scope()) }
        #expect(server.questions == 1)
        pins.forget("portal.test", link: link)
        _ = try pins.addresses(of: "portal.test", link: link, in: Scope())
        #expect(server.questions == 2)
        var other = link
        other.association += "x"
        _ = try pins.addresses(of: "portal.test", link: other, in: Scope())
        #expect(server.questions == 3)
    }

    @Test func requestsShareAQuestionThatRuns() throws {
        let server = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let link = loopback(nameservers: ["127.0.0.1:\(server.port)"])
        let pins = NamePins()
        let answers = Locked([Int]())
        for _ in 0..<8 {
            Worker.start {
                let found = try? pins.addresses(of: "portal.test", link: link, in: Scope(deadline: .after(milliseconds: 20_000)))
                answers.with { $0.append(found?.count ?? 0) }
            }
        }
        #expect(answers.wait(until: .after(milliseconds: 20_000)) { $0.count == 8 ? $0 : nil } == [Int](repeating: 1, count: 8))
        #expect(server.questions == 1)
    }

    /// The first request is cancelled while its question runs; the second request still gets the answer, and a failure is not kept.
    @Test func aCancelledRequestDoesNotEndTheOthersQuestion() throws {
        let silent = ScriptedNameserver(a: .silence)
        let link = loopback(nameservers: ["127.0.0.1:\(silent.port)"])
        let pins = NamePins()
        let cancellation = Cancellation()
        let ends = Locked(Set<TransferErrorCode>())
        for scope in [Scope(cancellation: cancellation), Scope(deadline: .after(milliseconds: 500))] {
            Worker.start {
                do throws(TransferError) { _ = try pins.addresses(of: "portal.test", link: link, in: scope) } catch {
                    ends.with { _ = $0.insert(error.code) }
                }
            }
        }
        cancellation.cancel()
        #expect(ends.wait(until: .after(milliseconds: 20_000)) { $0.count == 2 ? $0 : nil } == [.cancelled, .dnsTimeout])
        let good = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        var mended = link
        mended.nameservers = ["127.0.0.1:\(good.port)"]
        #expect(try pins.addresses(of: "portal.test", link: mended, in: Scope()).count == 1)
    }

    @Test func connectsByName() throws {
        let server = ScriptedServer(["/": http(200, "here")])
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let client = HTTPClient(link: loopback(nameservers: ["127.0.0.1:\(names.port)"]), policy: .testing())
        let response = try client.send(HTTPRequest(WebURL("http://portal.test:\(server.port)/")!), in: Scope())
        #expect(response.body == octets("here"))
        #expect(server.requests[0].header("host") == "portal.test:\(server.port)")
    }

    /// The server answers one request on each connection, and keeps it open: a second request on the connection would get no answer.
    @Test func namesOfOneAddressHaveConnectionsOfTheirOwn() throws {
        let server = ScriptedServer { _ in .hold(octets(http(200, "here"))) }
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let client = HTTPClient(link: loopback(nameservers: ["127.0.0.1:\(names.port)"]), policy: .testing())
        for name in ["portal.test", "other.test"] {
            let request = HTTPRequest(WebURL("http://\(name):\(server.port)/")!)
            #expect(try client.send(request, in: Scope(deadline: .after(milliseconds: 20_000))).body == octets("here"))
        }
        #expect(server.requests.map { $0.header("host") } == ["portal.test", "other.test"].map { "\($0):\(server.port)" })
    }

    @Test func answersOfLoopbackAreRefused() throws {
        let server = ScriptedServer(["/": http(200, "here")])
        let names = ScriptedNameserver(a: .address([127, 0, 0, 1]))
        let client = HTTPClient(link: loopback(nameservers: ["127.0.0.1:\(names.port)"]), policy: .field)
        #expect {
            try client.send(HTTPRequest(WebURL("http://portal.test:\(server.port)/")!), in: Scope())
        } throws: {
            ($0 as? TransferError)?.code == .refusedAddress
        }
        #expect(server.requests.isEmpty)
    }
}
