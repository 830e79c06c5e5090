import Foundation
import HotspotCore
import Testing

/// A helper that obeys the file `plan` in each command, and writes down the commands.
///
/// The plan is an object. Its keys are methods, or a method and an interface (`Authenticate hot2`), which is preferred; its values are
/// replies, with these members besides: `confidence` for Evaluate (high), `silent` (it never answers), `hold` (it answers when
/// ``CabledDaemon/letGo(_:)`` says so), and `reach` (it notes what it reaches through a socket that is bound to the link).
enum PlannedHelper {
    static let program =
        CabledDaemon.reach + #"""
            call = receive()
            method, parameters = call["method"].rsplit(".", 1)[1], call["parameters"]
            interface = parameters["network"]["interface"]
            with open(f"{NOTES}/told", "a") as file: file.write(json.dumps(call) + "\n")
            with open(f"{NOTES}/plan") as file: plan = json.load(file)
            step = plan.get(f"{method} {interface}", plan.get(method, {}))
            if step.pop("reach", False):
                with open(f"{NOTES}/part", "w") as file: file.write(" ".join(reach(interface)))
                os.rename(f"{NOTES}/part", f"{NOTES}/reached-{method}")
            if step.pop("silent", False): time.sleep(1000)
            while step.get("hold"):
                try: os.unlink(f"{NOTES}/go-{method}")
                except FileNotFoundError: time.sleep(0.01)
                else: break
            step.pop("hold", None)
            if method == "Evaluate": answer(confidence=step.get("confidence", "high"))
            else: answer(reply={"result": "success", **step})
            """#
}

extension CabledDaemon {
    /// With one helper, the clerk, that follows a plan.
    convenience init(settings: String = "", plan: JSONValue) throws {
        try self.init(settings: settings, helper: PlannedHelper.program)
        try self.plan(plan)
    }

    /// Changes the plan from the next command on.
    func plan(_ plan: JSONValue) throws {
        try leave("plan", String(decoding: try JSONEncoder().encode(plan), as: UTF8.self))
    }

    /// Makes the helper answer a command that is held.
    func letGo(_ method: String) throws { try leave("go-\(method)", "") }

    /// The clerk's commands, in their order.
    func calls() throws -> [JSONValue] {
        try told("told").split(separator: "\n").map { try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8)) }
    }

    /// The methods of ``calls()``.
    func methods() throws -> [String] {
        try calls().compactMap { $0["method"]?.string?.split(separator: ".").last.map(String.init) }
    }

    /// The attempts' outcomes, the first one first.
    func outcomes() throws -> [String] {
        (try call("History")["attempts"]?.array ?? []).reversed().compactMap { $0["outcome"]?.string }
    }

    /// The prompts that wait.
    func prompts() throws -> [JSONValue] { try call("Prompts")["prompts"]?.array ?? [] }

    /// Waits for the only prompt, which must not be in `answered`, and answers it. Returns its ID.
    @discardableResult func answerPrompt(besides answered: [String] = []) throws -> String {
        var id = ""
        try eventually("there is a prompt") {
            id = try prompts().first?["id"]?.string ?? ""
            return !id.isEmpty && !answered.contains(id)
        }
        try call("Answer", ["id": .string(id), "answers": [:], "remember": false])
        return id
    }
}
