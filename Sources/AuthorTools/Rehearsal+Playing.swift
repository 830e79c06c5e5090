import HelperHost
import HotspotCore
import Varlink

/// Plays one command and reports its outcome.
extension Rehearsal {
    func play(
        _ title: String, _ command: Command, _ parameters: [String: JSONValue]
    ) async throws(CannotTest) -> HelperOutcome? {
        try await play(title, shape: OutcomeText.shape(command), parameters) { host, name, completion in
            host.send(command, to: name, parameters: .object(parameters), completion: completion)
        }
    }

    func play(
        _ title: String, shape: String, _ parameters: [String: JSONValue], _ send: @escaping TestHost.Send
    ) async throws(CannotTest) -> HelperOutcome? {
        let played = await host.play(send) { [self] in
            transcript.wait(
                "\(title): no answer yet; the daemon cancels the command after \(host.timeLimit.milliseconds / 1000) s …")
        }
        let errors = AnswerFault.errors(Self.standardError(played))
        let words = "\(OutcomeText.words(played.outcome)) (\(played.milliseconds) ms)"
        switch played.outcome {
        case nil: try reportSilence(title, words, played, errors)
        case .failed(let fault)?: try report(fault, title, words, played, shape, errors)
        case .evaluation, .reply, .annotations, .value, .notRecognized:
            unanswered = 0
            transcript.line("\(title): \(words)", errors)
        }
        transcript.say(remarks(played, errors, knowsSecrets: parameters["answers"] != nil || parameters["credential"] != nil))
        return played.outcome
    }

    /// Returns the helper's standard error. For a helper that is not recorded, only the host has it, and only after a failure.
    private static func standardError(_ played: TestHost.PlayedCommand) -> String {
        if let record = played.record { return String(decoding: record.errors, as: UTF8.self) }
        guard case .failed(let fault)? = played.outcome else { return "" }
        return fault.standardError ?? ""
    }

    private func reportSilence(
        _ title: String, _ words: String, _ played: TestHost.PlayedCommand, _ errors: [String]
    ) throws(CannotTest) {
        let hint = played.record?.output.isEmpty == true ? " " + AnswerFault.endlessReading : ""
        transcript.fail(
            title, words,
            "No answer within \(host.timeLimit.milliseconds / 1000) s: the daemon would have cancelled the command.\(hint)",
            errors)
        unanswered += 1
        if unanswered > 1 { throw CannotTest("The helper did not answer two commands in a row, so nothing else was played.") }
    }

    private func report(
        _ fault: HelperFault, _ title: String, _ words: String, _ played: TestHost.PlayedCommand, _ shape: String,
        _ errors: [String]
    ) throws(CannotTest) {
        unanswered = 0
        let program = spec.activation.exec?.first ?? ""
        let better = played.record.flatMap { AnswerFault.fault($0, program: program, shape: shape) }
        // env(1) and shells exit with status 126 or 127 if they cannot run the program.
        let ending = played.record?.status.map { $0 >> 8 & 0xFF } ?? 0
        let isMissing = played.record?.output.isEmpty == true && (ending == 126 || ending == 127)
        let ends = isMissing ? StartFailure.windowsLineEnds(of: program).map { $0 + "." } : nil
        transcript.fail(title, words, ends ?? better ?? QuotedProblem.line(fault.sentence) + ".", errors)
        if fault.code == .helperNotStarted || played.record?.startError != nil || isMissing {
            throw CannotTest("The helper cannot start, so nothing else was tested.")
        }
    }

    /// Returns the remarks that need more than the answer itself, such as the time that it took.
    private func remarks(_ played: TestHost.PlayedCommand, _ errors: [String], knowsSecrets: Bool) -> [Remark] {
        var remarks: [Remark] = []
        if let record = played.record {
            remarks += AnswerFault.trailingOutput(record)
            if knowsSecrets, RehearsalUser.hasSecret(Self.standardError(played)) {
                remarks.wrong("Its standard error contains an answer of the user or a credential. Never write those there.")
            }
            remarks += AnswerFault.losses(record)
        }
        remarks += AnswerFault.readOnly(errors)
        if case .failed? = played.outcome { return remarks }
        if played.outcome != nil, played.milliseconds > slow {
            remarks.note(
                "It took \(played.milliseconds / 1000) s. Meanwhile another helper may win, and after 45 s the daemon cancels the command."
            )
        }
        return remarks
    }

    func conclude() {
        transcript.flush()
        if transcript.mistakes == 0, host.helperHost.isSandboxed(spec.name) { print("It ran in its sandbox.") }
        if let ignored = host.helperHost.ignoredAnswers[spec.name] {
            transcript.say([.wrong("It wrote \(ignored) extra answers; only the first one counts.")])
        }
        switch transcript.mistakes {
        case 0: print(opened ? "No mistakes." : "No mistakes, but no login succeeded either, so the test is not complete.")
        case 1: print("One mistake.")
        case let count: print("\(count) mistakes.")
        }
    }
}
