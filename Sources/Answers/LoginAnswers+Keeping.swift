import HotspotCore
import Vault

/// Answers that are about to be sealed, after the proof of their login.
public struct Keeping: Hashable, Sendable {
    public let owner: CredentialOwner
    public let values: [String: SecretText]
    /// The stored answers that the new ones replace.
    public let before: StoredAnswers?
    /// The names of the stored answers that are kept beside the new ones.
    public let staying: Set<String>
    public let shownNames: [String]
    public let labels: [String: String]
    let sheet: AnswerSheet
    /// Whether the answers are sealed again only because a field's label has changed.
    public let isRelabelling: Bool
}

public enum SealResult: Hashable, Sendable {
    case saved
    /// The change is in memory until hotspotd ends, because it cannot be written now.
    case untilTheEnd(String)
    case failed(String)
}

/// Decides which answers of a proven login are kept, and reports that to the user.
extension LoginAnswers {
    /// The largest number of answers that are kept for one portal.
    private static let keptLimit = 64

    mutating func prove(_ context: Context) -> [Action] {
        defer {
            releases = []
            endLogin(context)
        }
        guard let sheet = sheet(for: context.helper) else { return [] }
        var actions = sheet.isNeedless ? say(sheet.isUnsent ? .notSent : .needless) : []
        let kept = sheet.keepable
        guard let portal = sheet.portal else { return kept.isEmpty ? actions : say(.noPortal) }
        if !sheet.confirmed.isEmpty, let own = context.own, own.isRefused {
            actions += [.ruled(.refused), .setRefused(own, false)]
        }
        if context.terms == .remembered {
            for consent in sheet.consents where isAgreed(sheet, consent.portal, context) {
                actions += [.ruled(.consent), .consent(consent)]
            }
        }
        if !kept.isEmpty {
            actions += keep(kept, sheet, context.owner(at: portal), context)
            // If answers are sealed, nothing is cleared: sealing already replaces all stored answers that this login asked for.
            if actions.contains(where: { if case .seal = $0 { true } else { false } }) { return actions }
        } else if sheet.isAmbiguous {
            actions += say(.ambiguous)
        } else if remembersTerms(sheet, context) {
            actions += say(.termsAlone)
        }
        return actions + clear(sheet, context)
    }

    private mutating func say(_ ruling: AnswerRuling) -> [Action] {
        outcome = ruling
        return [.ruled(ruling.rule)]
    }

    /// Returns whether consent to the terms may be remembered. If hotspotd warned about the portal, the user must have been asked about keeping its
    /// answers.
    private func isAgreed(_ sheet: AnswerSheet, _ portal: Portal, _ context: Context) -> Bool {
        var asking = context
        asking.portal = portal
        return sheet.isConfirmed || warning(asking) == nil
    }

    /// Returns whether the user accepted the terms in this login and will not be asked about them next time.
    private func isConsented(_ sheet: AnswerSheet, _ context: Context) -> Bool {
        guard sheet.acceptsTerms, let portal = sheet.portal else { return false }
        return context.hasConsent || (context.terms == .remembered && isAgreed(sheet, portal, context))
    }

    /// Returns whether the user's consent to the terms is remembered beyond this login.
    private func remembersTerms(_ sheet: AnswerSheet, _ context: Context) -> Bool {
        context.remember != .never && context.terms == .remembered && isConsented(sheet, context)
    }

    /// Seals answers if they may be kept, and reports their fate.
    private mutating func keep(
        _ kept: [String: String], _ sheet: AnswerSheet, _ owner: CredentialOwner, _ context: Context
    ) -> [Action] {
        if let refusal = refusal(sheet, owner, context) {
            var ruling = refusal
            if remembersTerms(sheet, context) { ruling.words += AnswerRuling.termsOnly }
            if context.own != nil { ruling.words += AnswerRuling.earlierStay(in: owner.network) }
            return conclude(ruling, sheet)
        }
        guard !sheet.hasNews else { return [.seal(keeping(kept, sheet, owner, context))] }
        guard context.remember != .never else { return conclude(.staysStored, sheet) }
        // Stored answers that the user has confirmed under another label are sealed again.
        let isRelabelled = context.own.map { own in sheet.fields.contains { kept[$0.name] != nil && !own.isSame($0) } } ?? false
        return (isRelabelled ? [.seal(keeping(kept, sheet, owner, context))] : [])
            + conclude(remembered(sheet, owner, context), sheet)
    }

    /// Returns the reason why answers are not kept. The settings may have changed since the user typed the answers.
    private func refusal(_ sheet: AnswerSheet, _ owner: CredentialOwner, _ context: Context) -> AnswerRuling? {
        guard let wish = sheet.wish else { return .unwanted }
        guard sheet.hasNews else { return nil }
        if case .refused(let refusal) = context.laterRelease(of: owner) {
            return .unusable(refusal)
        }
        if context.remember == .never || wish == .never { return .never }
        return wish == .ask && !sheet.isConfirmed ? .notAsked : nil
    }

