import EventLoop
import Testing

@Suite struct FilePathTests {
    @Test(arguments: [("/a/b", "/a", true), ("/a", "/a", true), ("/ab", "/a", false), ("/a", "/", true), ("/a", "/a/b", false)])
    func foldersAreComparedByTheirParts(_ path: String, _ folder: String, _ isWithin: Bool) {
        #expect(FilePath.isWithin(path, folder) == isWithin)
    }

    @Test(arguments: [("/a/b", "/a"), ("/a", "/"), ("/a/b/", "/a"), ("/", "/")]) func parents(_ path: String, _ parent: String) {
        #expect(FilePath.parent(of: path) == parent)
    }
}
