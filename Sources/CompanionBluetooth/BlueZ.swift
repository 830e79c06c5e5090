import Companion
import EventLoop

/// The names of BlueZ's interfaces (doc/*-api.txt of its sources), and the UUIDs of the service.
enum BlueZ {
    static let service = "org.bluez"
    static let adapter = "org.bluez.Adapter1"
    static let device = "org.bluez.Device1"
    static let gattService = "org.bluez.GattService1"
    static let characteristic = "org.bluez.GattCharacteristic1"
    static let advertisement = "org.bluez.LEAdvertisement1"
    static let properties = "org.freedesktop.DBus.Properties"
    static let objectManager = "org.freedesktop.DBus.ObjectManager"

    /// The largest number of values in the list of BlueZ's objects. A hundred strange devices nearby make the list long.
    static let objectLimit = 65_536

    /// Returns an object of BlueZ.
    static func object(_ path: String, _ interface: String) -> SystemBus.Object { SystemBus.Object(service, path, interface) }
}

/// The parts of the service, by UUID. The UUIDs are random.
enum Attribute: String, CaseIterable, Sendable {
    case service = "6d3f0000-5c1b-4f6e-9a52-8f0e4a7c21d4"
    /// Read: version of the service, PSM of its L2CAP channel (0: none), and whether a laptop is connected.
    case information = "6d3f0001-5c1b-4f6e-9a52-8f0e4a7c21d4"
    /// Written with response, and indicated: each chunk is confirmed, so that chunks keep their order even if BlueZ uses several bearers.
    case control = "6d3f0002-5c1b-4f6e-9a52-8f0e4a7c21d4"
    /// Written without response; notifies.
    case bulk = "6d3f0003-5c1b-4f6e-9a52-8f0e4a7c21d4"

    static let characteristics = [Attribute.information, .control, .bulk]

    var flags: [String] {
        switch self {
        case .service: []
        case .information: ["read"]
        case .control: ["write", "indicate"]
        case .bulk: ["write-without-response", "notify"]
        }
    }

    init?(uuid: String?) {
        guard let uuid, let attribute = Attribute(rawValue: uuid.lowercased()) else { return nil }
        self = attribute
    }
}

/// The value of the characteristic ``Attribute/information``.
struct Information: Hashable, Sendable {
    static let version: UInt8 = 1

    /// Whether another laptop is using the service now.
    var isBusy: Bool
    /// The PSM of the L2CAP channel; `nil` without one.
    var psm: UInt8?

    /// Version, PSM (0: no L2CAP channel), 1 if busy.
    var octets: [UInt8] { [Self.version, psm ?? 0, isBusy ? 1 : 0] }

    init(isBusy: Bool, psm: UInt8? = nil) { (self.isBusy, self.psm) = (isBusy, psm) }

    /// Returns `nil` for another version, or too few octets. More octets may follow in later versions.
    init?(octets: [UInt8]) {
        guard octets.count >= 3, octets[0] == Self.version else { return nil }
        psm = L2CAP.psms.contains(Int(octets[1])) ? octets[1] : nil
        isBusy = octets[2] != 0
    }
}

/// The relevant options that BlueZ passes on with a peer's read or write.
struct PeerOptions: Hashable, Sendable {
    /// The range of an MTU of the attribute protocol (Bluetooth Core 5.4, volume 3, part F, 3.2.8 and 3.2.9).
    static let mtus = 23...517

    let device: String
    let mtu: Int
    let offset: Int
    /// Whether the peer only asks if a long write may follow.
    let isPreparation: Bool

    /// Returns `nil` for a device of another adapter.
    init?(_ options: [String: BusValue], adapter: String) {
        guard let device = options["device"]?.text, device.hasPrefix(adapter + "/dev_") else { return nil }
        self.device = device
        mtu = Self.mtu(options["mtu"])
        offset = Int(exactly: options["offset"]?.number ?? 0) ?? 0
        isPreparation = options["prepare-authorize"]?.boolean ?? false
    }

    /// Returns the MTU within its range; without an MTU, the smallest MTU of the range.
    static func mtu(_ value: BusValue?) -> Int {
        let number = value?.number ?? 0
        return min(max(Int(clamping: number), mtus.lowerBound), mtus.upperBound)
    }
}

/// One of our services on another laptop, as BlueZ found it.
struct RemoteService: Hashable, Sendable {
    /// The largest number of our services that are read on one laptop.
    static let limit = 8

    var information: String
    var control: String
    var bulk: String

    /// Returns the complete services of a device, in the order of their paths, which is the order of their handles.
    ///
    /// - Parameter objects: the answer to `GetManagedObjects`.
    static func all(in objects: [String: BusValue], of device: String) -> [RemoteService] {
        let services = objects.keys.filter { path in
            let properties = objects[path]?.table[BlueZ.gattService]?.table
            return path.hasPrefix(device + "/") && properties?["Device"]?.text == device
                && Attribute(uuid: properties?["UUID"]?.text) == .service
        }
        return services.sorted().prefix(limit).compactMap { service in
            var parts: [Attribute: String] = [:]
            for (path, interfaces) in objects where path.hasPrefix(service + "/") {
                guard let properties = interfaces.table[BlueZ.characteristic]?.table, properties["Service"]?.text == service,
                    let attribute = Attribute(uuid: properties["UUID"]?.text)
                else { continue }
                let flags = Set((properties["Flags"]?.list ?? []).compactMap(\.text))
                // Drops a service with a second characteristic of the same kind, or a characteristic without the needed flags: it
                // is not one of ours.
                guard parts[attribute] == nil, flags.isSuperset(of: attribute.flags) else { return nil }
                parts[attribute] = path
            }
            guard let information = parts[.information], let control = parts[.control], let bulk = parts[.bulk] else {
                return nil
            }
            return RemoteService(information: information, control: control, bulk: bulk)
        }
    }
}
