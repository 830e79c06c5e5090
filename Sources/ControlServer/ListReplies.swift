import ControlAPI
import EventLoop
import ForeignText
import HotspotCore
import Varlink

/// Makes the replies that contain lists, shortened to fit into one message.
@LoopActor enum ListReplies {
    static func status(_ backend: any ControlBackend, withNames: Bool) -> [UInt8] {
        let off = backend.switchedOff().filter { withNames || $0.ssid == nil }.prefix(64)
        var members: [String: JSONValue] = [
            "version": .string(backend.version), "settings": .string(Printable.text(backend.settingsFile)),
            "problems": Coding.value(backend.daemonProblems().shown),
            "off": Coding.value(Array(off)),
        ]
        if !withNames { members["withheld"] = true }
        let interfaces = backend.interfaceStatus().lazy.map { withNames ? $0.shown : $0.shown.withoutNames }
        return ReplyBudget.reply("interfaces", interfaces) { ReplyBudget.omitted($0).merging(members) { $1 } }
    }

    static func networks(_ backend: any ControlBackend, _ parameters: ListParameters) throws(ControlError) -> [UInt8] {
        let networks = try backend.networks(interface: parameters.interface, all: parameters.all ?? false)
        return ReplyBudget.reply("networks", networks.lazy.map(\.shown), inOrder: { $0.comesBefore($1) }, written: { $0.json })
    }

    /// - Parameter isPermitted: whether the caller may answer prompts.
    /// - Parameter hidesStored: whether to remove stored answers, which are otherwise shown as defaults.
    static func prompts(
        _ backend: any ControlBackend, _ id: String?, isPermitted: Bool, hidesStored: Bool
    ) -> [UInt8] {
        var prompts = backend.pendingPrompts()
        if let id { prompts.removeAll { $0.id != id } }
        if hidesStored { prompts = prompts.map(\.withoutStoredAnswers) }
        if !isPermitted { prompts = prompts.map { $0.withheldFromUnpermitted(names: backend.showsNamesToAll) } }
        let gone = prompts.isEmpty ? id.flatMap(backend.ending) : nil
        return ReplyBudget.reply("prompts", prompts) { omitted in
            ReplyBudget.omitted(omitted).merging(gone.map { ["gone": .string($0)] } ?? [:]) { $1 }
        }
    }
}
