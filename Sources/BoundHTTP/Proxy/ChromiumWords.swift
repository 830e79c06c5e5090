/// The command-line words of a browser of the Chromium family that keep it to a proxy of ours, and to the page that it is to show.
package enum ChromiumWords {
    /// - Parameters:
    ///   - port: the proxy's, on this machine's loopback address.
    ///   - features: names of features to disable besides.
    package static func keeping(to port: UInt16, disabling features: [String] = []) -> [String] {
        [
            // All goes through the proxy, this machine's own names as well, and no name is looked up beside it.
            "--proxy-server=socks5://127.0.0.1:\(port)", "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--disable-quic",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            // A portal redirects plain HTTP alone.
            "--disable-features="
                + (["DnsOverHttps", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable"] + features).joined(separator: ","),
            "--no-first-run", "--no-default-browser-check", "--disable-default-apps", "--disable-sync", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--disable-domain-reliability",
            "--disable-breakpad", "--no-pings", "--password-store=basic",
        ]
    }
}
