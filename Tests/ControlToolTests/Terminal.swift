import Glibc
import Testing

/// A terminal with a person at it.
struct Terminal: ~Copyable {
    /// How long the screen may stay as it is before the test gives up, in milliseconds. Not a measure of speed.
    private static let patience: Int32 = 60_000

    let master: Int32
    let slave: Int32

    init(columns: UInt16 = 80) throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var locked: Int32 = 0
        var number: UInt32 = 0
        // TIOCSPTLCK and TIOCGPTN of asm-generic/ioctls.h, the macros of which Swift cannot import.
        let isReady = ioctl(master, 0x4004_5431, &locked) == 0 && ioctl(master, 0x8004_5430, &number) == 0
        slave = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY | O_CLOEXEC)
        try #require(isReady && slave >= 0)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        try #require(ioctl(slave, UInt(TIOCSWINSZ), &size) == 0)
    }

    deinit {
        close(master)
        close(slave)
    }

    var echoes: Bool {
        var settings = termios()
        return tcgetattr(slave, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    func type(_ text: String) {
        let octets = Array(text.utf8)
        #expect(write(master, octets, octets.count) == octets.count)
    }

    /// Reads the screen until a text appears.
    func read(until end: String) -> String {
        var text = [UInt8]()
        var octet: UInt8 = 0
        while !text.suffix(end.utf8.count).elementsEqual(end.utf8) {
            var wait = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            guard poll(&wait, 1, Self.patience) > 0, Glibc.read(master, &octet, 1) == 1 else {
                Issue.record("the screen never shows \"\(end)\": \(String(decoding: text, as: UTF8.self))")
                break
            }
            text.append(octet)
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The rest of the screen.
    var shown: String {
        _ = fcntl(master, F_SETFL, O_NONBLOCK)
        var text = [UInt8]()
        var chunk = [UInt8](repeating: 0, count: 4096)
        while case let count = Glibc.read(master, &chunk, chunk.count), count > 0 { text += chunk[..<count] }
        return String(decoding: text, as: UTF8.self)
    }
}
