import ArgumentParser
import HotspotCore

/// A working helper to begin with: its files, with the name and the place filled in. The texts are those of `Tests/Examples`.
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

    /// Where the program goes when it is installed.
    static let programFolder = "/usr/local/libexec"

    let name: String
    let language: Language
    /// The helper's folder, absolute.
    let folder: String
    /// The value of `SSID=`.
    var ssid = HelperSpec.networkPlaceholder
    /// A local checkout of hotspotd, absolute, for the Swift package to depend on.
    var checkout: String?

    /// The program, within the folder.
    var program: String {
        switch language {
        case .python: "\(name).py"
        case .shell: "\(name).sh"
        case .swift: ".build/release/\(name)"
        }
    }

    /// All files, the `.helper` file last.
    var files: [File] {
        switch language {
        case .python: [File(path: program, text: filled(PackageResources.aroma_py), isExecutable: true), helperFile]
        case .shell: [File(path: program, text: filled(PackageResources.aroma_sh), isExecutable: true), helperFile]
        case .swift:
            [
                File(path: "Package.swift", text: package),
                File(path: "Sources/\(name)/Main.swift", text: filled(PackageResources.aroma_main)),
                helperFile,
            ]
        }
    }

    /// It must be built before it can be tried.
    var needsBuild: Bool { language == .swift }

    /// The text of an example, with the helper's names in it.
    private func filled(_ example: [UInt8]) -> String {
        String(decoding: example, as: UTF8.self)
            .replacing(Self.displayPlaceholder, with: displayName).replacing(Self.placeholder, with: name)
    }

    /// The longest that is shown is 15 characters.
    private var displayName: String { String(name.prefix(15)) }

    /// The Swift package, with the checkout in place of the address.
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

    private var helperFile: File {
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
                SSID=\(ssid)
                Security=open

                """)
    }
}
