import ForeignText
import HotspotCore
import Varlink

/// Turns a helper's answer into values of ours, by the contract in `helper.varlink`.
enum AnswerReader {
    /// What a call expects back.
    enum Expectation: Hashable, Sendable {
        case annotations, evaluation, reply, value

        init(_ command: Command) {
            switch command {
            case .filterScanList: self = .annotations
            case .evaluate: self = .evaluation
            case .authenticate, .presentUI, .maintain, .logoff: self = .reply
            }
        }
    }

    /// The most annotations, and the most fields of a prompt, that are taken.
    static let listLimit = 1024

    /// The outcome of one message.
    static func outcome(of message: [UInt8], expecting expectation: Expectation) -> HelperOutcome {
        do throws(HelperFault) { return try read(message, expectation) } catch { return .failed(error) }
    }

    private static func read(_ message: [UInt8], _ expectation: Expectation) throws(HelperFault) -> HelperOutcome {
        let value: JSONValue
        do throws(JSONReader.ReadError) { value = try JSONReader.read(message) } catch {
            throw FieldReader.malformed("the answer", error.description)
        }
        let answer = try FieldReader(value, path: "")
        if let error = try answer.string("error") {
            if error == "org.varlink.service.MethodNotFound" || error == "org.varlink.service.MethodNotImplemented" {
                return .notRecognized
            }
            let detail = answer.members["parameters"]?.object.flatMap { $0["message"]?.string ?? $0["parameter"]?.string }
            throw HelperFault(
                .helperError,
                "it answered with the error \(Printable.text(error, limit: 128))"
                    + (detail.map { ": " + Printable.text($0, limit: 512) } ?? ""))
        }
        let parameters = try FieldReader(answer.members["parameters"] ?? [:], path: "")
        switch expectation {
        case .annotations: return .annotations(try annotations(parameters))
        case .evaluation: return .evaluation(try evaluation(parameters))
        case .reply: return .reply(try reply(try parameters.requiredObject("reply")))
        case .value: return .value(.object(parameters.members))
        }
    }

    private static func annotations(_ parameters: FieldReader) throws(HelperFault) -> [Annotation] {
        var annotations: [Annotation] = []
        let objects = try parameters.objects("annotations")
        guard objects.count <= listLimit else {
            throw HelperFault(.helperTooLong, "«annotations» has more than \(listLimit) entries")
        }
        for object in objects {
            let hex = try object.requiredString("ssidHex")
            guard let ssid = SSID(hex: hex) else {
                throw FieldReader.malformed("«\(object.path).ssidHex»", "is no SSID in hexadecimal")
            }
            annotations.append(
                Annotation(
                    ssidHex: ssid.hex, security: try object.word("security"),
                    confidence: try object.requiredWord("confidence", of: [Confidence.low, .high]),
                    password: try object.string("password")))
        }
        return annotations
    }

    private static func evaluation(_ parameters: FieldReader) throws(HelperFault) -> Evaluation {
        Evaluation(
            try parameters.requiredWord("confidence"), portal: try portal(parameters),
            needs: try parameters.strings("needs").map { $0.prefix(AnswerLimits.needs).map { cut($0, AnswerLimits.need) } },
            session: try session(parameters), reason: try parameters.string("reason").map { cut($0) })
    }

    private static func reply(_ object: FieldReader) throws(HelperFault) -> Reply {
        Reply(
            try object.requiredWord("result"), prompt: try prompt(object), portal: try portal(object),
            session: try session(object), reason: try object.string("reason").map { cut($0) },
            trace: try object.strings("trace").map { $0.prefix(AnswerLimits.traceLines).map { cut($0) } })
    }

    private static func portal(_ parent: FieldReader) throws(HelperFault) -> Portal? {
        guard let object = try parent.object("portal") else { return nil }
        let origin = try object.requiredString("origin")
        // It is shown to everybody and kept in the history: nothing else is in it, such as a user's name or a sentence of its own.
        guard Origin.isValid(origin) else {
            throw FieldReader.malformed(
                "«\(object.path).origin»", "is no origin: http or https as scheme://host[:port] and nothing more")
        }
        return Portal(
            origin: origin, pin: try object.string("pin").map { cut($0, AnswerLimits.pin) },
            kind: cut(try object.requiredString("kind"), AnswerLimits.kind),
            title: try object.string("title").map { cut($0, AnswerLimits.title) })
    }

    /// The beginning of a text in memory of its own, at most so many octets: what is kept of an answer must not keep all of it. A
    /// single character may have as many octets as it likes, so none is counted.
    private static func cut(_ text: String, _ limit: Int = AnswerLimits.text) -> String {
        Printable.beginning(of: text, limit: limit) ?? text
    }

    private static func session(_ parent: FieldReader) throws(HelperFault) -> Session? {
        guard let object = try parent.object("session") else { return nil }
        let memory = object.members["memory"].flatMap { $0 == .null ? nil : $0 }
        if let memory {
            guard memory.object != nil else { throw FieldReader.malformed("«\(object.path).memory»", "is no object") }
            guard memory.leastOctets(upTo: Session.memoryLimit) <= Session.memoryLimit,
                Coding.encode(memory).count <= Session.memoryLimit
            else {
                throw HelperFault(.helperTooLong, "«\(object.path).memory» is larger than \(Session.memoryLimit / 1024) KiB")
            }
        }
        return Session(
            secondsRemaining: Session.remaining(try object.integer("secondsRemaining"), upTo: Session.secondsLimit),
            bytesRemaining: Session.remaining(try object.integer("bytesRemaining"), upTo: Session.bytesLimit),
            canExtend: try object.bool("canExtend"),
            venueURL: try object.string("venueURL").flatMap { $0.utf8.count <= AnswerLimits.text ? $0 : nil }, memory: memory)
    }

    private static func prompt(_ parent: FieldReader) throws(HelperFault) -> Prompt? {
        guard let object = try parent.object("prompt") else { return nil }
        var fields: [Field] = []
        let objects = try object.objects("fields")
        guard objects.count <= listLimit else {
            throw HelperFault(.helperTooLong, "«\(object.path).fields» has more than \(listLimit) entries")
        }
        for field in objects {
            fields.append(
                Field(
                    name: try field.requiredString("name"), label: try field.requiredString("label"),
                    kind: try field.requiredWord("kind"), required: try field.requiredBool("required"),
                    choices: try field.strings("choices"), value: try field.string("value")))
        }
        return Prompt(
            title: try object.requiredString("title"), message: try object.string("message"), fields: fields,
            termsURL: try object.string("termsURL"), terms: try object.string("terms"))
    }
}
