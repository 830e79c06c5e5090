import TestSupport
import Testing

@testable import ControlServer

struct PermissionTests {
    @Test func aGroupOfTheFileNeedsNoNameService() {
        let folder = TemporaryFolder()
        folder.write("group", "root:x:0:\nhotspotd-x:x:1:\nhotspotd:x:4711:ida,ben\n", mode: 0o644)
        #expect(Permission.number(ofGroup: "hotspotd", file: folder.path + "/group") == 4711)
    }

    @Test(arguments: ["/nowhere/group", "/etc/group"]) func otherGroupsAreAskedForAsUsual(_ file: String) {
        #expect(Permission.number(ofGroup: "root", file: file) == 0)
        #expect(Permission.number(ofGroup: "no-such-group", file: file) == nil)
    }
}
