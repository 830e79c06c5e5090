// The parameters of those methods of the control interface for which only the server needs a type. The members have the contract's names.

struct OptionalInterface: Decodable { var interface: String? }
struct OptionalName: Decodable { var name: String? }
struct OptionalPrompt: Decodable { var id: String? }
struct PromptParameter: Decodable { var id: String }
struct NetworkParameter: Decodable { var ssid: String }
struct TokenParameter: Decodable { var token: String }
struct NoParameters: Decodable {}
struct HistoryParameters: Decodable { var ssid: String?; var interface: String?; var before: String? }
struct LogoffParameters: Decodable { var token: String; var interface: String; var ssidHex: String }
struct OptionalNetwork: Decodable { var ssid: String? }
/// The parameters of `RemoveCredentials` and `SharedAnswers`.
struct RemoveParameters: Decodable { var ssid: String; var helper: String?; var portal: String? }
struct PINParameter: Decodable { var pin: String; var resume: Bool? }
struct PINParameters: Decodable { var pin: String?; var old: String? }
struct ExplainParameters: Decodable { var interface: String?; var ssid: String?; var attempt: String? }

struct QueuedReply: Encodable { var queued: Bool }
