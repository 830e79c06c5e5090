/// The purposes of which a text has a phrase, and whether it has a sum of money. A text is read once; the rules ask for its purposes and
/// never for its words.
package struct Purposes: OptionSet, Hashable, Sendable {
    package var rawValue: UInt64

    package init(rawValue: UInt64) { self.rawValue = rawValue }

    package init(_ purpose: PhraseBook.Purpose) { rawValue = 1 << UInt64(purpose.rawValue) }

    private static let sum = Purposes(rawValue: 1 << 62)

    /// Reads a text, such as the label of a control, or all that a page shows.
    package init(of text: String) {
        self = PhraseBook.all.purposes(in: text)
        if Currencies.all.findsSum(in: text) { insert(.sum) }
    }

    /// Reads several texts.
    package init(of texts: [String]) { self = texts.reduce(into: []) { $0.formUnion(Purposes(of: $1)) } }

    package func has(_ purpose: PhraseBook.Purpose) -> Bool { contains(Purposes(purpose)) }

    // MARK: Controls

    package var isTerms: Bool { has(.terms) }
    /// It agrees to more than the access needs: to advertising, or, beside no terms, to data that goes to others, calls, a bill or a price.
    package var agreesToMore: Bool { isAdvertising || ((has(.more) || isPayment) && !isTerms) }
    package var isAdvertising: Bool { has(.advertising) }
    /// The number of a document, which is no secret but the guest's own.
    package var isIdentity: Bool { has(.identity) }
    package var isCode: Bool { has(.code) || isVoucher }
    package var isVoucher: Bool { has(.voucher) }
    package var isEmail: Bool { has(.email) }
    package var isOptional: Bool { has(.optional) }
    package var isLanguage: Bool { has(.language) }
    /// It begins with the number of a card, and so means a bank's, not a library's.
    package var asksForCard: Bool { has(.card) }

    // MARK: Buttons and links

    package var isLogout: Bool { has(.logout) }
    package var isOnward: Bool { has(.onward) }
    /// A button that stands alone goes on; its text may be any that speaks of access.
    package var isOnwardButton: Bool { isOnward || isFree || has(.access) || isTerms }
    /// It goes on without an account.
    package var isFree: Bool { has(.free) }
    /// As a choice among tariffs it costs nothing.
    var isFreeChoice: Bool { (isFree || has(.gratis)) && !isPayment }
    package var isSocial: Bool { has(.social) }
    /// It leads back to an earlier page.
    package var leadsBack: Bool { has(.back) || has(.again) }
    /// As a button; "Connect again" goes on.
    var leadsBackAsButton: Bool { has(.back) || (has(.again) && !isOnwardButton) }
    package var isCookieNotice: Bool { has(.cookie) }
    /// It gives up, or does not agree.
    package var declines: Bool { has(.decline) }
    var isRecovery: Bool { has(.recovery) }
    /// It leads to what is said of personal data.
    package var isPrivacy: Bool { has(.privacy) }

    // MARK: Sentences

    /// Going on after this text accepts terms.
    package var bindsReader: Bool { has(.binding) }
    package var isPayment: Bool { asksToPay || hasPrice }
    /// It speaks of paying, whatever sums it has.
    package var asksToPay: Bool { has(.payment) }
    /// It has a sum of money, zero apart.
    package var hasPrice: Bool { contains(.sum) }
    /// A sum in it may be that of access.
    package var isTariff: Bool { has(.tariff) }
    /// A sum in it is for something else than access, such as a lost key.
    package var isExtra: Bool { has(.extra) }
    package var isFailure: Bool { has(.failure) }
    /// It says that the login is done. "You are connected" may mean the Wi-Fi alone.
    package var soundsLikeSuccess: Bool { has(.success) || has(.granted) }
    /// It says that the gateway has opened.
    package var saysGranted: Bool { has(.granted) }
}

extension Purposes {
    /// Returns whether a button or link begins a time that is given once, or for a short time.
    package func beginsTrial(_ label: String) -> Bool {
        if has(.trial) { return true }
        let words = label.lowercased().split { !$0.isLetter && !$0.isNumber }
        return zip(words, words.dropFirst()).contains { number, unit in
            number.allSatisfy(\.isNumber) && (Self.shortTimes.contains(String(unit)) || Purposes(of: String(unit)).isTariff)
        }
    }
    private static let shortTimes: Set<String> = ["min", "mins", "h", "hr", "hrs", "std"]

    /// Returns whether a select's option only asks for a choice.
    func isUndecided(_ label: String) -> Bool { has(.choose) || !label.contains { $0.isLetter || $0.isNumber } }
}
