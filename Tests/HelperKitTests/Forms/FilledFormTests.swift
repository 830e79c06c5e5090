import Testing

@testable import HelperKit
@testable import PortalPages

/// The request that a browser would send.
@Suite struct FilledFormTests {
    private func sent(_ body: String, answers: [String: String] = [:], type: String = "text/html") throws -> HTTPRequest {
        let url = WebURL("https://portal.test/page")!
        let response = HTTPResponse(
            url: url, status: 200, headers: [HTTPResponse.Header(name: "content-type", value: type)], body: Array(body.utf8))
        let page = HTMLReader.read(response)
        return try FilledForm(
            TypedForm(try #require(page.forms.first)), on: page, at: url, answers: answers, redirects: RedirectPolicy()
        ).request
    }

    @Test(arguments: [
        ("<input type=submit name=go>", "go=Submit"), ("<input type=submit>", ""), ("<button name=go>Go</button>", "go="),
        ("<input type=submit name=go value=''>", "go="), ("<input type=image name=go alt=Go>", "go.x=1&go.y=1"),
        ("<input type=image alt=Go>", "x=1&y=1"),
        ("<input type=button name=b value=B><input type=submit name=go value=Go>", "go=Go"),
        (
            "<input name=zone value=a readonly><input type=number name=n value=1><input type=date name=d><button>Go</button>",
            "zone=a&n=1&d="
        ),
        ("<input name=off value=1 disabled><button>Go</button>", ""),
        ("<input type=checkbox name=c checked><button>Go</button>", "c=on"),
        ("<select name=s><option>One<option selected>Two</select><button>Go</button>", "s=Two"),
        ("<select name=s><option disabled>One<option>Two</select><button>Go</button>", "s=Two"),
        ("<select name=s><option disabled selected>One<option>Two</select><button>Go</button>", ""),
        ("<select name=s><optgroup disabled><option>One</optgroup><option>Two</select><button>Go</button>", "s=Two"),
        (
            "<fieldset disabled><legend><input name=on value=1></legend><input name=off value=1></fieldset><button>Go</button>",
            "on=1"
        ),
        ("<input type=hidden name=_charset_><button>Go</button>", "_charset_=windows-1252"),
        ("<button name=a value=1>Cancel</button><button name=b value=2>Connect</button>", "b=2"),
        ("<button name=a value=1>Connect for 5 €</button><button name=b value=2>Connect</button>", "b=2"),
    ]) func fieldsAreThoseOfABrowser(_ inner: String, _ body: String) throws {
        #expect(try sent("<form method=post>\(inner)</form>").body == body)
    }

    @Test func aButtonHasItsOwnActionAndMethod() throws {
        let form = "<form action=/a><input name=x value=1><button formaction=/b formmethod=post>Go</button></form>"
        let request = try sent(form)
        #expect(request.method == .post && request.url.text == "https://portal.test/b" && request.body == "x=1")
    }

    @Test(arguments: [
        ("text/html; charset=gbk", "", "n=%B7%BF&e=%80"), ("text/html; charset=iso-8859-1", "", "n=%26%2325151%3B&e=%80"),
        ("text/html; charset=utf-8", "accept-charset=windows-1251", "n=%26%2325151%3B&e=%88"),
        ("text/html; charset=utf-8", "", "n=%E6%88%BF&e=%E2%82%AC"), ("text/html", "", "n=%26%2325151%3B&e=%80"),
        ("text/html; charset=shift_jis", "", "n=%96%5B&e=%26%238364%3B"),
        ("text/html; charset=windows-1253", "", "n=%26%2325151%3B&e=%80"),
        ("text/html; charset=iso-2022-jp", "", "n=%1B%24BK%3C%1B%28B&e=%26%238364%3B"),
        ("text/html; charset=gbk", "accept-charset='nothing koi8-u'", "n=%26%2325151%3B&e=%26%238364%3B"),
        ("text/html; charset=gbk", "accept-charset=nothing", "n=%E6%88%BF&e=%E2%82%AC"),
    ]) func textIsSentInThePagesCharacterSet(_ type: String, _ form: String, _ body: String) throws {
        let page = "<form method=post \(form)><input name=n><input name=e><button>Go</button></form>"
        #expect(try sent(page, answers: ["n": "房", "e": "€"], type: type).body == body)
    }

    @Test func aFormMayBeMultipart() throws {
        let form =
            "<form method=post enctype=multipart/form-data><input name='a\"b' value=1><input name=c><button>Go</button></form>"
        let request = try sent(form, answers: ["c": "x\r\ny"])
        let boundary = try #require(request.contentType.split(separator: "boundary=").last)
        let part = { (name: String, value: String) in
            "--\(boundary)\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(value)\r\n"
        }
        #expect(request.body == part("a%22b", "1") + part("c", "x\r\ny") + "--\(boundary)--\r\n")
    }
}
