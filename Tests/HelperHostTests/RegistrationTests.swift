import HotspotCore
import Testing

@testable import HelperHost

/// What registering is here: a helper's file.
@Suite struct RegistrationTests {
    @Test("13 Without a display name the name is shown") func name() throws {
        func shown(_ keys: String) throws -> String {
            try HelperFile.parse(Array("[Helper]\nName=cafe-aroma\nExec=/b\n\(keys)".utf8), file: "x.helper").spec.displayName
        }
        #expect(try shown("") == "cafe-aroma")
        #expect(try shown("DisplayName=Aroma") == "Aroma")
    }
}
