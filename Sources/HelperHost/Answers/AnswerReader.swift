import ForeignText
import HotspotCore
import Varlink

/// Turns a helper's answer into typed values, according to the contract `org.hotspotd.Helper.varlink`. Threat R2: a helper is buggy.
enum AnswerReader {
    /// The largest number of values in one answer, because decoding each takes microseconds. A list of a thousand complete networks has half as many
    /// values.
    static let valueLimit = 10_000

    private struct AnnotationList: Decodable { var annotations: [Annotation] }
    private struct ReplyParameters: Decodable { var reply: Reply }

    /// - Parameter command: `nil` for Probe and Describe.
    static func outcome(of message: [UInt8], to command: Command?) -> HelperOutcome {
        do throws(HelperFault) { return try read(message, command) } catch { return .failed(error) }
    }

    private static func read(_ message: [UInt8], _ command: Command?) throws(HelperFault) -> HelperOutcome {
        guard String(validating: message, as: UTF8.self) != nil else { throw malformed("its answer is not UTF-8") }
        // Each value except the first follows one of these characters; the few within texts do not matter.
        let values = message.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
        guard values <= valueLimit else { throw malformed("its answer has more than \(valueLimit) values") }
        let answer = try decoded { () throws(VarlinkError) in try Coding.decode(Answer.self, from: message) }
        let parameters = answer.parameters ?? [:]
        if let error = answer.error { return try outcome(ofError: error, parameters) }
        func kept<T: Decodable>() throws(HelperFault) -> T {
            try decoded { () throws(VarlinkError) in try Coding.decode(T.self, from: AnswerLimits.cut(parameters).kept) }
        }
        // The checks come before decoding, because only the errors of these checks list the known words and name a number with a fraction.
        switch command {
        case .filterScanList:
            try check(annotations: parameters["annotations"]?.array ?? [])
            var annotations = (try kept() as AnnotationList).annotations
            for index in annotations.indices { annotations[index].ssidHex = annotations[index].ssidHex.lowercased() }
            return .annotations(annotations)
        case .evaluate:
            try check(parameters["confidence"], "confidence", Confidence.allCases)
            try checkPortalAndSession(of: parameters, "")
            return .evaluation(try kept())
        case .authenticate, .presentUI, .maintain, .logoff:
            try check(reply: parameters["reply"] ?? [:])
            return .reply((try kept() as ReplyParameters).reply)
        case nil:
            guard parameters.object != nil else { throw malformed("\"parameters\" is not an object") }
            return .value(parameters)
        }
    }

    private static func outcome(ofError error: String, _ parameters: JSONValue) throws(HelperFault) -> HelperOutcome {
        if error == "org.varlink.service.MethodNotFound" || error == "org.varlink.service.MethodNotImplemented" {
            return .notRecognized
        }
        let detail = parameters["message"]?.string ?? parameters["parameter"]?.string
        throw HelperFault(
            .helperError,
            QuotedProblem.join(
                "it answered with the error \(Printable.text(error, limit: 128))", detail.map { Printable.text($0, limit: 512) }))
    }

    private static func malformed(_ sentence: String) -> HelperFault { HelperFault(.helperMalformed, sentence) }

    private static func decoded<T>(_ decode: () throws(VarlinkError) -> T) throws(HelperFault) -> T {
        do throws(VarlinkError) { return try decode() } catch {
            guard case .malformed(let what) = error else { throw malformed(error.description) }
            throw malformed("its answer is malformed: \(what)")
        }
    }

    private static func check(annotations: [JSONValue]) throws(HelperFault) {
        for (index, annotation) in annotations.enumerated() {
            let path = "annotations.\(index)"
            try check(annotation["security"], path + ".security", Security.allCases)
            try check(annotation["confidence"], path + ".confidence", [Confidence.low, .high])
            if let hex = annotation["ssidHex"]?.string, SSID(hex: hex) == nil {
                throw malformed("\"\(path).ssidHex\" is not an SSID in hexadecimal")
            }
        }
    }

    private static func check(reply: JSONValue) throws(HelperFault) {
        try check(reply["result"], "reply.result", HelperResult.allCases)
        try checkPortalAndSession(of: reply, "reply.")
        for (index, field) in (reply["prompt"]?["fields"]?.array ?? []).enumerated() {
            try check(field["kind"], "reply.prompt.fields.\(index).kind", Field.Kind.allCases)
        }
    }

    private static func checkPortalAndSession(of object: JSONValue, _ path: String) throws(HelperFault) {
        // All users see the origin, and the history keeps it, so it must not contain a user's name or a sentence.
        if let origin = object["portal"]?["origin"]?.string, !Origin.isValid(origin) {
            throw malformed("\"\(path)portal.origin\" is not an origin: scheme://host[:port], with http or https")
        }
        for key in ["secondsRemaining", "bytesRemaining", "maintainAfter"] {
            guard case .number(let amount)? = object["session"]?[key], Int(exactly: amount) == nil else { continue }
            throw malformed("\"\(path)session.\(key)\" is not a whole number")
        }
        guard let memory = object["session"]?["memory"], memory != .null else { return }
        guard memory.object != nil else { throw malformed("\"\(path)session.memory\" is not an object") }
        guard Coding.encode(memory).count <= Session.memoryLimit else {
            throw HelperFault(.helperTooLong, "\"\(path)session.memory\" is larger than \(Session.memoryLimit / 1024) KiB")
        }
    }

    private static func check<Word: RawRepresentable<String>>(
        _ value: JSONValue?, _ path: String, _ known: [Word]
    ) throws(HelperFault) {
        guard let text = value?.string, !known.contains(where: { $0.rawValue == text }) else { return }
        throw HelperFault(
            .helperUnknownValue,
            "\"\(path)\" has the unknown value \"\(Printable.text(text, limit: 64))\"; known are \(known.map(\.rawValue).joined(separator: ", "))"
        )
    }
}
