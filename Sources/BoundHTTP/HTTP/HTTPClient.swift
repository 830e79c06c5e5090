import CCurl
import Glibc
import HotspotCore

/// The HTTP client of one login, with its cookies and its connections.
///
/// Every request has its own libcurl handle with every option set, on a socket that is bound to the link. libcurl does nothing by
/// itself: no redirect, no proxy, no authentication, no upgrade. It asks for no compression; a body that is compressed
/// nevertheless is unpacked within the request's limit.
///
/// - Note: `@unchecked Sendable` is sound because `jar` is only used under `lock`, held for the whole of a request.
public final class HTTPClient: @unchecked Sendable {
    /// The link that every request leaves by.
    public let link: Link
    package let policy: NetworkPolicy
    private let lock = Locked(false)
    private let connections: ConnectionPool
    private var jar: CookieJar

    /// The User-Agent header of a browser: portals turn unknown clients away, and at least one crashes when the header is
    /// missing.
    static let userAgent = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
    /// The longest time for connecting, in milliseconds: the kernel repeats the first packet after 1, 3 and 7 s. If there are
    /// several addresses, libcurl allows each address half of the remaining time.
    static let connectLimit = 15_000

    private static let library: CURLcode = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// Does the one-time work of a process's first request: it initialises the libraries for TLS and names, and reads the code
    /// for a request from the disk. Sends nothing: an address of this computer is refused before a socket is made.
    package static func warmUp() {
        Resolver.warmUp()
        guard let url = WebURL("http://127.0.0.1/") else { return }
        let client = HTTPClient(link: Link(attempt: "", association: "", interface: "", index: 0))
        _ = try? client.send(HTTPRequest(url), in: Scope(deadline: .after(milliseconds: 1000)))
    }

    /// Makes a client with these cookies and its own connections.
    public convenience init(link: Link, policy: NetworkPolicy = .strict, cookies: CookieJar = CookieJar()) {
        self.init(link: link, policy: policy, cookies: cookies, connections: ConnectionPool())
    }

    /// Makes a client that shares its connections with other clients of the same link and policy.
    package init(link: Link, policy: NetworkPolicy, cookies: CookieJar = CookieJar(), connections: ConnectionPool) {
        _ = Self.library
        self.link = link
        self.policy = policy
        self.connections = connections
        jar = cookies
    }

    /// The cookies after the last request.
    public var cookies: CookieJar { exclusively { jar } }

    /// Sends a request and waits for the answer; a redirect is an answer. Adds one line to the scope's trace. Throws
    /// ``TransferError``.
    public func send(_ request: HTTPRequest, in scope: Scope) throws(TransferError) -> HTTPResponse {
        if let player = policy.player { return try player(request).get() }
        let began = Instant.now
        let outcome: Result<HTTPResponse, TransferError> = exclusively {
            connections.withSet(for: request.url.origin) { set in
                Result { () throws(TransferError) in try perform(request, set, began, scope) }
            }
        }
        let step = "\(request.method.rawValue) \(request.url.masked) →"
        switch outcome {
        case .success(let response):
            scope.trace.add("\(step) \(response.status) in \(response.milliseconds) ms")
            return response
        case .failure(let error):
            scope.trace.add("\(step) \(error.code.rawValue) in \(began.millisecondsAgo) ms")
            throw error
        }
    }

    /// Returns the addresses of a URL's host from the link's nameservers; later requests to the URL use the same addresses. Empty
    /// if the policy's player answers in place of servers.
    package func addresses(of url: WebURL, in scope: Scope) throws(TransferError) -> [InternetAddress] {
        if policy.player != nil { return [] }
        if let address = InternetAddress(url.host) { return [address] }
        return try NamePins.shared.addresses(of: url.host, link: link, in: scope)
    }

    private func exclusively<T>(_ body: () -> T) -> T {
        // The wait is bounded by the other request's own deadline, a minute at most.
        while lock.wait(
            until: .after(milliseconds: 60_000),
            { busy -> Bool? in
                if busy { return nil }
                busy = true
                return true
            }) == nil
        {}
        defer { lock.with { $0 = false } }
        return body()
    }

