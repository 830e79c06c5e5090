import Testing

@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

/// Layers behind a form that a person only reads and closes.
@Suite struct TellingDialogTests {
    private func dialog(_ body: String) -> TellingDialog? {
        TellingDialog(covering: page("<form method=post>\(body)</form>", url: "http://portal.test/"))
    }

    @Test(arguments: ["OK", "Close", "Confirm", "Try again", "×", "Schließen", "知道了"])
    func itsOnlyButtonIsTaken(_ label: String) throws {
        let found = try #require(dialog("<p>E2553: Password is error.</p><button value=ok>\(label)</button>"))
        #expect(found.button.value == "ok" && found.words == "E2553: Password is error.")
    }

    @Test func aCrossBesideItDoesNotCount() throws {
        let body = "<button value=x>×</button><h2>Oops</h2><p>Unknown member.</p><button value=ok>OK</button>"
        let found = try #require(dialog(body))
        #expect(found.button.value == "ok" && found.words == "Oops Unknown member.")
    }

    /// The page rules decide about a layer that asks, costs money, has terms, leads elsewhere or offers a choice.
    @Test(arguments: [
        "<p>Your code</p><input name=code><button>OK</button>", "<p>Access for 5 € a day.</p><button>OK</button>",
        "<p>By going on you accept the terms of use.</p><button>OK</button>",
        "<p>Your time is over.</p><button>Buy more time</button>",
        "<p>Another device is online.</p><button>Disconnect it</button><button>Cancel</button>",
        "<p>Wrong code.</p><button>Upgrade</button>", "<p>Welcome.</p><a href=/more>More</a><button>OK</button>",
        "<p>Do you want to stay?</p><button>Log out</button>", "<p>Get our news.</p><button>Subscribe</button>",
    ])
    func otherLayersAreNone(_ body: String) { #expect(dialog(body) == nil) }

    private static let login = "<form method=post><input name=room aria-label=Room><button>Connect</button></form>"

    /// If the page asks again, the layer's words are about the refused answers, unless they sound like success.
    @Test func itsWordsAreAnErrorWhereThePageAsksAgain() {
        let again = page(Self.login, url: "http://portal.test/")
        let other = page("<h1>Welcome</h1>", url: "http://portal.test/")
        let sent = again.forms[0]
        #expect(TellingDialog.markup(of: ["No <b>"], on: again, behind: sent) == "<p role=\"alert\">No &lt;b></p>")
        #expect(TellingDialog.markup(of: ["You are connected"], on: again, behind: sent) == "<p>You are connected</p>")
        #expect(TellingDialog.markup(of: ["No"], on: other, behind: sent) == "<p>No</p>")
        #expect(TellingDialog.markup(of: ["No"], on: again, behind: nil) == "<p>No</p>")
    }
}
