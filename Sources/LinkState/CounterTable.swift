// This target reads each link's addresses, routes, nameservers and portal API, finds the program that manages the link, and reads the rules and
// counters of this computer that explain a lost probe. ``LinkMonitor`` reports the links.

/// One table of `/proc/net/snmp` or `/proc/net/netstat`: a line with names and a line with numbers (proc_net(5)).
struct CounterTable {
    private let names: [Substring]
    private let numbers: [Substring]

    /// Finds the table with this name, such as `Tcp`, in the text of the file.
    init?(_ name: String, in text: String) {
        let lines = text.split(separator: "\n").map { $0.split(separator: " ") }.filter { $0.first == name + ":" }
        guard lines.count == 2, lines[0].count == lines[1].count else { return nil }
        (names, numbers) = (lines[0], lines[1])
    }

    subscript(_ name: String) -> UInt64? { names.firstIndex { $0 == name }.flatMap { UInt64(numbers[$0]) } }
}
