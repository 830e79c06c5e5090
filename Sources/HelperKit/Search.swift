/// Plain search in octets: foreign text is long, and comparing it character by character is slow.
enum Search {
    /// Where a text occurs first.
    static func first(_ needle: String, in octets: ArraySlice<UInt8>) -> Int? {
        let needle = Array(needle.utf8)
        guard let head = needle.first, octets.count >= needle.count else { return nil }
        var index = octets.startIndex
        let last = octets.endIndex - needle.count
        while index <= last {
            if octets[index] == head, octets[index..<index + needle.count].elementsEqual(needle) { return index }
            index += 1
        }
        return nil
    }

    /// Where a text occurs last.
    static func last(_ needle: String, in octets: ArraySlice<UInt8>) -> Int? {
        let needle = Array(needle.utf8)
        guard let head = needle.first, octets.count >= needle.count else { return nil }
        var index = octets.endIndex - needle.count
        while index >= octets.startIndex {
            if octets[index] == head, octets[index..<index + needle.count].elementsEqual(needle) { return index }
            index -= 1
        }
        return nil
    }
}
