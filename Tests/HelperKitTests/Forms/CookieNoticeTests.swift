import Testing

@testable import HelperKit
@testable import PageLogin
@testable import PortalPages

/// Layers over a page, as a browser shows them.
@Suite struct CookieNoticeTests {
    private static let words = "<p>We use cookies to improve your experience on our website.</p>"

    private func notice(_ body: String) -> CookieNotice? {
        CookieNotice(covering: page("<form method=post>\(body)</form>", url: "http://portal.test/"))
    }

    @Test func theButtonThatDeclinesIsTaken() {
        let buttons =
            "<button value=all>Accept all</button><button value=none>Reject all</button><button value=more>Settings</button>"
        #expect(notice(Self.words + buttons)?.button?.value == "none")
        // The choices of a notice are left unchanged.
        let boxes = "<label><input type=checkbox name=ads>Advertising</label>"
        #expect(notice(Self.words + boxes + buttons)?.button?.value == "none")
    }

    @Test func theOnlyButtonIsTaken() {
        #expect(notice(Self.words + "<button value=ok>OK</button>")?.button?.value == "ok")
    }

    /// The notice stays, and the login beneath it is used.
    @Test func noButtonIsTakenIfAllAgreeToMore() throws {
        let found = try #require(
            notice(Self.words + "<button value=all>Accept all</button><button value=more>Customise</button>"))
        #expect(found.button == nil)
    }

    @Test func otherLayersAreNone() {
        let button = "<button value=ok>OK</button>"
        #expect(notice("<p>Please confirm that you are of age.</p>" + button) == nil)
        // A layer that asks a question is the login itself.
        #expect(notice(Self.words + "<input name=email aria-label=E-mail>" + button) == nil)
        let two = "<form>\(Self.words)\(button)</form><form><input name=email><button>Connect</button></form>"
        #expect(CookieNotice(covering: page(two, url: "http://portal.test/")) == nil)
    }
}