    private func perform(
        _ request: HTTPRequest, _ set: ConnectionSet, _ began: Instant, _ scope: Scope, isNew: Bool = false
    ) throws(TransferError) -> HTTPResponse {
        let context = TransferContext(request: request, link: link, policy: policy, set: set, scope: scope, isNew: isNew)
        let lists = Lists()
        guard let easy = curl_easy_init() else {
            throw TransferError(.system, "libcurl has no handle")
        }
        // libcurl holds plain pointers to `context` and `lists` until the handle is freed.
        defer { withExtendedLifetime((context, lists)) { curl_easy_cleanup(easy) } }
        context.easy = OpaquePointer(easy)
        if !request.needsFreshConnection { context.ready = connections.takeReady(for: request.url, in: scope) }
        try lists.resolve(request, link: link, scope)
        lists.setHeaders(of: request)
        guard configure(easy, request, lists, scope, isNew: isNew), setCallbacks(easy, context),
            ccurl_set_share(easy, set.share) == CURLE_OK
        else {
            throw TransferError(.system, "libcurl refused an option")
        }
        for line in jar.lines { _ = ccurl_set_string(easy, CURLOPT_COOKIELIST, line) }
        let code = run(set, easy, scope)
        keepCookies(of: easy)
        if context.isStale { return try perform(request, set, began, scope, isNew: true) }
        if code != CURLE_OK, !(context.wasCut && code == CURLE_WRITE_ERROR) {
            let failure = context.failure ?? error(code, easy, context)
            // The server may have closed a connection that was opened ahead of the request. libcurl reconnects only for
            // connections that it kept itself, so the client repeats the request.
            if context.readyDescriptor >= 0, context.status == 0, request.method == .get,
                failure.code == .emptyAnswer || failure.code == .reset
            {
                return try perform(request, set, began, scope)
            }
            throw failure
        }
        guard context.hasWholeHead else { throw TransferError(.shortAnswer) }
        return HTTPResponse(
            url: request.url, status: context.status, phrase: context.phrase, headers: context.headers, body: context.body,
            isTruncated: context.isTruncated, pin: context.pin,
            address: ccurl_get_string(easy, CURLINFO_PRIMARY_IP).map { String(cString: $0) } ?? "",
            milliseconds: began.millisecondsAgo, cookies: jar)
    }

