import HotspotCore
enum PathTrust { static func problem(withProgram p: String) -> Problem? { FileTrust.problem(withCommand: [p], writable: [], others: []) } }
