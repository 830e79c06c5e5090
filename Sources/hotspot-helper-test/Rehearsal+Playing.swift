import HelperHost
import HotspotCore
import Varlink

/// Playing one command, and telling what came of it.
extension Rehearsal {
    func play(
        _ title: String, _ command: Command, _ parameters: [String: JSONValue]
    ) async throws(Pointless) -> HelperOutcome? {
        try await play(title, shape: Telling.shape(command), parameters) { host, name, completion in
            host.send(command, to: name, parameters: .object(parameters), completion: completion)
        }
    }

    func play(
        _ title: String, shape: String, _ parameters: [String: JSONValue], _ send: @escaping Stage.Sending
    ) async throws(Pointless) -> HelperOutcome? {
        let scene = await stage.play(send) { [self] in
            transcript.wait("\(title): no answer yet; after \(stage.patience.milliseconds / 1000) s it is cut off …")
        }
        let errors = Diagnosis.errors(Self.standardError(scene))
        let words = "\(Telling.words(scene.outcome)) (\(scene.milliseconds) ms)"
        switch scene.outcome {
        case nil: try tellSilence(title, words, scene, errors)
        case .failed(let fault)?: try tell(fault, title, words, scene, shape, errors)
        case .evaluation, .reply, .annotations, .value, .notRecognized:
            misses = 0
            transcript.line("\(title): \(words)", errors)
        }
        transcript.say(remarks(scene, errors, knowsSecrets: parameters["answers"] != nil || parameters["credential"] != nil))
        return scene.outcome
    }

    /// What it wrote to standard error; of a helper that nobody records the host knows what it wrote before it failed.
    private static func standardError(_ scene: Stage.Scene) -> String {
        if let record = scene.record { return String(decoding: record.errors, as: UTF8.self) }
        guard case .failed(let fault)? = scene.outcome else { return "" }
        return fault.standardError ?? ""
    }

    private func tellSilence(
        _ title: String, _ words: String, _ scene: Stage.Scene, _ errors: [String]
    ) throws(Pointless) {
        let hint = scene.record?.output.isEmpty == true ? " " + Diagnosis.endlessReading : ""
        transcript.fail(
            title, words,
            "No answer within \(stage.patience.milliseconds / 1000) s: the daemon would have cut it off.\(hint)", errors)
        misses += 1
        guard misses > 1 else { return }
        throw Pointless(
            words: "Two commands in a row had no answer, so nothing else was played; the daemon asks no more then, either.")
    }

    private func tell(
        _ fault: HelperFault, _ title: String, _ words: String, _ scene: Stage.Scene, _ shape: String, _ errors: [String]
    ) throws(Pointless) {
        misses = 0
        let program = Candidate.program(of: spec) ?? ""
        let better = scene.record.flatMap { Diagnosis.fault($0, program: program, shape: shape) }
        // 126 and 127 are what env(1) and shells end with where there is nothing to run.
        let ending = scene.record?.status.map { $0 >> 8 & 0xFF } ?? 0
        let isMissing = scene.record?.output.isEmpty == true && (ending == 126 || ending == 127)
        let ends = isMissing ? Diagnosis.windowsLineEnds(program) : nil
        transcript.fail(title, words, ends ?? better ?? fault.sentence + ".", errors)
        if fault.code == .helperNotStarted || scene.record?.startError != nil || isMissing { throw Pointless() }
    }

    /// What else there is to say of a command, however it ended.
    private func remarks(_ scene: Stage.Scene, _ errors: [String], knowsSecrets: Bool) -> [Remark] {
        var remarks = scene.record.map(Diagnosis.afterwards) ?? []
        if knowsSecrets, let record = scene.record, Diagnosis.leaks(record, RehearsalUser.secrets) {
            remarks.append(
                .wrong(
                    "Its standard error shows what the user typed, or what was released to it. Never write answers or credentials there."
                ))
        }
        if let record = scene.record { remarks += Diagnosis.losses(record) }
        if Diagnosis.isReadOnly(errors) { remarks.append(Diagnosis.readOnly) }
        if case .failed? = scene.outcome { return remarks }
        if scene.outcome != nil, scene.milliseconds > slow {
            remarks.append(
                .note("It took \(scene.milliseconds / 1000) s. Other helpers may win meanwhile, and after 45 s it is cut off."))
        }
        return remarks
    }

    func conclude() {
        transcript.flush()
        let words = stage.host.containment(of: spec.name)
        if !words.isEmpty { print("It ran with: \(words.joined(separator: ", "))") }
        let missing = stage.host.missingContainment(of: spec.name)
        if !missing.isEmpty, !words.isEmpty { print("Not to be had here: \(missing.joined(separator: ", "))") }
        if let ignored = stage.host.ignoredAnswers[spec.name] {
            transcript.say([.wrong("It gave \(ignored) answers more than it was asked for; only the first counts.")])
        }
        switch transcript.mistakes {
        case 0: print(opened ? "Nothing is wrong." : "Nothing is wrong, and no login was seen: that is not enough.")
        case 1: print("One thing is wrong.")
        case let count: print("\(count) things are wrong.")
        }
    }
}
