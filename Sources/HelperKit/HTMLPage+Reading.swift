extension HTMLPage {
    /// Reads a page that is at hand already, such as one that was saved to a file.
    ///
    /// - Parameters:
    ///   - octets: HTML; its encoding is found as for a page from the network.
    ///   - url: what relative references are resolved against.
    public static func read(_ octets: [UInt8], at url: WebURL) -> HTMLPage {
        HTMLReader.read(HTTPResponse(url: url, status: 200, body: octets))
    }
}
