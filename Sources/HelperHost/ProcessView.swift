/// What a process sees of the file system, and where it may write: decided when it is started, and not changed as long as it runs.
struct ProcessView: Hashable {
    /// Its program, the scripts among its arguments, and where it may write, links resolved: what of it is never covered.
    var own: [String] = []
    /// The folders that it may write to, links resolved, in the order in which the child tells of them.
    var writable: [String] = []
    /// The folders and files that it does not see.
    var covered: [String] = []
    /// Folders that would be mounted by a look.
    var awaited: [String] = []

    /// Whether it shows or allows anything that the other one does not.
    func goesBeyond(_ other: ProcessView) -> Bool {
        let known = Set(covered + awaited)
        let isSeen = (other.covered + other.awaited).contains { path in
            !known.contains(path) && !covered.contains { FolderPath.isWithin(path, $0) }
        }
        return isSeen || !Set(writable).isSubset(of: other.writable)
    }
}
