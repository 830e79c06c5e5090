import ArgumentParser

/// A working helper to begin with: its files, with the name and the place filled in.
struct HelperTemplate {
    /// The languages that there are examples in.
    enum Language: String, ExpressibleByArgument, CaseIterable {
        case python, shell, swift
    }

    /// One file that is written.
    struct File: Equatable {
        /// Within the helper's folder.
        var path: String
        var text: String
        var isExecutable = false
    }

    /// What the texts call the helper.
    private static let placeholder = "aroma"
    private static let displayPlaceholder = "Aroma portal"

    let name: String
    let language: Language
    /// The helper's folder, absolute.
    let folder: String

    /// All files, the `.helper` file last.
    var files: [File] {
        switch language {
        case .python: [File(path: "\(name).py", text: filled(Self.python), isExecutable: true), helperFile("\(name).py")]
        case .shell: [File(path: "\(name).sh", text: filled(Self.shell), isExecutable: true), helperFile("\(name).sh")]
        case .swift:
            [
                File(path: "Package.swift", text: filled(Self.package)),
                File(path: "Sources/\(name)/Main.swift", text: filled(Self.swift)), helperFile(".build/release/\(name)"),
            ]
        }
    }

    /// It must be built before it can be tried.
    var needsBuild: Bool { language == .swift }

    private func filled(_ text: String) -> String {
        text.replacing(Self.displayPlaceholder, with: displayName).replacing(Self.placeholder, with: name) + "\n"
    }

    /// The longest that is shown is 15 characters.
    private var displayName: String { String(name.prefix(15)) }

    private func helperFile(_ program: String) -> File {
        // The whole value in quotes: a folder's name may have blanks.
        let path = "\(folder)/\(program)"
        let plain = path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Array("\"'\\$%".utf8).contains($0) }
        let exec = plain ? path : "\"\(path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
        return File(
            path: "\(name).helper",
            text: """
                [Helper]
                Name=\(name)
                DisplayName=\(displayName)
                Exec=\(exec)
                # The networks that it may hear of; it never learns of any other.
                SSID=Cafe Aroma
                Security=open

                """)
    }
}
