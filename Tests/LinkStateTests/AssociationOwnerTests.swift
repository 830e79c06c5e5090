import Testing

@testable import LinkState

@Suite struct AssociationOwnerTests {
    private let root = TemporaryRoot()

    @Test(arguments: [("true", true), ("1", true), ("false", false), ("", false), ("maybe", false)])
    func networkManagerSaysWhetherItHasAnInterface(managed: String, owns: Bool) {
        let text = "[device]\nmanaged=\(managed)\nconnection-uuid=0f7e\nnm-owned=0\n"
        root.write("run/NetworkManager/devices/3", Array(text.utf8))
        #expect(AssociationOwner.manager(of: 3, root: root.path) == (owns ? "NetworkManager" : nil))
        #expect(AssociationOwner.manager(of: 4, root: root.path) == nil)
    }
}
