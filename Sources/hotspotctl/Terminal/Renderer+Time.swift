import Glibc
import HotspotCore

extension Renderer {
    /// Returns a duration in its two largest units.
    func duration(seconds: Int) -> String {
        let seconds = max(0, seconds)
        switch seconds {
        case 0..<60: return "\(seconds) s"
        case 60..<3600: return "\(seconds / 60) min"
        case 3600..<86400:
            let minutes = seconds % 3600 / 60
            return minutes == 0 ? "\(seconds / 3600) h" : "\(seconds / 3600) h \(minutes) min"
        default: return seconds < 172800 ? "1 day" : "\(seconds / 86400) days"
        }
    }

    /// Returns the time since a moment, in words. The moment is in milliseconds of Unix time.
    func ago(_ moment: Int) -> String {
        let seconds = now.subtractingReportingOverflow(moment).partialValue / 1000
        switch seconds {
        case ..<5: return "just now"
        case ..<86400: return duration(seconds: seconds < 3600 ? seconds : seconds / 3600 * 3600) + " ago"
        case ..<172800: return "yesterday"
        default: return "\(seconds / 86400) days ago"
        }
    }

    /// Returns the local time of a moment.
    func clock(_ moment: Int, seconds: Bool = false) -> String {
        var time = time_t(moment / 1000)
        var parts = tm()
        guard localtime_r(&time, &parts) != nil else { return nothing }
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return two(parts.tm_hour) + ":" + two(parts.tm_min) + (seconds ? ":" + two(parts.tm_sec) : "")
    }

    /// Returns milliseconds as seconds with three decimals.
    func offset(_ milliseconds: Int) -> String {
        let milliseconds = max(0, milliseconds)
        let rest = String(milliseconds % 1000)
        return "\(milliseconds / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }

    /// Returns seconds with one decimal.
    func tenths(_ seconds: Double) -> String {
        let tenths = Int((max(0, seconds) * 10).rounded())
        return "\(tenths / 10).\(tenths % 10) s"
    }

    /// Returns the duration of a login, to be appended to a word such as "Online"; empty below a second.
    func after(_ seconds: Double) -> String { seconds < 1 ? "" : " after \(duration(seconds: Int(seconds)))" }

    func octets(_ count: Int) -> String {
        switch max(0, count) {
        case ..<1_000_000: "\(max(0, count) / 1000) kB"
        case ..<1_000_000_000: "\(count / 1_000_000) MB"
        default: "\(count / 1_000_000_000).\(count % 1_000_000_000 / 100_000_000) GB"
        }
    }
}
