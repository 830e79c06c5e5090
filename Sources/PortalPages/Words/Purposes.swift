/// The purposes whose phrases occur in a text, and whether the text contains a sum of money. A text is read once; the rules use the purposes and
/// never the words.
package struct Purposes: OptionSet, Hashable, Sendable {
    package var rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package init(_ purpose: PhraseBook.Purpose) { rawValue = 1 << UInt64(purpose.rawValue) }

    private static let sum = Purposes(rawValue: 1 << 62)

    /// Reads a text, such as the label of a control, or all text of a page.
    package init(of text: String) {
        self = PhraseBook.all.purposes(in: text)
        if Currencies.all.findsSum(in: text) { insert(.sum) }
    }

    /// Reads several texts.
    package init(of texts: [String]) { self = texts.reduce(into: []) { $0.formUnion(Purposes(of: $1)) } }

    package func has(_ purpose: PhraseBook.Purpose) -> Bool { contains(Purposes(purpose)) }

    // MARK: Controls

    package var isTerms: Bool { has(.terms) }
    /// Whether the text agrees to more than access requires: to advertising or, if it does not mention terms, to sharing data, to calls, a bill or a
    /// price.
    package var agreesToMore: Bool { isAdvertising || ((has(.more) || isPayment) && !isTerms) }
    package var isAdvertising: Bool { has(.advertising) }
    /// Whether the text asks for the number of an identity document, which is personal but not secret.
    package var isIdentity: Bool { has(.identity) }
    package var isCode: Bool { has(.code) || isVoucher }
    package var isVoucher: Bool { has(.voucher) }
    package var isEmail: Bool { has(.email) }
    package var isOptional: Bool { has(.optional) }
    package var isLanguage: Bool { has(.language) }
    /// Whether the text begins with the words for a card number, so that a field asks for a bank card.
    package var asksForCard: Bool { has(.card) }

    // MARK: Buttons and links

    package var isLogout: Bool { has(.logout) }
    package var isOnward: Bool { has(.onward) }
    /// Whether a button with this text continues, if it is the page's only button: a text that mentions access or terms then suffices.
    package var isOnwardButton: Bool { isOnward || isFree || has(.access) || isTerms }
    /// Whether the text means continuing without an account.
    package var isFree: Bool { has(.free) }
    /// Whether the text is the free choice among tariffs.
    var isFreeChoice: Bool { (isFree || has(.gratis)) && !isPayment }
    package var isSocial: Bool { has(.social) }
    /// Whether the text leads back to an earlier page.
    package var leadsBack: Bool { has(.back) || has(.again) }
    /// Whether a button with this text leads back. "Connect again" does not: it continues.
    var leadsBackAsButton: Bool { has(.back) || (has(.again) && !isOnwardButton) }
    package var isCookieNotice: Bool { has(.cookie) }
    /// Whether the text declines or gives up.
    package var declines: Bool { has(.decline) }
    var isRecovery: Bool { has(.recovery) }
    /// Whether the text leads to a page about personal data.
    package var isPrivacy: Bool { has(.privacy) }

    // MARK: Sentences

    /// Whether continuing after this text accepts terms.
    package var bindsReader: Bool { has(.binding) }
    package var isPayment: Bool { asksToPay || hasPrice }
    /// Whether the text mentions paying, with or without a sum.
    package var asksToPay: Bool { has(.payment) }
    /// Whether the text contains a sum of money other than zero.
    package var hasPrice: Bool { contains(.sum) }
    /// Whether a sum in the text may be the price of access.
    package var isTariff: Bool { has(.tariff) }
    /// Whether a sum in the text is for something other than access, such as a lost key.
    package var isExtra: Bool { has(.extra) }
    package var isFailure: Bool { has(.failure) }
    /// Whether the text reports that the login is done. "You are connected" counts, although it may refer only to the Wi-Fi.
    package var soundsLikeSuccess: Bool { has(.success) || has(.granted) }
    /// Whether the text says that the gateway has opened.
    package var saysGranted: Bool { has(.granted) }
}

extension Purposes {
    /// Returns whether a button or link begins access that is given only once, or for a short time.
    package func beginsTrial(_ label: String) -> Bool {
        if has(.trial) { return true }
        let words = label.lowercased().split { !$0.isLetter && !$0.isNumber }
        return zip(words, words.dropFirst()).contains { number, unit in
            number.allSatisfy(\.isNumber) && (Self.shortTimes.contains(String(unit)) || Purposes(of: String(unit)).isTariff)
        }
    }
    private static let shortTimes: Set<String> = ["min", "mins", "h", "hr", "hrs", "std"]

    /// Returns whether an option of a list only tells the user to choose.
    func isUndecided(_ label: String) -> Bool { has(.choose) || !label.contains { $0.isLetter || $0.isNumber } }
}
