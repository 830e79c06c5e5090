import Companion
import CompanionBluetooth
import EventLoop
import ForeignText
import Glibc
import HotspotCore

/// Drives companions over Bluetooth adapters, one for each name in the arguments. Each line of standard input is a command: an adapter, a verb
/// and its arguments. Prints each event and action as a line: milliseconds since boot, adapter, name, details. The name `lines` has no adapter:
/// input lines report the events of its radio, and its output carries its chunks. With `--l2cap`, the adapters may use L2CAP channels.
/// For tests alone: it prints codes.
@main @LoopActor struct CompanionPair {
    private static var laptops: [String: PairedLaptop] = [:]
    private static var input: EventSource?
    private static var rest: [UInt8] = []

    nonisolated static func main() {
        let names = Array(CommandLine.arguments.dropFirst())
        Task { @LoopActor in
            do { try start(names) } catch {
                print("companion-pair: \(error)")
                exit(1)
            }
        }
        do { exit(try EventLoop.shared.run()) } catch {
            print("companion-pair: \(error)")
            exit(1)
        }
    }

    private static func start(_ names: [String]) throws {
        let usesL2CAP = names.contains("--l2cap")
        for name in names where name != "--l2cap" { laptops[name] = try PairedLaptop(name, usesL2CAP: usesL2CAP) }
        input = try EventLoop.shared.watch(0) { _ in read() }
    }

    private static func read() {
        var octets = [UInt8](repeating: 0, count: 4096)
        let count = Glibc.read(0, &octets, octets.count)
        guard count > 0 else { return quit() }
        rest += octets.prefix(count)
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ").map(String.init)
            rest.removeFirst(end + 1)
            if words == ["quit"] { return quit() }
            guard words.count >= 2, let laptop = laptops[words[0]], laptop.obey(words[1], Array(words.dropFirst(2))) else {
                print("0 - unknown \(words.joined(separator: " "))")
                continue
            }
        }
    }

    private static func quit() {
        for laptop in laptops.values { laptop.stop() }
        // Leaves BlueZ time to send the last packets.
        EventLoop.shared.later(.milliseconds(300)) { EventLoop.shared.stop() }
    }
}
