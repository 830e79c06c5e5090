import Companion
import EventLoop

/// BlueZ's adapters and the nearby devices with the service, according to its signals. Strangers can send any names and UUIDs:
/// only paths of the chosen adapter and the service's UUID are used, within limits.
struct RadioView: Hashable, Sendable {
    /// The largest number of devices with the service that are kept.
    static let deviceLimit = 32

    /// The adapter of the settings, such as `hci0`; `nil` for the first one.
    let wanted: String?
    private(set) var isRunning = false
    /// The power of each adapter, by path.
    private(set) var adapters: [String: Bool] = [:]
    private var addresses: [String: BluetoothAddress] = [:]
    /// The paths of the devices with the service.
    private(set) var devices: Set<String> = []
    /// The paths of the devices that the user has paired or trusts. The transport never makes BlueZ forget these devices.
    private(set) var own: Set<String> = []

    init(wanted: String?) { self.wanted = wanted }

    /// The chosen adapter's path: the adapter in the settings, or the first one by its number. The path is stored, because each device is compared
    /// with it.
    private(set) var adapter: String?

    /// The chosen adapter's address.
    var address: BluetoothAddress? { adapter.flatMap { addresses[$0] } }

    var state: CompanionTransportState {
        guard isRunning else { return .noService }
        guard let adapter else { return .noAdapter }
        return adapters[adapter] == true ? .ready : .adapterOff
    }

    // MARK: Signals

    /// Forgets everything, because BlueZ is gone, or another BlueZ has appeared whose objects are not known yet.
    mutating func reset() { self = RadioView(wanted: wanted) }

    /// Replaces everything by the answer to `GetManagedObjects`.
    mutating func replace(_ objects: [String: BusValue]) {
        reset()
        isRunning = true
        // Adds the adapters before their devices.
        for (path, interfaces) in objects { addAdapter(path, interfaces.table) }
        for path in objects.keys.sorted() { add(path, objects[path]?.table ?? [:]) }
    }

    mutating func add(_ path: String, _ interfaces: [String: BusValue]) {
        guard isRunning else { return }
        addAdapter(path, interfaces)
        if let properties = interfaces[BlueZ.device]?.table { changeDevice(path, properties) }
    }

    private mutating func addAdapter(_ path: String, _ interfaces: [String: BusValue]) {
        guard let properties = interfaces[BlueZ.adapter]?.table else { return }
        adapters[path] = properties["Powered"]?.boolean ?? false
        addresses[path] = BluetoothAddress(properties)
        adapter = Self.chosen(among: [adapter, path].compactMap(\.self), wanted)
    }

    mutating func remove(_ path: String, _ interfaces: [String]) {
        if interfaces.contains(BlueZ.adapter) {
            (adapters[path], addresses[path]) = (nil, nil)
            if adapter == path { adapter = Self.chosen(among: adapters.keys, wanted) }
            devices = devices.filter { !$0.hasPrefix(path + "/") }
            own = own.filter { !$0.hasPrefix(path + "/") }
        }
        if interfaces.contains(BlueZ.device) {
            devices.remove(path)
            own.remove(path)
        }
    }

    /// - Parameter properties: the changed properties.
    mutating func change(_ path: String, _ interface: String, _ properties: [String: BusValue]) {
        if interface == BlueZ.adapter, adapters[path] != nil, let isPowered = properties["Powered"]?.boolean {
            adapters[path] = isPowered
        }
        if interface == BlueZ.device { changeDevice(path, properties) }
    }

    private static func chosen(among paths: some Sequence<String>, _ wanted: String?) -> String? {
        guard let wanted else { return paths.min { ($0.utf8.count, $0) < ($1.utf8.count, $1) } }
        return paths.first { $0.hasSuffix("/" + wanted) }
    }

    private mutating func changeDevice(_ path: String, _ properties: [String: BusValue]) {
        guard let adapter, path.hasPrefix(adapter + "/dev_") else { return }
        let offers = properties["UUIDs"]?.list.contains { Attribute(uuid: $0.text) == .service } ?? false
        if offers, devices.count < Self.deviceLimit { devices.insert(path) }
        // Notes every paired device, because a device's services may become known long after its pairing.
        if ["Paired", "Bonded", "Trusted"].contains(where: { properties[$0]?.boolean == true }) { own.insert(path) }
    }
}
