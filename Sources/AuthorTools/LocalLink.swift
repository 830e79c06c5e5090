import ForeignText
import Glibc
import HelperKit
import HotspotCore
import PortalCatalogue

/// This machine's link as the system describes it, for a helper's code that runs without the daemon.
enum LocalLink {
    /// The interface of the IPv4 default route (proc(5), /proc/net/route).
    private static var defaultInterface: String? {
        for line in lines(of: "/proc/net/route") {
            let words = line.split(separator: "\t")
            if words.count > 7, words[1] == "00000000", words[7] == "00000000" { return String(words[0]) }
        }
        return nil
    }

    /// Returns the link of an interface, or of the default route. Without such a link, prints a sentence and returns `nil`.
    static func link(_ interface: String?, probe: WebURL) -> Link? {
        guard let interface = interface ?? defaultInterface else {
            print("This machine has no default route; name the interface with --interface=NAME.")
            return nil
        }
        let index = if_nametoindex(interface)
        guard index > 0 else {
            print("This machine has no interface \(Printable.text(interface, limit: 40)).")
            return nil
        }
        // systemd-resolved lists the link's own nameservers in its file. Its stub on loopback does not help, because requests
        // over a link cannot reach it.
        let files = ["/run/systemd/resolve/resolv.conf", "/etc/resolv.conf"]
        let lists = files.map { file in lines(of: file).filter { $0.hasPrefix("nameserver ") }.map { String($0.dropFirst(11)) } }
        return Link(
            attempt: "try", association: "try", interface: interface, index: Int(index),
            addresses: Link.addresses(of: interface), nameservers: lists.first { !$0.isEmpty } ?? [], probeURL: probe.text,
            probeExpect: "204")
    }

    private static func lines(of path: String) -> [String] {
        guard let octets = PortalCatalogue.octets(of: path) else { return [] }
        return String(decoding: octets, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