    private func configure(
        _ easy: UnsafeMutableRawPointer, _ request: HTTPRequest, _ lists: Lists, _ scope: Scope, isNew: Bool
    ) -> Bool {
        let numbers: [(CURLoption, Int)] = [
            (CURLOPT_NOSIGNAL, 1), (CURLOPT_FOLLOWLOCATION, 0), (CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            (CURLOPT_HTTP09_ALLOWED, 0),
            (CURLOPT_CONNECTTIMEOUT_MS, min(Self.connectLimit, max(1, scope.deadline.millisecondsLeft))),
            (CURLOPT_TIMEOUT_MS, max(1, scope.deadline.millisecondsLeft)), (CURLOPT_NETRC, ccurl_netrc_ignored),
            (CURLOPT_HTTPAUTH, 0),
            (CURLOPT_UNRESTRICTED_AUTH, 0), (CURLOPT_DISALLOW_USERNAME_IN_URL, 1), (CURLOPT_SSL_VERIFYPEER, 1),
            (CURLOPT_SSL_VERIFYHOST, 2), (CURLOPT_HAPPY_EYEBALLS_TIMEOUT_MS, 250), (CURLOPT_TCP_NODELAY, 1),
            (CURLOPT_FRESH_CONNECT, isNew || request.needsFreshConnection ? 1 : 0),
            (CURLOPT_FORBID_REUSE, request.needsFreshConnection ? 1 : 0), (CURLOPT_HSTS_CTRL, 0),
        ]
        for (option, value) in numbers where ccurl_set_long(easy, option, value) != CURLE_OK { return false }
        // An empty CURLOPT_ACCEPT_ENCODING makes libcurl unpack all formats that it knows. libcurl would also request them, so
        // our own header (`Accept-Encoding: identity`) replaces libcurl's.
        var texts: [(CURLoption, String)] = [
            (CURLOPT_ACCEPT_ENCODING, ""),
            (CURLOPT_URL, request.url.text), (CURLOPT_PROTOCOLS_STR, "http,https"), (CURLOPT_REDIR_PROTOCOLS_STR, "http,https"),
            (CURLOPT_PROXY, ""), (CURLOPT_NOPROXY, "*"), (CURLOPT_USERAGENT, Self.userAgent), (CURLOPT_COOKIEFILE, ""),
        ]
        if let referrer = request.referrer { texts.append((CURLOPT_REFERER, referrer)) }
        if let authorities = policy.authorities { texts.append((CURLOPT_CAINFO, authorities)) }
        for (option, value) in texts where ccurl_set_string(easy, option, value) != CURLE_OK { return false }
        if policy.authorities == nil, Authorities.hasDirectory, ccurl_set_string(easy, CURLOPT_CAINFO, nil) != CURLE_OK {
            return false
        }
        switch request.method {
        case .get: guard ccurl_set_long(easy, CURLOPT_HTTPGET, 1) == CURLE_OK else { return false }
        case .post:
            let body = request.body ?? ""
            // The size must be set first: COPYPOSTFIELDS copies that many octets.
            guard ccurl_set_long(easy, CURLOPT_POST, 1) == CURLE_OK,
                ccurl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.utf8.count)) == CURLE_OK,
                ccurl_set_string(easy, CURLOPT_COPYPOSTFIELDS, body) == CURLE_OK
            else { return false }
        }
        return ccurl_set_list(easy, CURLOPT_HTTPHEADER, lists.headers) == CURLE_OK
            && ccurl_set_list(easy, CURLOPT_RESOLVE, lists.addresses) == CURLE_OK
    }

    private func setCallbacks(_ easy: UnsafeMutableRawPointer, _ context: TransferContext) -> Bool {
        ccurl_set_callbacks(
            easy, Unmanaged.passUnretained(context).toOpaque(),
            { octets, size, count, data in
                guard let octets, let data else { return 0 }
                let context = Unmanaged<TransferContext>.fromOpaque(data).takeUnretainedValue()
                return context.write(UnsafeRawBufferPointer(start: octets, count: size * count)) ? size * count : 0
            },
            { octets, size, count, data in
                guard let octets, let data else { return 0 }
                let context = Unmanaged<TransferContext>.fromOpaque(data).takeUnretainedValue()
                return context.header(UnsafeRawBufferPointer(start: octets, count: size * count)) ? size * count : 0
            },
            { data, _, _, _, _ in
                guard let data else { return 1 }
                return Unmanaged<TransferContext>.fromOpaque(data).takeUnretainedValue().shouldStop() ? 1 : 0
            },
            { data, _, address in
                guard let data, let address else { return CURL_SOCKET_BAD }
                return Unmanaged<TransferContext>.fromOpaque(data).takeUnretainedValue().openSocket(address)
            },
            { data, descriptor, _ in
                guard let data else { return CURL_SOCKOPT_ERROR }
                let context = Unmanaged<TransferContext>.fromOpaque(data).takeUnretainedValue()
                return context.readyDescriptor == descriptor ? CURL_SOCKOPT_ALREADY_CONNECTED : CURL_SOCKOPT_OK
            },
            { data, _, _, _, port in
                guard let data else { return CURL_PREREQFUNC_ABORT }
                let context = Unmanaged<TransferContext>.fromOpaque(data).takeUnretainedValue()
                return context.beforeRequest(port: Int(port)) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }) == CURLE_OK
    }

    private func run(_ set: ConnectionSet, _ easy: UnsafeMutableRawPointer, _ scope: Scope) -> CURLcode {
        guard let multi = set.multi, curl_multi_add_handle(multi, easy) == CURLM_OK else { return CURLE_FAILED_INIT }
        // The handler keeps the set alive, because it may still run on the cancelling thread after its removal here.
        let handler = scope.cancellation.onCancel { _ = curl_multi_wakeup(set.multi) }
        defer {
            scope.cancellation.removeHandler(handler)
            curl_multi_remove_handle(multi, easy)
        }
        var running: Int32 = 1
        var hasBegun = false
        while true {
            guard curl_multi_perform(multi, &running) == CURLM_OK else { return CURLE_FAILED_INIT }
            if !hasBegun { LinkSocket.begun.with { $0 += 1 } }
            hasBegun = true
            if running == 0 { return ccurl_multi_outcome(multi) }
            if scope.cancellation.isCancelled || scope.deadline.isPast {
                // libcurl may not call the progress callback in time, so the reason is given here as well.
                return scope.cancellation.isCancelled ? CURLE_ABORTED_BY_CALLBACK : CURLE_OPERATION_TIMEDOUT
            }
            curl_multi_poll(multi, nil, 0, Int32(min(1000, max(1, scope.deadline.millisecondsLeft))), nil)
        }
    }

    private func keepCookies(of easy: UnsafeMutableRawPointer) {
        guard let first = ccurl_get_list(easy, CURLINFO_COOKIELIST) else { return }
        defer { curl_slist_free_all(first) }
        var lines: [String] = []
        var node: UnsafeMutablePointer<curl_slist>? = first
        while let current = node {
            lines.append(String(cString: current.pointee.data))
            node = current.pointee.next
        }
        jar = CookieJar(lines: lines)
    }

    private func error(_ code: CURLcode, _ easy: UnsafeMutableRawPointer, _ context: TransferContext) -> TransferError {
        let text = String(cString: curl_easy_strerror(code))
        switch code {
        case CURLE_OPERATION_TIMEDOUT:
            return TransferError(.timeout, context.isConnected ? "after the request" : "while connecting")
        case CURLE_COULDNT_CONNECT:
            let number = Int32(truncatingIfNeeded: ccurl_get_long(easy, CURLINFO_OS_ERRNO))
            if number == EPERM { return LinkSocket.error(number) }
            return TransferError(.connectFailed, number == 0 ? text : String(cString: strerror(number)))
        case CURLE_COULDNT_RESOLVE_HOST: return TransferError(.dnsFailed, text)
        case CURLE_PEER_FAILED_VERIFICATION:
            // 9 and 10 are X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED: a wrong clock is a frequent cause.
            let verification = ccurl_get_long(easy, CURLINFO_SSL_VERIFYRESULT)
            return TransferError(
                verification == 9 || verification == 10 ? .clockWrong : .tlsFailed, "verification code \(verification)")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS,
            CURLE_SSL_CACERT_BADFILE, CURLE_SSL_SHUTDOWN_FAILED, CURLE_SSL_CRL_BADFILE:
            // If a kept connection broke, libcurl repeated the request on a new connection, which caused this error. The request
            // may have been sent before, so the error counts as a reset.
            return TransferError(context.isConnected ? .reset : .tlsFailed, text)
        case CURLE_GOT_NOTHING: return TransferError(.emptyAnswer)
        case CURLE_PARTIAL_FILE: return TransferError(.shortAnswer)
        case CURLE_RECV_ERROR, CURLE_SEND_ERROR:
            return context.status == 0 || context.isConnected ? TransferError(.reset, text) : TransferError(.connectFailed, text)
        case CURLE_ABORTED_BY_CALLBACK: return TransferError(.cancelled)
        case CURLE_FILESIZE_EXCEEDED: return TransferError(.tooLarge)
        case CURLE_LOGIN_DENIED, CURLE_URL_MALFORMAT: return TransferError(.refusedURL, text)
        case CURLE_BAD_CONTENT_ENCODING: return TransferError(.badEncoding)
        case CURLE_WEIRD_SERVER_REPLY where context.status != 0: return TransferError(.badHeader)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_UNSUPPORTED_PROTOCOL, CURLE_OUT_OF_MEMORY, ccurl_too_large, CURLE_WRITE_ERROR,
            CURLE_HTTP2:
            // libcurl 7.88 also reports CURLE_OUT_OF_MEMORY for an endless header line.
            return TransferError(.badAnswer, text)
        default: return TransferError(.system, text)
        }
    }
}

