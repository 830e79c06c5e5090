import HelperKit
import PortalPages

/// A layer over a page. It mentions cookies and has nothing to fill in, and a person has to close it before reaching the login.
struct CookieNotice {
    /// The button that declines, or the only button. `nil` if there are several buttons and none declines: then hotspotd uses the login below the
    /// notice.
    let button: HTMLControl?

    /// Returns `nil` if the layer is about something else.
    init?(covering page: HTMLPage) {
        guard page.forms.count == 1, let form = page.forms.first.map(TypedForm.init),
            form.inputs.isEmpty || form.inputs.allSatisfy({ $0.kind == .checkbox }), Purposes(of: page.text).isCookieNotice
        else { return nil }
        button =
            form.submits.first(where: \.label.declines)?.control
            ?? (form.submits.count == 1 ? form.submits[0].control : nil)
    }
}
