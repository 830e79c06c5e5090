/// The command-line options that make a browser of the Chromium family use only our proxy and open only one page.
package enum ChromiumWords {
    /// - Parameters:
    ///   - port: the proxy's port on this machine's loopback address.
    ///   - features: names of additional features to disable.
    package static func keeping(to port: UInt16, disabling features: [String] = []) -> [String] {
        [
            // All requests go through the proxy, even requests to this machine, and the browser resolves no names.
            "--proxy-server=socks5://127.0.0.1:\(port)", "--proxy-bypass-list=<-loopback>",
            "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1", "--disable-quic",
            "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
            // No upgrade to https, because a portal redirects only plain HTTP.
            "--disable-features="
                + (["DnsOverHttps", "HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable"] + features).joined(separator: ","),
            "--no-first-run", "--no-default-browser-check", "--disable-default-apps", "--disable-sync", "--disable-extensions",
            "--disable-background-networking", "--disable-component-update", "--disable-domain-reliability",
            "--disable-breakpad", "--no-pings", "--password-store=basic",
        ]
    }
}
