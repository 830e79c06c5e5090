import Glibc

/// A folder that is removed with the value.
final class TestFolder: Sendable {
    let path = makeFolder()

    deinit { removeFolder(path) }

    @discardableResult func make(_ name: String, _ mode: mode_t = 0o755) -> String {
        mkdir("\(path)/\(name)", 0o700)
        chmod("\(path)/\(name)", mode)
        return "\(path)/\(name)"
    }

    @discardableResult func write(_ name: String, _ text: String = "", _ mode: mode_t = 0o644) -> String {
        let stream = fopen("\(path)/\(name)", "w")!
        fputs(text, stream)
        fclose(stream)
        chmod("\(path)/\(name)", mode)
        return "\(path)/\(name)"
    }

    @discardableResult func link(_ name: String, to target: String) -> String {
        symlink(target, "\(path)/\(name)")
        return "\(path)/\(name)"
    }
}
