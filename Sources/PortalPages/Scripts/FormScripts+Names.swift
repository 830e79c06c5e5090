/// The names that reveal what a script is for.
extension FormScripts {
    /// Returns the last part of a script's address, in lower case and without its endings.
    static func name(of source: String) -> String {
        let path = source.lowercased().prefix { $0 != "?" && $0 != "#" }
        return String(path.split(separator: "/").last ?? "").replacing(".min", with: "").replacing(".js", with: "")
    }

    /// Returns whether a script is a well-known library for looks, old browsers or statistics. Such a library does not log in.
    static func isLibrary(_ source: String) -> Bool {
        let name = source.lowercased()
        return !own.contains(Self.name(of: source)) && libraries.contains { name.contains($0) }
    }

    /// Returns whether a script encrypts, judged by its name.
    static func isCipher(_ source: String) -> Bool {
        let name = name(of: source)
        let words = name.split { !$0.isLetter && !$0.isNumber }
        return ciphers.contains { name.contains($0) }
            || words.contains { word in cipherBeginnings.contains { word.hasPrefix($0) } }
    }

    /// Returns whether the word at an index makes a request.
    static func isRequest(_ tokens: ScriptCode, _ index: Int) -> Bool {
        guard let word = tokens.word(at: index) else { return false }
        if requestWords.contains(word) { return true }
        return ["post", "get"].contains(word) && tokens.isSign("(", at: index + 1) && tokens.isSign(".", at: index - 1)
            && ["$", "jQuery", "$http"].contains(tokens.word(at: index - 2))
    }

    /// Names of scripts that count as the page author's own, even if their folder has a library's name.
    private static let own: Set<String> = [
        "app", "main", "script", "scripts", "index", "login", "auth", "portal", "hotspot", "captive", "splash", "custom",
    ]
    /// Parts of the names of scripts that log in.
    static let loginWords = [
        "login", "auth", "portal", "hotspot", "captive", "splash", "signin", "voucher", "connect", "guest", "register", "api",
    ]
    private static let libraries = [
        "jquery", "bootstrap", "popper", "modernizr", "html5shiv", "respond", "fontawesome", "font-awesome", "analytics", "gtag",
        "ie10-viewport", "ie-emulation", "googletagmanager", "polyfill", "webfont", "cookieconsent", "swiper", "slick", "wow.",
        "placeholder", "animate", "particles", "carousel", "select2", "tailwind", "materialize", "mdb.", "uikit", "foundation.",
        "semantic", "adminlte", "moment", "sweetalert", "fancybox", "lightbox", "tether", "hotjar", "matomo", "piwik", "clarity",
        "fbevents", "metrika", "cloudflareinsights", "rocket-loader", "email-decode", "adsbygoogle", "datepicker", "underscore",
        "lodash", "less.", "mediaqueries", "selectivizr", "fastclick", "slider", "backstretch", "parallax", "ionicons",
        "feather", "lucide", "chosen", "icheck", "gsap", "lottie", "lazyload", "livereload", "countdown",
    ]
    private static let requestWords: Set<String> = [
        "fetch", "XMLHttpRequest", "ajax", "axios", "getJSON", "sendBeacon", "WebSocket", "superagent",
    ]
    private static let ciphers = ["md5", "sha1", "sha256", "sha512", "crypt", "chillilibrary"]
    private static let cipherBeginnings = ["rsa", "aes", "base64", "jsbn", "sm2", "sm3", "sm4", "barrett", "bigint", "sjcl"]
    static let cipherWords = [
        "md5", "hex_md5", "hexmd5", "chapmd5", "sha1", "sha256", "hex_sha", "cryptojs", "jsencrypt", "rsakey", "encrypt",
    ]
}
