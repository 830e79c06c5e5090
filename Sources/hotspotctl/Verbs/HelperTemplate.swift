import ArgumentParser
import HotspotCore

/// The files of a new helper: copies of `Tests/Examples`, with its name and folder filled in.
struct HelperTemplate {
    enum Language: String, ExpressibleByArgument, CaseIterable {
        case python, shell, swift
    }

    struct TemplateFile: Equatable {
        /// The path, relative to the helper's folder.
        var path: String
        var text: String
        var isExecutable = false
    }

    /// The helper's name in the examples.
    private static let placeholder = "aroma"
    private static let displayPlaceholder = "Aroma portal"

    /// The folder of installed programs.
    static let programFolder = "/usr/local/libexec"

    let name: String
    let language: Language
    /// The helper's folder, absolute.
    let folder: String
    /// The value of `SSID=`.
    var ssid = HelperSpec.networkPlaceholder
    /// The absolute path of the local checkout of hotspotd that the Swift package depends on.
    var checkout: String?

    /// The program, relative to the folder.
    var program: String {
        switch language {
        case .python: "\(name).py"
        case .shell: "\(name).sh"
        case .swift: ".build/release/\(name)"
        }
    }

    /// All files, the `.helper` file last.
    var files: [TemplateFile] {
        switch language {
        case .python: [TemplateFile(path: program, text: filled(PackageResources.aroma_py), isExecutable: true), helperFile]
        case .shell: [TemplateFile(path: program, text: filled(PackageResources.aroma_sh), isExecutable: true), helperFile]
        case .swift:
            [
                TemplateFile(path: "Package.swift", text: package),
                TemplateFile(path: "Sources/\(name)/Main.swift", text: filled(PackageResources.aroma_main)),
                helperFile,
            ]
        }
    }

    var needsBuild: Bool { language == .swift }

    /// Returns the text of an example with the helper's names.
    private func filled(_ example: [UInt8]) -> String {
        String(decoding: example, as: UTF8.self)
            .replacing(Self.displayPlaceholder, with: displayName).replacing(Self.placeholder, with: name)
    }

    /// At most 15 characters are shown.
    private var displayName: String { String(name.prefix(15)) }

    /// `Package.swift`, which depends on the checkout if there is one.
    private var package: String {
        guard let checkout else { return filled(PackageResources.aroma_package) }
        let path = checkout.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        // The identity of a package in a folder is the folder's name.
        let identity = path.split(separator: "/").last.map(String.init) ?? "hotspotd"
        return filled(PackageResources.aroma_package)
            .replacing(
                ".package(url: \"https://github.com/hotspotd/hotspotd\", branch: \"main\")", with: ".package(path: \"\(path)\")"
            )
            .replacing("package: \"hotspotd\"", with: "package: \"\(identity)\"")
    }

    private var helperFile: TemplateFile {
        // Quotes the path if it contains blanks or special characters.
        let path = "\(folder)/\(program)"
        let plain = path.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Array("\"'\\$%".utf8).contains($0) }
        let exec = plain ? path : "\"\(path.replacing("\\", with: "\\\\").replacing("\"", with: "\\\""))\""
        return TemplateFile(
            path: "\(name).helper",
            text: """
                [Helper]
                Name=\(name)
                DisplayName=\(displayName)
                Exec=\(exec)
                # The helper learns only of these networks.
                SSID=\(ssid)
                Security=open

                """)
    }
}