    /// Returns the answers to seal. Stored answers that this login did not ask for are kept with them: a portal may ask for a voucher on one visit
    /// and for the room number on the next. A stored password is not shown later, even if the portal asks for it in an ordinary text field now.
    private func keeping(
        _ kept: [String: String], _ sheet: AnswerSheet, _ owner: CredentialOwner, _ context: Context
    ) -> Keeping {
        let (before, fields) = (context.own, sheet.fields)
        var (staying, shown) = (Set<String>(), before?.shownNames ?? [])
        // Do not keep answers of another program that has the helper's name.
        if let before, before.owner.program == nil || before.owner.program == owner.program {
            staying = Set(before.fieldNames.filter { name in !fields.contains { $0.name == name } })
            // A page whose field names change each time must not fill the vault.
            if kept.count + staying.count > Self.keptLimit { staying = [] }
        }
        for field in fields where field.kind.isSecret || !sheet.confirmed.contains(field.name) {
            shown.removeAll { $0 == field.name }
            if !field.kind.isSecret { shown.append(field.name) }
        }
        let asked = Dictionary(fields.map { ($0.name, Field.folded($0.label)) }) { first, _ in first }
        return Keeping(
            owner: owner, values: kept.mapValues(SecretText.init), before: before, staying: staying,
            shownNames: shown.filter { kept[$0] != nil || staying.contains($0) },
            labels: (before?.labels ?? [:]).merging(asked) { $1 }, sheet: sheet, isRelabelling: !sheet.hasNews)
    }

    mutating func sealed(_ keeping: Keeping, _ result: SealResult, _ context: Context) -> [Action] {
        guard !keeping.isRelabelling else { return [] }
        let ruling: AnswerRuling =
            switch result {
            case .saved: remembered(keeping.sheet, keeping.owner, context)
            case .untilTheEnd(let reason): .untilTheEnd(reason)
            case .failed(let reason): .notSealed(reason)
            }
        let cleared: [Action] = if case .failed = result { clear(keeping.sheet, context) } else { [] }
        return conclude(ruling, keeping.sheet) + cleared
    }

    /// Returns the ruling that the answers are kept, with a sentence about the next login.
    private func remembered(_ sheet: AnswerSheet, _ owner: CredentialOwner, _ context: Context) -> AnswerRuling {
        guard context.mayHaveCredentials else {
            return .kept("; they are not sent automatically, because this helper runs without a sandbox")
        }
        let release = context.laterRelease(of: owner)
        let isAsked = asksAgain(sheet, release, context)
        switch release {
        case .confirmed:
            // Enter alone is not enough if the page also asks for a code or a tick. A page that requires no field might not ask next time, so nothing
            // is said about it.
            let isNeeded = sheet.fields.contains { $0.required && $0.kind != .checkbox }
            let next = isAsked ? " and offered next time" : isNeeded ? "; next time press Enter to send them" : ""
            return .kept(next + (context.hasPIN ? "; after a restart hotspotd asks for the PIN first" : ""))
        case .automatic where !isAsked:
            return .kept("; next time you will not be asked" + (context.hasPIN ? ", except for the PIN after a restart" : ""))
        case .automatic, .refused: return .kept("")
        }
    }

    /// Returns whether the same page will ask again next time: for a code, or for a tick other than the one for terms that are already accepted.
    private func asksAgain(_ sheet: AnswerSheet, _ release: Release, _ context: Context) -> Bool {
        let ticks = sheet.fields.count { $0.kind == .checkbox && $0.required }
        // If the user must confirm the stored answers, a second portal behind the first portal's page shows its terms again.
        let isKnown = release == .automatic || !isBehindAnother(sheet.portal)
        let isTicked = isKnown && !sheet.hadConsent && isConsented(sheet, context)
        return sheet.fields.contains { $0.kind == .code } || ticks > (isTicked ? 1 : 0)
    }

    private mutating func conclude(_ ruling: AnswerRuling, _ sheet: AnswerSheet) -> [Action] {
        var ruling = ruling
        if sheet.hasOwnTick, ruling.keepsAnswers { ruling.words += AnswerRuling.ticks }
        if sheet.isOfEarlierLogin { ruling.words = AnswerRuling.beforeTheLast(ruling.words) }
        return say(ruling) + [.journal(kind: "credential", ruling.words, helper: sheet.helper)]
    }

    /// Removes the stored answers to the fields that the user left empty.
    private func clear(_ sheet: AnswerSheet, _ context: Context) -> [Action] {
        let left = sheet.counting.filter {
            $0.field.kind != .checkbox && !$0.field.isAssumed && $0.value?.text == ""
        }
        guard context.remember != .never, let own = context.own else { return [] }
        let names = Set(left.map(\.name)).intersection(own.fieldNames)
        return names.isEmpty ? [] : [.remove(names, from: own)]
    }
}
