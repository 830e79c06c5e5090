/// The character sets of browsers and their labels (WHATWG Encoding Standard, section 4.2), by iconv(3)'s names. Without the labels of `replacement`
/// and `x-user-defined`, which count as unknown.
enum CharacterSets {
    struct Row {
        var name: String
        var charset: String
        var labels: String

        init(_ name: String, _ charset: String, _ labels: String) {
            (self.name, self.charset, self.labels) = (name, charset, labels)
        }

        init(_ name: String, _ labels: String) { self.init(name, name, labels) }
    }

    /// Returns the character set of a label; `nil` if browsers do not know the label.
    static func charset(named label: some StringProtocol) -> String? {
        let label = label.lowercased()
        return rows.first { $0.labels.split(separator: " ").contains { $0 == label } }?.charset
    }

    /// Returns the character set in which browsers send a form to a page in this one.
    static func forOutput(_ charset: String) -> String { charset.hasPrefix("UTF-16") ? "UTF-8" : charset }

    /// Returns the name that browsers send for a character set.
    static func name(of charset: String) -> String { rows.first { $0.charset == charset }?.name ?? charset }

    static let rows = [
        Row("UTF-8", "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8"),
        Row(
            "windows-1252", "CP1252",
            "ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 "
                + "iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252"),
        Row("IBM866", "866 cp866 csibm866 ibm866"),
        Row(
            "ISO-8859-2",
            "csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"),
        Row(
            "ISO-8859-3",
            "csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"),
        Row(
            "ISO-8859-4",
            "csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"),
        Row(
            "ISO-8859-5",
            "csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"),
        Row(
            "ISO-8859-6",
            "arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e iso-8859-6-i iso-ir-127 "
                + "iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987"),
        Row(
            "ISO-8859-7",
            "csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597 iso_8859-7 "
                + "iso_8859-7:1987 sun_eu_greek"),
        Row(
            "ISO-8859-8",
            "csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 "
                + "iso_8859-8:1988 visual"),
        // An alias of iconv(3), because the sets differ only in their names.
        Row("ISO-8859-8-I", "ISO_8859-8", "csiso88598i iso-8859-8-i logical"),
        Row("ISO-8859-10", "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6"),
        Row("ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"),
        Row("ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"),
        Row("ISO-8859-15", "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9"),
        Row("ISO-8859-16", "iso-8859-16"),
        Row("KOI8-R", "cskoi8r koi koi8 koi8-r koi8_r"),
        Row("KOI8-U", "koi8-ru koi8-u"),
        Row("macintosh", "MACINTOSH", "csmacintosh mac macintosh x-mac-roman"),
        Row("windows-874", "CP874", "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874"),
        Row("windows-1250", "CP1250", "cp1250 windows-1250 x-cp1250"),
        Row("windows-1251", "CP1251", "cp1251 windows-1251 x-cp1251"),
        Row("windows-1253", "CP1253", "cp1253 windows-1253 x-cp1253"),
        Row(
            "windows-1254", "CP1254",
            "cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 windows-1254 "
                + "x-cp1254"),
        Row("windows-1255", "CP1255", "cp1255 windows-1255 x-cp1255"),
        Row("windows-1256", "CP1256", "cp1256 windows-1256 x-cp1256"),
        Row("windows-1257", "CP1257", "cp1257 windows-1257 x-cp1257"),
        Row("windows-1258", "CP1258", "cp1258 windows-1258 x-cp1258"),
        Row("x-mac-cyrillic", "MAC-UK", "x-mac-cyrillic x-mac-ukrainian"),
        Row("GBK", "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk"),
        Row("gb18030", "GB18030", "gb18030"),
        Row("Big5", "BIG5", "big5 big5-hkscs cn-big5 csbig5 x-x-big5"),
        Row("EUC-JP", "cseucpkdfmtjapanese euc-jp x-euc-jp"),
        Row("ISO-2022-JP", "csiso2022jp iso-2022-jp"),
        Row("Shift_JIS", "CP932", "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis"),
        Row(
            "EUC-KR", "CP949",
            "cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949"),
        Row("UTF-16BE", "unicodefffe utf-16be"),
        Row("UTF-16LE", "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le"),
    ]
}
