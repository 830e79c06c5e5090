import CCurl
import Glibc

/// Where the system keeps the authorities that it trusts.
///
/// libcurl reads the whole bundle for each client, which takes 20 ms and more; where the same authorities also lie in a folder by the
/// hash of their names, as Debian's ca-certificates keeps both in step, only the one that is needed is read.
enum Authorities {
    /// libcurl's own folder exists and is filled.
    static let hasDirectory: Bool = {
        guard let path = ccurl_authorities_folder(), let folder = opendir(path) else { return false }
        defer { closedir(folder) }
        var hashes = 0
        while let entry = readdir(folder), hashes < 10 {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
            // Eight hexadecimal digits, a dot and a number (openssl-rehash(1)).
            if name.utf8.count == 10, name.hasSuffix(".0") { hashes += 1 }
        }
        return hashes >= 10
    }()
}
