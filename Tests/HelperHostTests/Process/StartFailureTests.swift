import Glibc
import TestSupport
import Testing

@testable import HelperHost

@Suite struct StartFailureTests {
    @Test(arguments: [
        ("print('x')\n", ENOEXEC, "has no first line that names its interpreter"),
        ("#!/usr/bin/python3\r\nprint()\r\n", ENOENT, "Windows line ends"),
        ("\u{FEFF}#!/bin/sh\n", ENOEXEC, "byte order mark"),
        ("#!/nowhere/python3 -I\n", ENOENT, "the interpreter /nowhere/python3, which"),
        ("#!/etc/passwd\n", EACCES, "which cannot be executed"), ("#!python3\n", ENOENT, "without an absolute path"),
        ("#!\n", ENOEXEC, "names no interpreter"), ("\u{7F}ELF\u{1}", ENOEXEC, "another kind of processor"),
        ("#!/bin/sh\n", ENOENT, "No such file"),
    ]) func theReasonIsNamed(_ text: String, _ code: Int32, _ words: String) {
        let folder = TemporaryFolder()
        let said = StartFailure.words(program: folder.write("program", text), code: code)
        #expect(said.contains(words) && said.hasPrefix(folder.path), "\(said)")
    }

    @Test func aProgramThatIsNotThereIsNotThere() {
        #expect(StartFailure.words(program: "/nowhere/x", code: ENOENT) == "/nowhere/x: No such file or directory")
    }

    /// A hint is copied into a shell, so the path must be one word.
    @Test func theHintIsOneWord() {
        let folder = TemporaryFolder()
        let program = folder.write("w $(id)", "#!/bin/sh\r\n", mode: 0o755)
        let said = StartFailure.words(program: program, code: ENOENT)
        #expect(said.hasSuffix("to fix it: sed -i 's/\\r$//' '\(program)'"), "\(said)")
    }
}