/// The lists that libcurl reads during a transfer. This object must outlive the transfer.
private final class Lists {
    var headers: UnsafeMutablePointer<curl_slist>?
    var addresses: UnsafeMutablePointer<curl_slist>?

    deinit {
        curl_slist_free_all(headers)
        curl_slist_free_all(addresses)
    }

    /// Resolves the host with the link's nameservers and gives libcurl the addresses, so that libcurl never asks a nameserver.
    func resolve(_ request: HTTPRequest, link: Link, _ scope: Scope) throws(TransferError) {
        let url = request.url
        guard InternetAddress(url.host) == nil else { return }
        let resolved =
            if let address = request.address { [address] } else {
                try NamePins.shared.addresses(of: url.host, link: link, in: scope)
            }
        let list = resolved.map { $0.isIPv4 ? $0.description : "[\($0)]" }.joined(separator: ",")
        addresses = curl_slist_append(addresses, "\(url.host):\(url.port):\(list)")
    }

    func setHeaders(of request: HTTPRequest) {
        var lines = ["Accept: \(request.accept)", "Accept-Encoding: identity", "Expect:"]
        if request.method == .post { lines += ["Content-Type: \(request.contentType)", "Origin: \(request.originHeader)"] }
        if request.accept.hasPrefix("text/html") { lines.append("Accept-Language: en;q=0.8,*;q=0.5") }
        lines += request.headers.map { "\($0.name): \($0.value)" }
        if request.noCache { lines.append("Cache-Control: no-cache") }
        for line in lines { headers = curl_slist_append(headers, line) }
    }
}

/// The system's certificate authorities.
private enum Authorities {
    /// Whether libcurl's folder of authorities contains files that are named by hashes, as Debian's ca-certificates makes them.
    /// libcurl then reads only the needed authority; reading the whole bundle takes 20 ms and more for each client.
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
