import TestSupport
import Testing
import Varlink

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

    /// A helper without a sandbox has the daemon's user and group, and could open the companion service's socket.
    @Test func theDaemonsUserMayNothingAtAnySocket() {
        let folder = TemporaryFolder()
        folder.write("passwd", "hotspotd:x:4711:0::/nonexistent:/usr/sbin/nologin\n", mode: 0o644)
        let permission = Permission(groupName: "root", users: folder.path + "/passwd")
        #expect(permission.standing(of: PeerCredentials(uid: 4711, gid: 0, pid: 5)) == .restricted)
        #expect(permission.standing(of: PeerCredentials(uid: 4713, gid: 0, pid: 5)) == .permitted)
    }

    @Test func theCompanionsUserIsReadFromTheFile() {
        let folder = TemporaryFolder()
        let line = "hotspot-companion:x:4712:4711::/nonexistent:/usr/sbin/nologin\n"
        folder.write("passwd", "root:x:0:0::/root:/bin/sh\n\(line)", mode: 0o644)
        #expect(Permission.number(ofUser: Permission.companionName, file: folder.path + "/passwd") == 4712)
        #expect(Permission.number(ofUser: "ida", file: folder.path + "/passwd") == nil)
        #expect(Permission.number(ofUser: "root", file: "/nowhere/passwd") == nil)
    }
}
