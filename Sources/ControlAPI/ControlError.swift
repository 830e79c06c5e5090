import HotspotCore

/// The errors of org.hotspotd.Control.
public enum ControlError: Error, Hashable, Sendable {
    case noSuchInterface(String)
    case noSuchHelper(String)
    /// `nearest`: the name of the known network that is most similar to the unknown name.
    case noSuchNetwork(String, nearest: String? = nil)
    /// `reason`: how the prompt ended, if it was waiting a moment ago.
    case noSuchPrompt(String, reason: String? = nil)
    /// `asks`: whether a prompt is waiting on this interface.
    case wrongState(interface: String, state: String, asks: Bool = false)
    case invalidAnswer(field: String, message: String)
    case notPermitted(String)
    /// `Browse` needs the user's consent, because there is a warning about the portal; `warning` is the text to show.
    case suspiciousPortal(warning: String)
    /// `left`: the number of wrong PINs until the credentials are erased; 0 means that they have been erased.
    case wrongPIN(left: Int)
    case failed(code: ProblemCode, message: String)

    /// The error's name in the interface, and its parameters.
    public var reply: (name: String, parameters: JSONValue) {
        switch self {
        case .noSuchInterface(let interface): ("NoSuchInterface", ["interface": .string(interface)])
        case .noSuchHelper(let helper): ("NoSuchHelper", ["helper": .string(helper)])
        case .noSuchNetwork(let ssid, let nearest): ("NoSuchNetwork", Self.texts(["ssid": ssid, "nearest": nearest]))
        case .noSuchPrompt(let id, let reason): ("NoSuchPrompt", Self.texts(["id": id, "reason": reason]))
        case .wrongState(let interface, let state, let asks):
            (
                "WrongState",
                .object(["interface": .string(interface), "state": .string(state)].merging(asks ? ["asks": true] : [:]) { $1 })
            )
        case .invalidAnswer(let field, let message):
            ("InvalidAnswer", ["field": .string(field), "message": .string(message)])
        case .notPermitted(let message): ("NotPermitted", ["message": .string(message)])
        case .suspiciousPortal(let warning): ("SuspiciousPortal", ["warning": .string(warning)])
        case .wrongPIN(let left): ("WrongPIN", ["left": .integer(left)])
        case .failed(let code, let message): ("Failed", ["code": .string(code.rawValue), "message": .string(message)])
        }
    }

    private static func texts(_ members: [String: String?]) -> JSONValue {
        .object(members.compactMapValues { $0.map(JSONValue.string) })
    }

    /// Reads the error of a reply; `nil` for the errors of other interfaces. The name of an error begins with its interface.
    public init?(name: String, parameters: JSONValue) {
        func text(_ key: String) -> String { parameters[key]?.string ?? "" }
        let prefix = ControlContract.name + "."
        guard name.hasPrefix(prefix) else { return nil }
        switch name.dropFirst(prefix.count) {
        case "NoSuchInterface": self = .noSuchInterface(text("interface"))
        case "NoSuchHelper": self = .noSuchHelper(text("helper"))
        case "NoSuchNetwork": self = .noSuchNetwork(text("ssid"), nearest: parameters["nearest"]?.string)
        case "NoSuchPrompt": self = .noSuchPrompt(text("id"), reason: parameters["reason"]?.string)
        case "WrongState":
            self = .wrongState(interface: text("interface"), state: text("state"), asks: parameters["asks"] == true)
        case "InvalidAnswer": self = .invalidAnswer(field: text("field"), message: text("message"))
        case "NotPermitted": self = .notPermitted(text("message"))
        case "SuspiciousPortal": self = .suspiciousPortal(warning: text("warning"))
        case "WrongPIN": self = .wrongPIN(left: parameters["left"]?.integer ?? 0)
        case "Failed": self = .failed(code: ProblemCode(rawValue: text("code")) ?? .unrecognized, message: text("message"))
        default: return nil
        }
    }
}
